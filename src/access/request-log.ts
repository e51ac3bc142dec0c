/**
 * A log of the requests of apps over REST, to find out what went wrong: noted in memory when a request is
 * answered, written later, many rows at a time, and listed. It is a sample with a bound for each
 * installation, and no request ever waits for it or fails with it.
 */
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { firstIdAt } from "#foundation/ids.ts";
import type { Log } from "#foundation/log.ts";
import type { ApiRequestTable, Tables } from "#database/tables.ts";
import type { Reader } from "#database/transaction.ts";
import type { CredentialOwner } from "./viewer.ts";

export interface LoggedRequest extends CredentialOwner {
  readonly id: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
}

export interface RequestLog {
  readonly note: (request: LoggedRequest) => void;
  /** From then on what is noted is written every two seconds. */
  readonly start: () => void;
  /** Writes what was noted; never fails. */
  readonly flush: () => Promise<void>;
  /** Writes the last of it. */
  readonly stop: () => Promise<void>;
}

/** Of one installation and between two writes. */
export const loggedFailuresMax = 50;
export const loggedSuccessesMax = 20;
/** Of all together: more are not noted. */
export const bufferedRequestsMax = 1_000;
export const requestRetentionDays = 3;

const writeEveryMs = 2_000;

export interface RequestLogParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

type Row = LoggedRequest & { readonly at: Date };

export function createRequestLog({ db, clock, log }: RequestLogParts): RequestLog {
  let rows: Row[] = [];
  let counts = new Map<string, Record<"failures" | "successes", number>>();
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;

  const write = async (noted: readonly Row[]): Promise<void> => {
    try {
      await insert(db, noted);
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn(
          { err: error, dropped: noted.length },
          "What apps sent could not be written down, and is dropped until it can.",
        );
      isFailing = true;
    }
  };
  const flush = async (): Promise<void> => {
    // One at a time: where the database is slow, what comes meanwhile is bounded as well.
    if (writing !== undefined) {
      await writing;
      return flush();
    }
    if (rows.length === 0) return;
    const noted = rows;
    rows = [];
    counts = new Map();
    writing = write(noted).finally(() => (writing = undefined));
    await writing;
  };
  return {
    note: (request) => {
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
    },
    start: () => {
      timer ??= setInterval(() => void flush(), writeEveryMs).unref();
    },
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

/** One statement with one value, however many there are. */
function insert(db: Database, noted: readonly Row[]): Promise<unknown> {
  const rows = noted.map(
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
  return sql`insert into api_request select * from json_populate_recordset(null::api_request, ${JSON.stringify(rows)}::json)`.execute(
    db,
  );
}

const sweptAtOnce = 2_000;

/** What nobody looks for any more. How many that were. */
export async function sweepApiRequests(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  const before = firstIdAt("request", now.getTime() - requestRetentionDays * 86_400_000);
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from api_request where id in (select id from api_request where id < ${before} order by id limit ${sweptAtOnce})`.execute(
      db,
    );
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}

export type ApiRequestRow = Selectable<ApiRequestTable>;

interface RequestFilter {
  readonly installationId: string;
  readonly isFailedOnly: boolean;
}

/** Still to be ordered, paged or counted. */
export function selectApiRequests(
  reader: Reader,
  { installationId, isFailedOnly }: RequestFilter,
): SelectQueryBuilder<Tables, "apiRequest", ApiRequestRow> {
  const list = reader
    .selectFrom("apiRequest")
    .selectAll("apiRequest")
    .where("installationId", "=", installationId);
  // As the index has it, which a parameter would not be seen to be.
  return isFailedOnly ? list.where(sql<boolean>`api_request.status >= 400`) : list;
}
