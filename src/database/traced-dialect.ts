/**
 * Wraps a Kysely dialect so that statements and transactions get spans, on PostgreSQL and on PGlite. A span
 * contains the text of the statement, in which parameters replace all values. Statements outside of a trace,
 * for example those of background polling, get no span.
 */
import type {
  AbortableOperationOptions,
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  QueryResult,
} from "kysely";
import {
  isTracingEnabled,
  getCurrentRecordedSpan,
  type Span,
  type SpanOptions,
  startSpan,
  runInSpan,
} from "#foundation/tracing.ts";

export function createTracedKyselyDialect(dialect: Dialect): Dialect {
  if (!isTracingEnabled()) return dialect;
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => tracedDriver(dialect.createDriver()),
  };
}

interface ConnectionUse {
  /**
   * The trace span of the transaction that is open on the connection; undefined if no transaction is open, or
   * if the open one is not traced.
   */
  transaction: Span | undefined;
  /** Milliseconds that the caller waited for a free connection; undefined after a span has recorded this time. */
  waitedMs: number | undefined;
}

function tracedDriver(driver: Driver): Driver {
  const inUse = new WeakMap<DatabaseConnection, ConnectionUse>();
  const acquire = driver.acquireConnection.bind(driver);
  const begin = driver.beginTransaction.bind(driver);
  const commit = driver.commitTransaction.bind(driver);
  const rollback = driver.rollbackTransaction.bind(driver);
  driver.acquireConnection = async (options) => {
    const requestedAt = performance.now();
    const connection = await acquire(options);
    const waitedMs = performance.now() - requestedAt;
    const existing = inUse.get(connection);
    if (existing === undefined)
      inUse.set(connection, traceStatements(connection, { transaction: undefined, waitedMs }));
    else existing.waitedMs = waitedMs;
    return connection;
  };
  driver.beginTransaction = async (connection, settings) => {
    const use = inUse.get(connection);
    const begun =
      getCurrentRecordedSpan() === undefined
        ? undefined
        : startSpan({ name: "transaction", attributes: { ...system, ...waitAttributes(use) } });
    if (use !== undefined) use.transaction = begun;
    await begin(connection, settings).catch((error: unknown) => close(use, { error }));
  };
  driver.commitTransaction = async (connection) => {
    const use = inUse.get(connection);
    await commit(connection).catch((error: unknown) => close(use, { error }));
    close(use, { outcome: "commit" });
  };
  driver.rollbackTransaction = async (connection) => {
    const use = inUse.get(connection);
    await rollback(connection).catch((error: unknown) => close(use, { error }));
    close(use, { outcome: "rollback" });
  };
  return driver;
}

function close(
  use: ConnectionUse | undefined,
  end: { readonly outcome: string } | { readonly error: unknown },
): void {
  const span = use?.transaction;
  if (use !== undefined) use.transaction = undefined;
  if ("outcome" in end) span?.set({ "commerce.transaction.outcome": end.outcome });
  else span?.fail(end.error);
  span?.end();
  if ("error" in end) throw end.error;
}

/** Replaces a connection's `executeQuery` with a function that creates spans; called once per connection. */
function traceStatements(connection: DatabaseConnection, use: ConnectionUse): ConnectionUse {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = <Row>(
    query: CompiledQuery,
    options?: AbortableOperationOptions,
  ): Promise<QueryResult<Row>> => {
    const parent = use.transaction ?? getCurrentRecordedSpan();
    if (parent === undefined) return execute<Row>(query, options);
    const send = async (span: Span | undefined): Promise<QueryResult<Row>> => {
      const result = await execute<Row>(query, options);
      span?.set({ "db.response.returned_rows": result.rows.length });
      return result;
    };
    return parent.run(() => runInSpan(statementSpan(query, use), send));
  };
  return use;
}

const system = { "db.system.name": "postgresql" } as const;

function statementSpan({ sql }: CompiledQuery, use: ConnectionUse): SpanOptions {
  const summary = getStatementVerbAndTable(sql);
  return {
    name: summary,
    kind: "client",
    attributes: { ...system, "db.query.summary": summary, "db.query.text": sql, ...waitAttributes(use) },
  };
}

/**
 * Returns the span attribute with the milliseconds that the caller waited for the connection. Only the first
 * span after the wait gets the attribute.
 */
function waitAttributes(use: ConnectionUse | undefined): {
  readonly "commerce.db.connection_wait_ms"?: number;
} {
  if (use?.waitedMs === undefined) return {};
  const waitedMs = Math.round(use.waitedMs * 100) / 100;
  use.waitedMs = undefined;
  return { "commerce.db.connection_wait_ms": waitedMs };
}

/**
 * Returns the verb and the first table of a statement, for example `select cart`. In a `with` statement, the
 * verb and the table of the main query are preferred. Combined writes are named by their first write.
 */
export function getStatementVerbAndTable(sql: string): string {
  const text = sql.replace(/^\s*\/\*.*?\*\/\s*/s, "").trimStart();
  const isInSteps = /^with\b/i.test(text);
  const main = isInSteps ? withoutParentheses(text) : text;
  // Combined writes (combined-writes.ts) have the main query `select 1`. They are named by their first part.
  if (isInSteps && /\bselect 1$/i.test(main.trimEnd()))
    return getStatementVerbAndTable(text.slice(text.indexOf("(") + 1));
  const steps = isInSteps
    ? [...main.matchAll(/(\w+)"? as (?:not )?(?:materialized )?#/gi)].map(([, name]) => name)
    : [];
  const [verb = "statement"] =
    (isInSteps ? /\b(?:select|insert|update|delete|merge)\b/i : /[a-z]+/i).exec(main) ?? [];
  const table = [...findTables(main), ...findTables(text)].find((name) => !steps.includes(name));
  return table === undefined ? verb.toLowerCase() : `${verb.toLowerCase()} ${table}`;
}

/**
 * Finds the table names in an SQL statement. A name before a parenthesis is a function and not a table. No
 * table follows `for update`.
 */
function* findTables(text: string): Generator<string> {
  for (const [, name] of text.matchAll(/(?:\bfrom|\binto|\bjoin|(?<!\bfor )\bupdate)\s+"?(\w+)(?![\w(#.])/gi))
    if (name !== undefined) yield name;
}

function withoutParentheses(text: string): string {
  const shorter = text.replaceAll(/\([^()]*\)/g, "#");
  return shorter === text ? text : withoutParentheses(shorter);
}
