/**
 * Keeps a log of the REST requests of apps, which the console shows to merchants so that they can find out
 * why requests failed. Requests are collected in memory and written to the database in batches every two
 * seconds. The log is a sample: the number of logged requests per installation is limited. No request waits
 * for the log, and no request fails because of it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { deleteRowsInBatches } from "#database/delete-rows.ts";
import { dropDayPartitions, getStartOfUtcDay } from "#database/day-partitions.ts";
import type { Clock } from "#foundation/clock.ts";
import { getLowestIdAtTime, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { Log } from "#foundation/log.ts";
import type { ApiRequestTable, Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { CredentialAndOwnerIds } from "./viewer.ts";

export interface LoggedApiRequest extends CredentialAndOwnerIds {
  readonly id: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
}

export interface ApiRequestLog {
  readonly add: (request: LoggedApiRequest) => void;
  /** From now on, writes each collected request to the database at the latest two seconds later. */
  readonly start: () => void;
  /** Writes the collected requests to the database now. Never throws an error. */
  readonly flush: () => Promise<void>;
  /** Writes the requests that were collected since the last write, and then no more. */
  readonly stop: () => Promise<void>;
}

/** Maximum number of failed requests of an installation that are collected between two writes. */
export const loggedFailuresMax = 50;
/** Maximum number of successful requests of an installation that are collected between two writes. */
export const loggedSuccessesMax = 20;
/**
 * Maximum number of requests of all installations together that are collected between two writes. Further
 * requests are not logged.
 */
export const bufferedRequestsMax = 1_000;
/**
 * The number of days for which a logged request is stored at least. Requests are deleted by whole days (UTC),
 * so they are stored for up to one day longer.
 */
export const requestRetentionDays = 3;

const writeEveryMs = 2_000;

export interface ApiRequestLogOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

type Row = LoggedApiRequest & { readonly at: Date };

export function createApiRequestLog({ db, clock, log }: ApiRequestLogOptions): ApiRequestLog {
  let rows: Row[] = [];
  let counts = new Map<string, Record<"failures" | "successes", number>>();
  let writing: Promise<void> | undefined;
  // The timer runs only while requests wait to be written, so that it does not wake an idle process.
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let isWriteFailing = false;
  // The rows are written in a detached async context, so that the write does not join the trace of a request.
  const inDetachedContext = AsyncLocalStorage.snapshot();

  const write = async (collected: readonly Row[]): Promise<void> => {
    try {
      await insert(db, collected);
      isWriteFailing = false;
    } catch (error) {
      if (!isWriteFailing)
        log.warn(
          { err: error, dropped: collected.length },
          "The log of API requests cannot be written; its rows are dropped until the database accepts them.",
        );
      isWriteFailing = true;
    }
  };
  const flush = async (): Promise<void> => {
    // Only one write to the database runs at a time. Otherwise, waiting writes would fill the memory if the
    // database is slow.
    if (writing !== undefined) {
      await writing;
      return flush();
    }
    if (rows.length === 0) return;
    const collected = rows;
    rows = [];
    counts = new Map();
    writing = write(collected).finally(() => (writing = undefined));
    await writing;
  };
  const writeLater = (): void => {
    timer = undefined;
    void flush();
  };
  return {
    add: (request) => {
      if (rows.length >= bufferedRequestsMax) return;
      const { installationId, status } = request;
      const count = counts.get(installationId) ?? { failures: 0, successes: 0 };
      const [kind, max] =
        status >= 400
          ? (["failures", loggedFailuresMax] as const)
          : (["successes", loggedSuccessesMax] as const);
      if (count[kind] >= max) return;
      count[kind] += 1;
      counts.set(installationId, count);
      rows.push({ ...request, at: clock.now() });
      if (isStarted) timer ??= inDetachedContext(() => setTimeout(writeLater, writeEveryMs).unref());
    },
    start: () => {
      isStarted = true;
    },
    flush,
    stop: async () => {
      isStarted = false;
      clearTimeout(timer);
      await flush();
    },
  };
}

/**
 * Inserts all rows in one statement. The rows are a single JSON parameter, so the SQL text is the same for
 * every number of rows.
 */
function insert(db: Database, collected: readonly Row[]): Promise<unknown> {
  const rows = collected.map(
    ({
      id,
      merchantId,
      installationId,
      credentialId,
      operation,
      method,
      status,
      errorCode,
      durationMs,
      at,
    }) => ({
      id,
      merchant_id: merchantId,
      installation_id: installationId,
      credential_id: credentialId,
      operation,
      method,
      status,
      error_code: errorCode,
      duration_ms: durationMs,
      at,
    }),
  );
  return sql`insert into api_request select * from json_populate_recordset(null::api_request,
    ${JSON.stringify(rows)}::json)`.execute(db);
}

/**
 * Drops the partitions of the log whose days are before the retention period. Then deletes the requests of
 * these days from the default partition, which has rows only if there was no partition for their day. Returns
 * the number of requests that were deleted from the default partition.
 */
export async function deleteExpiredApiRequestLogEntries(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const firstDay = getStartOfUtcDay(new Date(now.getTime() - requestRetentionDays * 86_400_000));
  await dropDayPartitions(db, firstDay);
  const before = getLowestIdAtTime("request", firstDay.getTime());
  return deleteRowsInBatches(
    db,
    { table: "api_request_default", where: sql`id < ${before}`, orderBy: sql`id` },
    signal,
  );
}

export type LoggedApiRequestRow = Selectable<ApiRequestTable>;

/** Filter of a list of logged requests. A field that is null or undefined does not restrict the list. */
interface ApiRequestFilter {
  readonly merchantId?: string | null;
  readonly installationId?: string | null | undefined;
  readonly credentialId?: string | null | undefined;
  readonly operation?: string | null | undefined;
  /**
   * Lowest and highest HTTP status of the requests to list; requests with exactly these statuses are
   * included.
   */
  readonly statusFrom?: number | null | undefined;
  readonly statusTo?: number | null | undefined;
}

/** Builds the query for logged requests. The caller adds the order or page, or counts the rows. */
export function buildApiRequestSqlQuery(
  reader: DatabaseOrTransaction,
  filter: ApiRequestFilter,
): SelectQueryBuilder<Tables, "apiRequest", LoggedApiRequestRow> {
  let list = reader.selectFrom("apiRequest").selectAll("apiRequest");
  for (const column of ["merchantId", "installationId", "credentialId", "operation"] as const) {
    const value = filter[column] ?? null;
    if (value !== null) list = list.where(`apiRequest.${column}`, "=", value);
  }
  const [from, to] = [filter.statusFrom ?? null, filter.statusTo ?? null];
  // The condition has no parameter and the same SQL text as in the partial indexes of the table. PostgreSQL
  // would not use these indexes for a condition with a parameter.
  if (from !== null && from >= 400) list = list.where(sql<boolean>`api_request.status >= 400`);
  if (from !== null && from !== 400) list = list.where("apiRequest.status", ">=", from);
  return to === null ? list : list.where("apiRequest.status", "<=", to);
}

/** Finds a logged request by its id; null if it is not stored. The caller must check the merchant. */
export async function findLoggedApiRequest(
  reader: DatabaseOrTransaction,
  id: string,
): Promise<LoggedApiRequestRow | null> {
  const found = await reader
    .selectFrom("apiRequest")
    .selectAll("apiRequest")
    .where("id", "=", blankIdWithForbiddenCharacters(id))
    .executeTakeFirst();
  return found ?? null;
}
