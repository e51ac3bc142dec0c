/** What every report is asked with, and the time that it says it is about. */
import { z } from "zod";
import { findReportMarkets, type ReportScope } from "#commerce/reports/report-scope.ts";
import type { Reader } from "#database/transaction.ts";
import {
  type Bucket,
  bucketsOf,
  daysBetween,
  hourlyDaysMax,
  type Interval,
  isDay,
  type Period,
  periodDaysMax,
  toPeriod,
} from "#foundation/period.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { type GraphContext, listedOwner } from "#graph/context.ts";

export const ReportIntervalEnum = defineEnum<Interval>("ReportInterval", {
  description: "What a report's time is cut into.",
  values: {
    hour: `Hours, each day's counted from its beginning: a day on which the clocks change has 23 or 25, where they change by half an hour 24 or 25, of which the last is shorter. For ${hourlyDaysMax} days at most.`,
    day: "Local days.",
    week: "Weeks from Monday; the first and the last are cut off where the report's time begins and ends.",
    month:
      "Months of the calendar; the first and the last are cut off where the report's time begins and ends.",
  },
});

/** For every report. */
export const reportArgs = builder.args((t) => ({
  from: t.field({ type: "Date", required: true, description: "The first day, in the years 2000 to 2199." }),
  to: t.field({
    type: "Date",
    required: true,
    description: `The last day, included: from and to may be ${periodDaysMax} days, both counted.`,
  }),
  merchantId: t.id({
    description:
      "Whose, `mer_…`; without it the token's own merchant, or with a token of the platform all of them.",
  }),
}));

export const timeZoneArgs = builder.args((t) => ({
  timeZone: t.string({
    description:
      "The time zone in which days begin, a name of the IANA database, `Europe/Berlin`; UTC unless told.",
  }),
}));

/** For reports over time. */
export const intervalArgs = builder.args((t) => ({
  interval: t.field({
    type: ReportIntervalEnum,
    required: true,
    defaultValue: "day",
    description: "What the time is cut into.",
  }),
}));

/**
 * As they were sent: variables are not checked yet when the cost is found, and enums of theirs are still
 * names.
 */
interface UncheckedPeriodArgs {
  readonly from: unknown;
  readonly to: unknown;
  readonly interval: unknown;
}

const daysPerBucket: ReadonlyMap<string, number> = new Map([
  ["hour", 1 / 25],
  ["day", 1],
  ["week", 7],
  ["month", 28],
]);

/**
 * Of every report, so that a query has fewer than twenty of them: each is one reading of what may be two
 * years of orders.
 */
export const reportBaseCost = 1_000;

/** What stands below a report is asked of every bucket. What is refused later costs what a day does. */
export function bucketedReportCost({ from, to, interval }: UncheckedPeriodArgs): {
  field: number;
  multiplier: number;
} {
  const hasDays = typeof from === "string" && typeof to === "string" && isDay(from) && isDay(to);
  const days = hasDays ? Math.min(Math.max(daysBetween(from, to), 1), periodDaysMax) : 1;
  const perBucket = daysPerBucket.get(String(interval).toLowerCase()) ?? 1;
  return { field: reportBaseCost, multiplier: Math.ceil(days / perBucket) + 1 };
}

/** Figures of the whole time are counted with the buckets'. */
export const reportTotalsCost = { field: 1, multiplier: 0 };
/** The buckets were counted with the report itself. */
export const reportListCost = { field: 1, multiplier: 1 };

interface ReportPeriodInput {
  readonly from: string;
  readonly to: string;
  readonly timeZone?: string | null | undefined;
  readonly interval?: Interval | undefined;
}

export function parseReportPeriod(
  { from, to, timeZone, interval }: ReportPeriodInput,
  otherwise = "UTC",
): Period {
  return toPeriod({ from, to, timeZone: timeZone ?? otherwise, interval });
}

export const ReportPeriodRef = builder.objectRef<Period>("ReportPeriod").implement({
  description: "The time that a report is about.",
  fields: (t) => ({
    from: t.expose("from", { type: "Date", description: "The first day." }),
    to: t.expose("to", { type: "Date", description: "The last day, which is part of it." }),
    timeZone: t.exposeString("timeZone", {
      description: "The time zone in which the days begin, a name of the IANA database.",
    }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "When the first day begins." }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      description: "When the last day is over; not part of it any more.",
    }),
  }),
});

export const ReportBucketRef = builder.interfaceRef<Bucket>("ReportBucket").implement({
  description:
    "A piece of a report's time. There is one for each hour, day, week or month, also where nothing happened.",
  fields: (t) => ({
    day: t.expose("day", { type: "Date", description: "The local day on which it begins." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "When it begins." }),
    endsAt: t.expose("endsAt", { type: "DateTime", description: "When the next one begins." }),
  }),
});

/** For reports of the shop. */
export const marketArgs = builder.args((t) => ({
  market: t.string({
    description: "Only this market: its id, `mkt_…`, or its handle. One that there is not is an error.",
    validate: z.string().max(96),
  }),
  timeZone: t.string({
    description:
      "The time zone in which days begin, a name of the IANA database, `Europe/Berlin`; unless told, that of the market named, else UTC.",
  }),
}));

const listLengthMax = 100;

/** For reports with lists. */
export const listLengthArgs = builder.args((t) => ({
  first: t.int({
    required: true,
    defaultValue: 20,
    description: `How many are listed, 1 to ${listLengthMax}.`,
    validate: z.int().min(1).max(listLengthMax),
  }),
}));

/** What stands below a list is asked of each of its places. */
export const listReportCost = ({
  first,
}: {
  readonly first: unknown;
}): { field: number; multiplier: number } => ({
  field: reportBaseCost,
  multiplier: typeof first === "number" && first >= 1 ? Math.min(first, listLengthMax) : 1,
});

interface ShopReportInput extends ReportPeriodInput {
  readonly merchantId?: string | null | undefined;
  readonly market?: string | null | undefined;
}

/** What a report of the shop is given. */
export interface ShopReportScope extends ReportScope {
  /** Those of its markets. */
  readonly currencies: readonly string[];
  readonly buckets: readonly Bucket[];
}

/** What is asked wrongly is refused before anything is read; the time zone is known once the market is. */
export function readShopReport<Result>(
  context: GraphContext,
  args: ShopReportInput,
  read: (reader: Reader, scope: ShopReportScope) => Promise<Result>,
): Promise<Result & { readonly period: Period }> {
  parseReportPeriod(args);
  const merchantId = listedOwner(context, args.merchantId);
  return context.services.readOnly(async (reader) => {
    const markets = await findReportMarkets(reader, { merchantId, market: args.market ?? null });
    const period = parseReportPeriod(args, markets.timeZone ?? undefined);
    const buckets = args.interval === undefined ? [] : bucketsOf(period, args.interval);
    const scope = { merchantId, marketIds: markets.ids, currencies: markets.currencies, period, buckets };
    return { ...(await read(reader, scope)), period };
  });
}
