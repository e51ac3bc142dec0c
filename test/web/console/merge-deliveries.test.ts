/**
 * The console's live table: what is told while a page of deliveries is open, whatever was asked before or
 * comes later.
 */
import { expect, it } from "vitest";
import type {
  Delivery,
  DeliveriesResult,
  ConsoleDeliveryStatus,
} from "#pages/console/browser/deliveries/delivery-documents.ts";
import {
  mergeDeliveries,
  changedDeliveries,
  liveDeliveriesMax,
  liveDeliveriesSince,
  addLiveDeliveries,
} from "#pages/console/browser/deliveries/merge-deliveries.ts";

const delivery = (second: number, status: ConsoleDeliveryStatus = "SUCCEEDED"): Delivery => ({
  id: `whd_${second}`,
  endpointId: "whe_1",
  status,
  attemptCount: 1,
  nextAttemptAt: null,
  lastAttempt: null,
  replayOf: null,
  replayable: true,
  createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  event: { id: `evt_${second}`, type: "cart.updated", occurredAt: "2026-01-01T00:00:00.000Z" },
});

const pageOf = (deliveries: readonly Delivery[], hasPreviousPage = true): DeliveriesResult => ({
  webhookDeliveries: {
    edges: deliveries.map((node) => ({ node })),
    pageInfo: { hasNextPage: false, hasPreviousPage, startCursor: null, endCursor: null },
  },
});
const shownBy = ({ webhookDeliveries }: DeliveriesResult): string[] =>
  webhookDeliveries.edges.map(({ node }) => `${node.id} ${node.status}`);
const told = (...deliveries: Delivery[]): ReturnType<typeof addLiveDeliveries> =>
  addLiveDeliveries(new Map(), deliveries);
const newest = { status: null, isNewest: true } as const;

it("adds what is newer than the page's oldest, in order, and ignores what stands on an older page", () => {
  const merged = mergeDeliveries(
    pageOf([delivery(2), delivery(4)]),
    told(delivery(5), delivery(1), delivery(3)),
    newest,
  );
  expect(shownBy(merged)).toEqual([
    "whd_2 SUCCEEDED",
    "whd_3 SUCCEEDED",
    "whd_4 SUCCEEDED",
    "whd_5 SUCCEEDED",
  ]);
});

it("shows what was told last, also when the page was asked for again before and answers late", () => {
  const late = pageOf([delivery(2, "SENDING")]);
  expect(
    shownBy(mergeDeliveries(late, told(delivery(2, "SENDING"), delivery(2, "SUCCEEDED")), newest)),
  ).toEqual(["whd_2 SUCCEEDED"]);
});

it("lets an answer renew what was told before it was asked for, and keeps what was told since", () => {
  const whenAsked = told(delivery(1, "SENDING"), delivery(2, "SENDING"));
  const since = liveDeliveriesSince(
    addLiveDeliveries(whenAsked, [delivery(2, "RETRYING"), delivery(3, "PENDING")]),
    whenAsked,
  );
  const answer = pageOf([delivery(1, "SUCCEEDED"), delivery(2, "SENDING")]);
  expect(shownBy(mergeDeliveries(answer, since, newest))).toEqual([
    "whd_1 SUCCEEDED",
    "whd_2 RETRYING",
    "whd_3 PENDING",
  ]);
});

it("adds everything to a page that is the only one, and nothing to an older one, whose rows it renews", () => {
  expect(shownBy(mergeDeliveries(pageOf([], false), told(delivery(1)), newest))).toEqual(["whd_1 SUCCEEDED"]);
  const older = mergeDeliveries(pageOf([delivery(2, "RETRYING")]), told(delivery(2), delivery(9)), {
    status: null,
    isNewest: false,
  });
  expect(shownBy(older)).toEqual(["whd_2 SUCCEEDED"]);
});

it("keeps to the status that was asked for, as rows change into it and out of it", () => {
  const page = pageOf([delivery(2, "RETRYING")], false);
  const changed = told(delivery(2, "SUCCEEDED"), delivery(3, "RETRYING"));
  expect(shownBy(mergeDeliveries(page, changed, { status: "RETRYING", isNewest: true }))).toEqual([
    "whd_3 RETRYING",
  ]);
});

it("tells what is new or has another status, and nothing else", () => {
  const before = pageOf([delivery(1), delivery(2, "SENDING")]);
  const after = pageOf([delivery(1), delivery(2, "SUCCEEDED"), delivery(3, "PENDING")]);
  expect(changedDeliveries(before, after).map(({ id }) => id)).toEqual(["whd_2", "whd_3"]);
  expect(changedDeliveries(after, after)).toEqual([]);
});

it("keeps the newest of what is told, however long the page is open", () => {
  const all = addLiveDeliveries(
    told(delivery(0)),
    Array.from({ length: liveDeliveriesMax }, (_, index) => delivery(index + 1)),
  );
  expect([all.size, all.has("whd_0"), all.has("whd_1")]).toEqual([liveDeliveriesMax, false, true]);
});
