/** Puts what was told live into the page of deliveries that is shown. */
import type { Delivery, DeliveriesResult, ConsoleDeliveryStatus } from "./delivery-documents.ts";

export interface ShownDeliveries {
  readonly status: ConsoleDeliveryStatus | null;
  /** Only there new ones are added. */
  readonly isNewest: boolean;
}

export type LiveDeliveries = ReadonlyMap<string, Delivery>;

/** What a page that is open for long keeps. */
export const liveDeliveriesMax = 100;

/** The newest that were told, each as it was told last. */
export function addLiveDeliveries(before: LiveDeliveries, changed: readonly Delivery[]): LiveDeliveries {
  const all = new Map([...before, ...changed.map((delivery) => [delivery.id, delivery] as const)]);
  return new Map([...all].toSorted(([, one], [, other]) => byTime(other, one)).slice(0, liveDeliveriesMax));
}

/** What was told since: an answer to what was asked at `whenAsked` knows the rest at least as well. */
export const liveDeliveriesSince = (told: LiveDeliveries, whenAsked: LiveDeliveries): LiveDeliveries =>
  new Map([...told].filter(([id, delivery]) => whenAsked.get(id) !== delivery));

/** In the graph's order: the oldest first. What was told is newer than what was asked. */
export function mergeDeliveries(
  { webhookDeliveries: page }: DeliveriesResult,
  told: LiveDeliveries,
  { status, isNewest }: ShownDeliveries,
): DeliveriesResult {
  const asked = new Map(page.edges.map(({ node }) => [node.id, node]));
  const oldest = page.edges[0]?.node;
  const belongs = (delivery: Delivery): boolean => {
    if (asked.has(delivery.id)) return true;
    if (!isNewest) return false;
    return !page.pageInfo.hasPreviousPage || oldest === undefined || byTime(delivery, oldest) > 0;
  };
  const all = new Map([...asked, ...[...told].filter(([, delivery]) => belongs(delivery))]);
  const shown = [...all.values()]
    .filter((delivery) => status === null || delivery.status === status)
    .toSorted(byTime);
  return { webhookDeliveries: { ...page, edges: shown.map((node) => ({ node })) } };
}

/** What is new on a page, or has another status than before. */
export function changedDeliveries(before: DeliveriesResult, after: DeliveriesResult): readonly Delivery[] {
  const statuses = new Map(before.webhookDeliveries.edges.map(({ node }) => [node.id, node.status]));
  return after.webhookDeliveries.edges
    .map(({ node }) => node)
    .filter(({ id, status }) => statuses.get(id) !== status);
}

const byTime = (one: Delivery, other: Delivery): number =>
  compare(one.createdAt, other.createdAt) || compare(one.id, other.id);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
