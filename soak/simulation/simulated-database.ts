/**
 * The database server of the simulation: PGlite in memory behind connections that behave like those of pg.
 * PGlite has one session, so the server runs one transaction at a time; the statements of other connections
 * wait until it ends. Each statement is an event. The seed decides its delay, and whether the connection
 * breaks before the statement runs or before its answer arrives.
 */
import { hash } from "node:crypto";
import { CamelCasePlugin, Kysely, PostgresDialect, type PostgresPool } from "kysely";
import type { OpenedDatabase } from "#database/connect.ts";
import {
  createPipelinedKyselyDialect,
  createNestedConnectionGuardDialect,
} from "#database/transaction-dialect.ts";
import type { InterProcessNoticeHandlers } from "#database/notices.ts";
import { fillInMerchantId } from "#database/row-security.ts";
import type { Tables } from "#database/tables.ts";
import type { ResettablePGlite } from "./resettable-pglite.ts";
import type { SimulatedProcess, VirtualWorld } from "./virtual-world.ts";

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: Error) => void;
}

interface StatementResult {
  readonly command: string;
  readonly rowCount: number;
  readonly rows: readonly unknown[];
}

interface Connection {
  readonly process: SimulatedProcess | undefined;
  readonly queue: Statement[];
  isPlanned: boolean;
  isBroken: boolean;
  isAborted: boolean;
}

interface Listener {
  readonly process: SimulatedProcess | undefined;
  readonly onNotice: InterProcessNoticeHandlers["onNotice"];
  readonly arriving: Set<() => void>;
}

export interface SimulatedDatabaseFaults {
  /** The probability that the connection breaks at a statement. */
  cut: number;
  /** The probability that the connection breaks at a COMMIT. */
  cutCommit: number;
}

const script: OpenedDatabase["script"] = () => {
  throw new Error("The simulated service runs no scripts.");
};

const statementMsMax = 2;
const noticeMsMax = 20;
const connectionsMax = 10;

export class SimulatedDatabaseServer {
  readonly faults: SimulatedDatabaseFaults = { cut: 0, cutCommit: 0 };
  readonly counts = { statements: 0, cuts: 0 };
  readonly #pglite: ResettablePGlite;
  readonly #world: VirtualWorld;
  readonly #connections = new Set<Connection>();
  readonly #listeners = new Set<Listener>();
  #owner: Connection | undefined;

  constructor(pglite: ResettablePGlite, world: VirtualWorld) {
    this.#pglite = pglite;
    this.#world = world;
  }

  /** True while a transaction of a connection is open. */
  get isInTransaction(): boolean {
    return this.#owner !== undefined;
  }

  /** Opens the database for the current process, like `openDatabase`. */
  open(): OpenedDatabase {
    const pool = this.#createPool();
    const dialect = createPipelinedKyselyDialect(new PostgresDialect({ pool }), { isPipelined: true });
    const db = new Kysely<Tables>({
      dialect: createNestedConnectionGuardDialect(dialect),
      plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
    });
    return {
      engine: "postgres",
      db,
      script,
      ownerScript: script,
      listen: (_channel, handlers) => this.#listen(handlers),
      pool: () => undefined,
      close: () => db.destroy(),
    };
  }

  /** Delivers a committed notice to all processes that listen. */
  deliverNotice(payload: string): void {
    for (const listener of this.#listeners) {
      if (listener.process?.isDead === true) continue;
      this.#planNotice(listener, payload);
    }
  }

  /** Ends the connections of a dead process: its transaction is rolled back, and no statement of it runs. */
  async endConnectionsOf(process: SimulatedProcess): Promise<void> {
    for (const connection of this.#connections) {
      if (connection.process !== process) continue;
      connection.queue.length = 0;
      await this.#close(connection);
    }
    for (const listener of this.#listeners)
      if (listener.process === process) this.#listeners.delete(listener);
  }

  #planNotice(listener: Listener, payload: string): void {
    const { process, onNotice, arriving } = listener;
    const arrive = (): void => {
      if (arriving.delete(arrive)) onNotice(payload);
    };
    arriving.add(arrive);
    const plan = (): unknown =>
      this.#world.plan(this.#world.random.next() * noticeMsMax, `notice ${payload}`, arrive);
    if (process === undefined) plan();
    else this.#world.runIn(process, plan);
  }

  #listen({ onNotice }: InterProcessNoticeHandlers): ReturnType<OpenedDatabase["listen"]> {
    const listener: Listener = { process: this.#world.process, onNotice, arriving: new Set() };
    this.#listeners.add(listener);
    onNotice("");
    return {
      isCurrent: () => true,
      isReceiving: () => true,
      confirm: () => {
        for (const arrive of listener.arriving) arrive();
        return true;
      },
      stop: () => {
        this.#listeners.delete(listener);
        return Promise.resolve();
      },
    };
  }

  #createPool(): PostgresPool {
    const idle: Connection[] = [];
    const waiting: ((connection: Connection) => void)[] = [];
    let open = 0;
    const connect = (): Connection | undefined => {
      const known = idle.pop();
      if (known !== undefined || open === connectionsMax) return known;
      open += 1;
      const connection: Connection = {
        process: this.#world.process,
        queue: [],
        isPlanned: false,
        isBroken: false,
        isAborted: false,
      };
      this.#connections.add(connection);
      return connection;
    };
    const release = (connection: Connection, isDestroyed: boolean): void => {
      if (isDestroyed || connection.isBroken) {
        open -= 1;
        this.#connections.delete(connection);
      } else idle.push(connection);
      const next = waiting.shift();
      const free = next === undefined ? undefined : connect();
      if (free !== undefined) next?.(free);
    };
    const clients = new Map<Connection, Awaited<ReturnType<PostgresPool["connect"]>>>();
    const toClient = (connection: Connection): Awaited<ReturnType<PostgresPool["connect"]>> => {
      const known = clients.get(connection);
      if (known !== undefined) return known;
      const client = {
        processID: 1,
        query: (text: string, values: readonly unknown[] = []) => this.#send(connection, text, values),
        release: (isDestroyed?: boolean) => release(connection, isDestroyed === true),
      } as unknown as Awaited<ReturnType<PostgresPool["connect"]>>;
      clients.set(connection, client);
      return client;
    };
    return {
      options: {},
      end: () => Promise.resolve(),
      connect: async () => {
        const connection = connect() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
        return toClient(connection);
      },
    };
  }

  #send(connection: Connection, text: string, values: readonly unknown[]): Promise<StatementResult> {
    if (connection.isBroken) return Promise.reject(createCutError());
    return new Promise((resolve, reject) => {
      // PGlite's only role is a superuser, for which row level security has no effect. A transaction of one
      // merchant therefore begins like any other.
      const isMerchantBegin = fillInMerchantId(text, values) !== undefined;
      const statement = isMerchantBegin ? { text: "begin", values: [] } : { text, values };
      connection.queue.push({ ...statement, resolve, reject });
      this.#planNext(connection);
    });
  }

  #planNext(connection: Connection): void {
    const [next] = connection.queue;
    if (next === undefined || connection.isPlanned || connection.isBroken) return;
    connection.isPlanned = true;
    const what = describeStatement(next.text);
    const plan = (): unknown =>
      this.#world.plan(this.#world.random.next() * statementMsMax, what, () => this.#runNext(connection));
    if (connection.process === undefined) plan();
    else this.#world.runIn(connection.process, plan);
  }

  async #runNext(connection: Connection): Promise<void> {
    connection.isPlanned = false;
    // The transaction of another connection is open. Its end plans this statement again.
    if (this.#owner !== undefined && this.#owner !== connection) return;
    const statement = connection.queue.shift();
    if (statement === undefined || connection.isBroken) return;
    const isCommit = statement.text === "commit";
    const isCut = this.#world.random.chance(isCommit ? this.faults.cutCommit : this.faults.cut);
    const isBefore = isCut && this.#world.random.chance(0.5);
    const finish = isBefore ? undefined : await this.#execute(connection, statement);
    if (isCut) {
      this.counts.cuts += 1;
      this.#world.note(`connection cut ${isBefore ? "before" : "after"} the statement`);
      await this.#close(connection);
      statement.reject(createCutError());
    } else finish?.();
    this.#planNext(connection);
  }

  /** Runs a statement at PGlite. Returns the function that delivers the answer. */
  async #execute(connection: Connection, { text, values, resolve, reject }: Statement): Promise<() => void> {
    this.counts.statements += 1;
    const isBegin = text === "begin" || text.startsWith("start transaction");
    const isEnd = text === "commit" || text === "rollback";
    if (isBegin) this.#owner = connection;
    const command = isBegin || isEnd ? getCommandName(text, connection) : "UPDATE";
    try {
      const { rows, affectedRows } = await this.#pglite.query(text, values);
      const rowCount = affectedRows === 0 ? rows.length : affectedRows;
      this.#world.note(`answer ${rowCount}`);
      return () => resolve({ command, rowCount: affectedRows, rows });
    } catch (error) {
      if (this.#owner === connection) connection.isAborted = true;
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#world.note(`error ${failure.message.slice(0, 80)}`);
      return () => reject(failure);
    } finally {
      if (isEnd) this.#endTransaction(connection);
    }
  }

  #endTransaction(connection: Connection): void {
    connection.isAborted = false;
    if (this.#owner !== connection) return;
    this.#owner = undefined;
    for (const other of this.#connections) this.#planNext(other);
  }

  /** Closes a connection: its transaction is rolled back, and its statements fail. */
  async #close(connection: Connection): Promise<void> {
    connection.isBroken = true;
    this.#connections.delete(connection);
    if (this.#owner === connection) {
      await this.#pglite.query("rollback");
      this.#endTransaction(connection);
    }
    for (const { reject } of connection.queue.splice(0)) reject(createCutError());
  }
}

const descriptions = new Map<string, string>();

/** Returns the line of a statement in the trace. */
function describeStatement(text: string): string {
  let described = descriptions.get(text);
  if (described === undefined) {
    const digest = hash("sha256", text).slice(0, 12);
    described = `statement ${digest} ${text.slice(0, 60).replaceAll(/\s+/g, " ")}`;
    descriptions.set(text, described);
  }
  return described;
}

/** Returns the command in the answer to BEGIN, COMMIT or ROLLBACK. */
const getCommandName = (text: string, { isAborted }: Connection): string =>
  text === "commit" && isAborted ? "ROLLBACK" : text.slice(0, 8).toUpperCase();

const createCutError = (): Error => new Error("Connection terminated unexpectedly");
