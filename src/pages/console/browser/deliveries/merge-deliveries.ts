/**
 * Merges the changed deliveries that a subscription has reported into the shown part of the list of
 * deliveries.
 */
import type {
  ConsoleWebhookDelivery,
  DeliveryListQueryResult,
  ConsoleDeliveryStatus,
} from "./delivery-documents.ts";

export interface DeliveryListFilterAndPosition {
  readonly status: ConsoleDeliveryStatus | null;
  /** True if the shown part of the list is the newest part. New deliveries are added only to the newest part. */
  readonly isNewest: boolean;
}

export type LiveWebhookDeliveriesById = ReadonlyMap<string, ConsoleWebhookDelivery>;

/** The maximum number of deliveries from the subscription that the page keeps in memory. */
export const liveDeliveriesMax = 100;

/**
 * Adds changed deliveries to those that the subscription has already reported, and replaces earlier states of
 * the same delivery. Drops the oldest deliveries above the maximum.
 */
export function addReportedDeliveriesToLiveList(
  before: LiveWebhookDeliveriesById,
  changed: readonly ConsoleWebhookDelivery[],
): LiveWebhookDeliveriesById {
  const all = new Map([...before, ...changed.map((delivery) => [delivery.id, delivery] as const)]);
  return new Map([...all].toSorted(([, one], [, other]) => byTime(other, one)).slice(0, liveDeliveriesMax));
}

/**
 * Returns the deliveries that the subscription has reported since a query was sent. `before` contains the
 * deliveries that were reported earlier. They are dropped, because the query's result is at least as new.
 */
export const getDeliveriesReportedSinceQuery = (
  reported: LiveWebhookDeliveriesById,
  before: LiveWebhookDeliveriesById,
): LiveWebhookDeliveriesById =>
  new Map([...reported].filter(([id, delivery]) => before.get(id) !== delivery));

/**
 * Merges the loaded deliveries with those that the subscription has reported, oldest first as in GraphQL. A
 * reported delivery replaces the loaded state of the same delivery.
 */
export function mergeLoadedAndLiveDeliveries(
  { webhookDeliveries: page }: DeliveryListQueryResult,
  reported: LiveWebhookDeliveriesById,
  { status, isNewest }: DeliveryListFilterAndPosition,
): DeliveryListQueryResult {
  const loaded = new Map(page.edges.map(({ node }) => [node.id, node]));
  const oldest = page.edges[0]?.node;
  const belongs = (delivery: ConsoleWebhookDelivery): boolean => {
    if (loaded.has(delivery.id)) return true;
    if (!isNewest) return false;
    return !page.pageInfo.hasPreviousPage || oldest === undefined || byTime(delivery, oldest) > 0;
  };
  const all = new Map([...loaded, ...[...reported].filter(([, delivery]) => belongs(delivery))]);
  const shown = [...all.values()]
    .filter((delivery) => status === null || delivery.status === status)
    .toSorted(byTime);
  return { webhookDeliveries: { ...page, edges: shown.map((node) => ({ node })) } };
}

/**
 * Compares two states of the shown list of deliveries. Returns the deliveries of the second state that are
 * new or have another status.
 */
export function findNewOrChangedListedDeliveries(
  before: DeliveryListQueryResult,
  after: DeliveryListQueryResult,
): readonly ConsoleWebhookDelivery[] {
  const statuses = new Map(before.webhookDeliveries.edges.map(({ node }) => [node.id, node.status]));
  return after.webhookDeliveries.edges
    .map(({ node }) => node)
    .filter(({ id, status }) => statuses.get(id) !== status);
}

const byTime = (one: ConsoleWebhookDelivery, other: ConsoleWebhookDelivery): number =>
  compare(one.createdAt, other.createdAt) || compare(one.id, other.id);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
