/**
 * Finds the deliveries that changed since the previous query. For each endpoint, a query reads the newest
 * deliveries, the next due ones, those being sent, and those that were unfinished in the previous query. It
 * compares them with the result of the previous query. This finds every new attempt and every delivery that
 * has ended since then.
 */
import { sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { DeliveryStatus } from "./delivery-rules.ts";

export interface ChangedDeliveryIdsOfEndpoint {
  /** The ids of the changed deliveries, oldest first. */
  readonly changed: readonly string[];
  /**
   * True if more deliveries were created since the previous query than one query returns. Some changes may
   * then be missing.
   */
  readonly isMore: boolean;
}

export type ChangedDeliveryIdsFinder = (
  endpointIds: readonly string[],
) => Promise<ReadonlyMap<string, ChangedDeliveryIdsOfEndpoint>>;

export const watchedNewestMax = 100;
const dueMax = 100;
const sendingMax = 50;
/**
 * The number of endpoints for which one SQL statement reads deliveries. The limit keeps other statements from
 * waiting long.
 */
export const endpointsPerQuery = 8;
/**
 * The maximum number of deliveries per endpoint that a query reads again because the previous query found
 * them unfinished. The query finds other unfinished deliveries when they become due.
 */
const openMax = 500;

interface SeenRow {
  readonly endpointId: string;
  readonly id: string;
  readonly status: DeliveryStatus;
  readonly attemptCount: number;
  readonly isNewest: boolean;
}

/** The deliveries of one endpoint in the previous query, by delivery id. */
type Memory = ReadonlyMap<string, SeenRow>;

export function createChangedDeliveryIdsFinder(reader: DatabaseOrTransaction): ChangedDeliveryIdsFinder {
  let memories: ReadonlyMap<string, Memory> = new Map();
  return async (endpointIds) => {
    const before = memories;
    const found: SeenRow[] = [];
    for (let from = 0; from < endpointIds.length; from += endpointsPerQuery) {
      const some = endpointIds.slice(from, from + endpointsPerQuery);
      found.push(
        ...(await findRows(reader, {
          endpointIds: some,
          openIds: some.flatMap((id) => openIdsOf(before.get(id))),
        })),
      );
    }
    const rows = Map.groupBy(found, ({ endpointId }) => endpointId);
    memories = new Map(
      endpointIds.map((id) => [id, new Map((rows.get(id) ?? []).map((row) => [row.id, row]))]),
    );
    return new Map(endpointIds.map((id) => [id, compare(before.get(id), memories.get(id) ?? new Map())]));
  };
}

const isOpen = ({ status }: SeenRow): boolean =>
  status === "pending" || status === "sending" || status === "retrying";

const openIdsOf = (memory: Memory = new Map()): string[] =>
  [...memory.values()]
    .filter(isOpen)
    .slice(-openMax)
    .map(({ id }) => id);

/**
 * Compares the deliveries of an endpoint with those of the previous query, and returns the changes. The first
 * query for an endpoint returns no changes.
 */
function compare(before: Memory | undefined, now: Memory): ChangedDeliveryIdsOfEndpoint {
  if (before === undefined) return { changed: [], isMore: false };
  const changed = [...now.values()].filter((row) => hasChanged(before.get(row.id), row)).map(({ id }) => id);
  const newest = [...now.values()].filter(({ isNewest }) => isNewest);
  return { changed, isMore: newest.length >= watchedNewestMax && newest.every(({ id }) => !before.has(id)) };
}

/**
 * Returns whether a delivery changed since the previous query. A delivery that only moved into the range that
 * the query reads, and still waits, counts as unchanged.
 */
function hasChanged(before: SeenRow | undefined, row: SeenRow): boolean {
  if (before === undefined) return row.isNewest || row.status === "sending" || !isOpen(row);
  return before.status !== row.status || before.attemptCount !== row.attemptCount;
}

const statuses: readonly DeliveryStatus[] = [
  "pending",
  "sending",
  "succeeded",
  "retrying",
  "exhausted",
  "skipped",
  "canceled",
];

/**
 * Reads deliveries of the given endpoints with one statement, in the order of their ids. Reads the newest
 * deliveries, the due ones, those being sent, and those that were unfinished in the previous query. Each
 * subquery reads only a range of an index.
 */
async function findRows(
  reader: DatabaseOrTransaction,
  { endpointIds, openIds }: { readonly endpointIds: readonly string[]; readonly openIds: readonly string[] },
): Promise<readonly SeenRow[]> {
  const { rows } = await sql<SeenRow>`
    with asked as (select unnest(${endpointIds}::text[]) as id), newest as (
      select n.id from asked a cross join lateral (
        select o.id from unnest(${statuses}::text[]) as of_status(name) cross join lateral (
          select d.id from webhook_delivery d where d.endpoint_id = a.id and d.status = of_status.name
          order by d.id collate "C" desc limit ${watchedNewestMax}
        ) o order by o.id collate "C" desc limit ${watchedNewestMax}
      ) n
    ), others as (
      select n.id from asked a cross join lateral (
        select d.id from webhook_delivery d where d.endpoint_id = a.id and d.next_attempt_at is not null
        order by d.next_attempt_at, d.id limit ${dueMax}
      ) n
      union all select n.id from asked a cross join lateral (
        select d.id from webhook_delivery d where d.endpoint_id = a.id and d.status = 'sending'
        limit ${sendingMax}
      ) n
      union all select unnest(${openIds}::text[])
    ), looked as (
      select id, bool_or(is_newest) as is_newest from (select id, true as is_newest from newest union all
      select id, false from others) all_of group by id
    )
    select d.endpoint_id, d.id, d.status, d.attempt_count, l.is_newest from looked l join webhook_delivery d
    on d.id = l.id
    order by d.id collate "C"`.execute(reader);
  return rows;
}
