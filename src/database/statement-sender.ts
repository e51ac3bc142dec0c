/**
 * Sends SQL statements to PostgreSQL: prepared under a name that is computed from their text, or unnamed with
 * a comment that contains the id of the request.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type pg from "pg";
import { fillInMerchantId } from "./row-security.ts";
import { appendRequestIdSqlComment } from "./sql-comment.ts";

export type TransactionPoolerLimitation = "unnamed_statements" | "no_server_timeouts";

export interface SqlStatementSenderOptions {
  /**
   * True to send statements with parameters as named prepared statements, up to a maximum number of names for
   * each connection.
   */
  readonly prepared: boolean;
  /**
   * Called once if the connections go through a transaction pooler that refuses named statements or the
   * server's time limits. The argument says what the pool does without from now on.
   */
  readonly onPoolerLimitation?: ((limitation: TransactionPoolerLimitation) => void) | undefined;
  /** True to append a comment with the id of the request to each statement of a request. */
  readonly comments?: boolean | undefined;
}

/**
 * Maximum number of prepared statements per connection. Further statements run without being prepared,
 * because each prepared statement occupies memory of the server.
 */
const namesMax = 1000;

/**
 * The SQL comment with which a statement begins if its text has many forms. Only a limited number of such
 * statements is prepared on each connection.
 */
export const manyFormsMark = "/* one of many forms */";

/**
 * Maximum number of prepared statements per connection that begin with the comment `manyFormsMark`. One long
 * prepared statement can need up to one megabyte of memory on each connection.
 */
const manyFormsNamesMax = 24;

interface StatementSender {
  readonly send: (client: pg.PoolClient, text: string, values: unknown[]) => Promise<pg.QueryResult>;
  /** Sends all later statements without names. */
  readonly continueUnnamed: () => void;
  readonly renewNames: () => void;
}

export function createSqlStatementSender({
  prepared,
  onPoolerLimitation,
  comments = false,
}: SqlStatementSenderOptions): StatementSender {
  let names = prepared ? createNames() : unnamed;
  return {
    send: (client, text, values) => {
      sendInOneWrite(client);
      const begin = fillInMerchantId(text, values);
      const sent = begin ?? text;
      const commented = comments ? appendRequestIdSqlComment(sent) : sent;
      // pg answers several statements with a list of results. Kysely reads no rows from it, as from BEGIN alone.
      if (begin !== undefined) return client.query(commented);
      // The server keeps a named statement with its first comment, which would name the wrong request later.
      const name = values.length > 0 && commented === text ? names.of(text) : undefined;
      return client.query({ text: commented, values, ...(name === undefined ? {} : { name }) });
    },
    continueUnnamed: () => {
      if (names !== unnamed) onPoolerLimitation?.("unnamed_statements");
      names = unnamed;
    },
    renewNames: () => names.renew(),
  };
}

interface Names {
  readonly of: (text: string) => string | undefined;
  /** Changes the names of all prepared statements, so that every connection prepares its statements again. */
  readonly renew: () => void;
}

const unnamed: Names = { of: () => undefined, renew: () => undefined };

function createNames(): Names {
  const names = new Map<string, string>();
  let manyFormsNames = 0;
  let generation = 0;
  const of = (text: string): string | undefined => {
    let name = names.get(text);
    const hasManyForms = text.startsWith(manyFormsMark);
    if (
      name === undefined &&
      names.size < namesMax &&
      (!hasManyForms || manyFormsNames < manyFormsNamesMax)
    ) {
      if (hasManyForms) manyFormsNames += 1;
      const hash = createHash("sha1").update(text).digest("hex").slice(0, 20);
      name = `q${generation === 0 ? "" : `${generation}_`}${hash}`;
      names.set(text, name);
    }
    return name;
  };
  return {
    of,
    renew: () => {
      names.clear();
      manyFormsNames = 0;
      generation += 1;
    },
  };
}

/**
 * Sends all statements of one event loop turn to the socket with one system call. A system call for each
 * statement would take longer than building the statement.
 */
function sendInOneWrite(client: pg.PoolClient): void {
  const stream = getSocketOfPgClient(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
}

export const getSocketOfPgClient = (client: pg.PoolClient): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
