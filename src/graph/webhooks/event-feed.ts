/** The GraphQL event feed: all events of a merchant in order, for programs that must not miss an event. */
import { createFailureWithDetail } from "#foundation/failure.ts";
import { getDisallowedValueErrors, requireNoInputFieldErrors } from "#foundation/faults.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { type GraphqlContext, getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import { defineGraphqlFieldCostByArguments } from "#graph/field-costs.ts";
import { listMerchantArgs } from "#graph/list-arguments.ts";
import { eventTypeNames } from "#webhooks/event-catalogue.ts";
import { eventRetentionDays } from "#webhooks/delivery-rules.ts";
import { type EventFeedPage, getEventFeedEndCursor, readEventFeed } from "#webhooks/event-feed.ts";
import { MerchantEventType } from "./event-list.ts";

const feedPageSizeMax = 100;

const FeedStartEnum = defineGraphqlEnum("EventFeedStart", {
  description: "Where the event feed is read from if no cursor is given.",
  values: {
    oldest: "The feed begins with the oldest stored event.",
    end: "The feed begins at its present end: the reader gets only events that are added later.",
  },
});

export const EventFeedPageRef = builder.objectRef<EventFeedPage>("EventFeedPage").implement({
  description: "One page of the event feed.",
  fields: (t) => ({
    events: t.field({
      type: [MerchantEventType],
      description:
        "The events of the page, in the order of the feed. The list may be empty although more events " +
        "follow.",
      resolve: ({ events }) => [...events],
    }),
    cursor: t.exposeString("cursor", {
      description:
        "The position in the feed after this page, also if the page is empty. Store the cursor together " +
        "with the result of processing the events, and pass it as `after` to get the next page.",
    }),
    hasMore: t.exposeBoolean("hasMore", {
      description:
        "Whether more events may already follow this page. If false, the page ends at the present end of " +
        "the feed.",
    }),
  }),
});

export const computeFeedCost = defineGraphqlFieldCostByArguments(
  { sizedBy: ["first"], factor: "`first`" },
  ({ first }: { readonly first?: number | null | undefined }) => ({
    field: 1,
    multiplier: Math.max(1, first ?? feedPageSizeMax),
  }),
);

export const eventFeedArgs = builder.args((t) => ({
  ...listMerchantArgs,
  after: t.string({
    description:
      "The `cursor` of the page after which the reading continues. A cursor stays valid as long as no " +
      `event after it is deleted; events are deleted after ${eventRetentionDays} days. A cursor that is no ` +
      "longer valid is refused with the detail code `expired`.",
  }),
  start: t.field({
    type: FeedStartEnum,
    defaultValue: "oldest",
    description: "Where in the feed the reading begins if `after` is left out.",
  }),
  first: t.int({
    defaultValue: feedPageSizeMax,
    description: `The highest number of events on a page, 1 to ${feedPageSizeMax}.`,
  }),
  types: t.stringList({
    description: "Returns only events of these types, names of the event catalogue such as `order.placed`.",
  }),
}));

interface FeedArgs {
  readonly merchantId?: string | null | undefined;
  readonly after?: string | null | undefined;
  readonly start?: "oldest" | "end" | null | undefined;
  readonly first?: number | null | undefined;
  readonly types?: readonly string[] | null | undefined;
}

/**
 * Returns the cursor at which the event feed begins for the given arguments; null for the oldest stored
 * event.
 */
export const resolveEventFeedStartCursor = async (
  { after, start }: FeedArgs,
  { db }: GraphqlContext,
): Promise<string | null> => after ?? (start === "end" ? getEventFeedEndCursor(db) : null);

export async function loadEventFeedPage(args: FeedArgs, context: GraphqlContext): Promise<EventFeedPage> {
  const limit = args.first ?? feedPageSizeMax;
  if (limit < 1 || limit > feedPageSizeMax)
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/first",
      code: limit < 1 ? "too_small" : "too_large",
      message: `"first" must be an integer from 1 to ${feedPageSizeMax}.`,
    });
  requireNoInputFieldErrors(
    (args.types ?? []).flatMap((type, index) =>
      getDisallowedValueErrors(`/types/${index}`, type, { allowed: eventTypeNames, noun: "event type" }),
    ),
  );
  return readEventFeed(context.db, {
    merchantId: getMerchantIdForListQuery(context, args.merchantId),
    types: args.types ?? null,
    after: await resolveEventFeedStartCursor(args, context),
    limit,
  });
}

builder.queryField("eventFeed", (t) =>
  t.field({
    type: EventFeedPageRef,
    description:
      "Reads events in an order in which a reader misses no event: an event is never added before an event " +
      "that a reader has already got, and events about the same object come in the order of the changes. " +
      "An event appears in the feed within a second after its transaction has committed. The subscription " +
      "`eventFeedChanged` waits for new events.",
    authScopes: { callers: merchantReaders },
    complexity: computeFeedCost,
    args: eventFeedArgs,
    resolve: (_root, args, context) => loadEventFeedPage(args, context),
  }),
);
