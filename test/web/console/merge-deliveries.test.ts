/**
 * The console's live table of deliveries: merging streamed updates with pages that were loaded before or
 * arrive later.
 */
import { expect, it } from "vitest";
import type {
  ConsoleWebhookDelivery,
  DeliveryListQueryResult,
  ConsoleDeliveryStatus,
} from "#pages/console/browser/deliveries/delivery-documents.ts";
import {
  mergeLoadedAndLiveDeliveries,
  findNewOrChangedListedDeliveries,
  liveDeliveriesMax,
  getDeliveriesReportedSinceQuery,
  addReportedDeliveriesToLiveList,
} from "#pages/console/browser/deliveries/merge-deliveries.ts";

const delivery = (second: number, status: ConsoleDeliveryStatus = "SUCCEEDED"): ConsoleWebhookDelivery => ({
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

const pageOf = (
  deliveries: readonly ConsoleWebhookDelivery[],
  hasPreviousPage = true,
): DeliveryListQueryResult => ({
  webhookDeliveries: {
    edges: deliveries.map((node) => ({ node })),
    pageInfo: { hasNextPage: false, hasPreviousPage, startCursor: null, endCursor: null },
  },
});
const shownBy = ({ webhookDeliveries }: DeliveryListQueryResult): string[] =>
  webhookDeliveries.edges.map(({ node }) => `${node.id} ${node.status}`);
const streamed = (
  ...deliveries: ConsoleWebhookDelivery[]
): ReturnType<typeof addReportedDeliveriesToLiveList> =>
  addReportedDeliveriesToLiveList(new Map(), deliveries);
const newest = { status: null, isNewest: true } as const;

it("merging adds updates newer than the page's oldest row, and ignores those of older pages", () => {
  const merged = mergeLoadedAndLiveDeliveries(
    pageOf([delivery(2), delivery(4)]),
    streamed(delivery(5), delivery(1), delivery(3)),
    newest,
  );
  expect(shownBy(merged)).toEqual([
    "whd_2 SUCCEEDED",
    "whd_3 SUCCEEDED",
    "whd_4 SUCCEEDED",
    "whd_5 SUCCEEDED",
  ]);
});

it("merging shows the latest update, also if the page was reloaded before it and answers late", () => {
  const late = pageOf([delivery(2, "SENDING")]);
  expect(
    shownBy(
      mergeLoadedAndLiveDeliveries(late, streamed(delivery(2, "SENDING"), delivery(2, "SUCCEEDED")), newest),
    ),
  ).toEqual(["whd_2 SUCCEEDED"]);
});

it("merging replaces updates from before the reload, and keeps later ones", () => {
  const whenAsked = streamed(delivery(1, "SENDING"), delivery(2, "SENDING"));
  const since = getDeliveriesReportedSinceQuery(
    addReportedDeliveriesToLiveList(whenAsked, [delivery(2, "RETRYING"), delivery(3, "PENDING")]),
    whenAsked,
  );
  const answer = pageOf([delivery(1, "SUCCEEDED"), delivery(2, "SENDING")]);
  expect(shownBy(mergeLoadedAndLiveDeliveries(answer, since, newest))).toEqual([
    "whd_1 SUCCEEDED",
    "whd_2 RETRYING",
    "whd_3 PENDING",
  ]);
});

it("merging adds every row to an only page, and no row to an older page, whose rows it updates", () => {
  expect(shownBy(mergeLoadedAndLiveDeliveries(pageOf([], false), streamed(delivery(1)), newest))).toEqual([
    "whd_1 SUCCEEDED",
  ]);
  const older = mergeLoadedAndLiveDeliveries(
    pageOf([delivery(2, "RETRYING")]),
    streamed(delivery(2), delivery(9)),
    {
      status: null,
      isNewest: false,
    },
  );
  expect(shownBy(older)).toEqual(["whd_2 SUCCEEDED"]);
});

it("merging applies the status filter when rows change their status", () => {
  const page = pageOf([delivery(2, "RETRYING")], false);
  const changed = streamed(delivery(2, "SUCCEEDED"), delivery(3, "RETRYING"));
  expect(
    shownBy(mergeLoadedAndLiveDeliveries(page, changed, { status: "RETRYING", isNewest: true })),
  ).toEqual(["whd_3 RETRYING"]);
});

it("merging reports new rows and changed statuses only", () => {
  const before = pageOf([delivery(1), delivery(2, "SENDING")]);
  const after = pageOf([delivery(1), delivery(2, "SUCCEEDED"), delivery(3, "PENDING")]);
  expect(findNewOrChangedListedDeliveries(before, after).map(({ id }) => id)).toEqual(["whd_2", "whd_3"]);
  expect(findNewOrChangedListedDeliveries(after, after)).toEqual([]);
});

it("merging keeps the newest updates, however long the page is open", () => {
  const all = addReportedDeliveriesToLiveList(
    streamed(delivery(0)),
    Array.from({ length: liveDeliveriesMax }, (_, index) => delivery(index + 1)),
  );
  expect([all.size, all.has("whd_0"), all.has("whd_1")]).toEqual([liveDeliveriesMax, false, true]);
});
