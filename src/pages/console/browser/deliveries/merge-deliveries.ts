/** Merges the delivery changes that a subscription reported into the page of deliveries that is shown. */
import type { Delivery, DeliveriesResult, ConsoleDeliveryStatus } from "./delivery-documents.ts";

export interface ShownDeliveries {
  readonly status: ConsoleDeliveryStatus | null;
  /** True if the page with the newest deliveries is shown. New deliveries are added only to that page. */
  readonly isNewest: boolean;
}

export type LiveDeliveries = ReadonlyMap<string, Delivery>;

/** The maximum number of deliveries, received through the subscription, that a page stores. */
export const liveDeliveriesMax = 100;

/**
 * Adds changed deliveries to those that the subscription has reported, each in its latest state. If there are
 * too many, the oldest ones are dropped.
 */
export function addLiveDeliveries(before: LiveDeliveries, changed: readonly Delivery[]): LiveDeliveries {
  const all = new Map([...before, ...changed.map((delivery) => [delivery.id, delivery] as const)]);
  return new Map([...all].toSorted(([, one], [, other]) => byTime(other, one)).slice(0, liveDeliveriesMax));
}

/**
 * Returns the deliveries that the subscription has reported since a query was sent. Deliveries that were
 * reported before (`before`) are dropped, because the result of the query already contains them.
 */
export const liveDeliveriesSince = (reported: LiveDeliveries, before: LiveDeliveries): LiveDeliveries =>
  new Map([...reported].filter(([id, delivery]) => before.get(id) !== delivery));

/**
 * Merges the loaded page with reported deliveries, oldest first as in GraphQL. A reported delivery replaces
 * the loaded one.
 */
export function mergeDeliveries(
  { webhookDeliveries: page }: DeliveriesResult,
  reported: LiveDeliveries,
  { status, isNewest }: ShownDeliveries,
): DeliveriesResult {
  const loaded = new Map(page.edges.map(({ node }) => [node.id, node]));
  const oldest = page.edges[0]?.node;
  const belongs = (delivery: Delivery): boolean => {
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
 * Compares two versions of the page. Returns the deliveries that are new on the page or have another status
 * than before.
 */
export function changedDeliveries(before: DeliveriesResult, after: DeliveriesResult): readonly Delivery[] {
  const statuses = new Map(before.webhookDeliveries.edges.map(({ node }) => [node.id, node.status]));
  return after.webhookDeliveries.edges
    .map(({ node }) => node)
    .filter(({ id, status }) => statuses.get(id) !== status);
}

const byTime = (one: Delivery, other: Delivery): number =>
  compare(one.createdAt, other.createdAt) || compare(one.id, other.id);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
