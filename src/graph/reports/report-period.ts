/**
 * Definitions that all reports share: the arguments for the period, the time buckets (for example days) and
 * the computation of the query cost.
 */
import { z } from "zod";
import { findMarketsCoveredByReport, type ReportScope } from "#commerce/reports/report-scope.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import {
  type PeriodBucket,
  dividePeriodIntoBuckets,
  countCalendarDaysInclusive,
  hourlyPeriodDaysMax,
  type PeriodBucketInterval,
  isCalendarDay,
  type Period,
  periodDaysMax,
  validateAndResolvePeriod,
} from "#foundation/period.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { createFailureWithDetail } from "#foundation/failure.ts";
import { reportBaseCost, reportFileRowsMax } from "#graph/limits.ts";
import { type GraphqlContext, getMerchantIdForListQuery } from "#graph/context.ts";
import { defineGraphqlFieldCostByArguments } from "#graph/field-costs.ts";

export const ReportIntervalEnum = defineGraphqlEnum<PeriodBucketInterval>("ReportInterval", {
  description: "The length of the time buckets, for example days, into which a report divides its period.",
  values: {
    hour:
      "Hours, counted from the start of each day in the report's time zone. A day on which the clock " +
      "changes by one hour has 23 or 25 buckets. If the clock changes by half an hour, the day has 24 or " +
      "25 buckets, and the last bucket is shorter than an hour. The period may have at most " +
      `${hourlyPeriodDaysMax} days.`,
    day: "Days in the report's time zone.",
    week:
      "Weeks, starting on Monday. The first and the last week are cut off at the start " +
      "and the end of the period.",
    month:
      "Calendar months. The first and the last month are cut off at the start and the end " +
      "of the period.",
  },
});

/** The arguments that every report has: first day, last day and merchant. */
export const reportArgs = builder.args((t) => ({
  from: t.field({
    type: "Date",
    required: true,
    description: "The first day of the report's period, in the years 2000 to 2199.",
  }),
  to: t.field({
    type: "Date",
    required: true,
    description:
      `The last day of the report's period, included. The period may have at most ${periodDaysMax} ` +
      "days.",
  }),
  merchantId: t.id({
    description:
      "The id of the merchant, `mer_…`. By default the merchant of the caller's token; a token of the " +
      "platform gets a report on all merchants.",
  }),
}));

/** The time zone argument of reports that have no market argument. */
export const timeZoneArgs = builder.args((t) => ({
  timeZone: t.string({
    description: "The IANA time zone in which days begin, such as `Europe/Berlin`. Default UTC.",
  }),
}));

/** The argument that sets the length of a report's buckets, for example one day. */
export const intervalArgs = builder.args((t) => ({
  interval: t.field({
    type: ReportIntervalEnum,
    required: true,
    defaultValue: "day",
    description: "The length of the buckets into which the period is divided.",
  }),
}));

/**
 * The unchecked arguments for the period of a report. Their types are unknown, because the query cost is
 * computed before the variables are checked and the names of enum values are converted.
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
 * Computes the cost of a report with buckets in points: the cost of the selected fields, multiplied by the
 * number of buckets plus one. A period with malformed days counts as one day here; the report itself is
 * refused later.
 */
export const computeBucketedReportCost = defineGraphqlFieldCostByArguments(
  { sizedBy: ["from", "to", "interval"], factor: "one more than the number of buckets of the period" },
  ({ from, to, interval }: UncheckedPeriodArgs) => {
    const hasDays =
      typeof from === "string" && typeof to === "string" && isCalendarDay(from) && isCalendarDay(to);
    const days = hasDays ? Math.min(Math.max(countCalendarDaysInclusive(from, to), 1), periodDaysMax) : 1;
    const perBucket = daysPerBucket.get(String(interval).toLowerCase()) ?? 1;
    return { field: reportBaseCost, multiplier: Math.ceil(days / perBucket) + 1 };
  },
);

/**
 * The cost of a report's field for totals. The multiplier 0 makes the fields below it free, because the cost
 * of the report already includes them.
 */
export const reportTotalsCost = { field: 1, multiplier: 0 };
/**
 * The cost of a list field in a report. The multiplier is 1, because the cost of the whole report is already
 * multiplied by the number of list entries or buckets.
 */
export const reportListCost = { field: 1, multiplier: 1 };

interface ReportPeriodInput {
  readonly from: string;
  readonly to: string;
  readonly timeZone?: string | null | undefined;
  readonly interval?: PeriodBucketInterval | undefined;
}

/** Parses the arguments for the period of a report. Throws `invalid_field` if they are invalid. */
export function parseReportPeriod(
  { from, to, timeZone, interval }: ReportPeriodInput,
  otherwise = "UTC",
): Period {
  return validateAndResolvePeriod({ from, to, timeZone: timeZone ?? otherwise, interval });
}

export const ReportPeriodRef = builder.objectRef<Period>("ReportPeriod").implement({
  description: "The period of a report.",
  fields: (t) => ({
    from: t.expose("from", { type: "Date", description: "The first day of the period." }),
    to: t.expose("to", { type: "Date", description: "The last day of the period, included." }),
    timeZone: t.exposeString("timeZone", {
      description: "The IANA time zone in which the days of the period begin.",
    }),
    startsAt: t.expose("startsAt", {
      type: "DateTime",
      description: "The time at which the first day of the period begins.",
    }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      description:
        "The time at which the last day of the period ends; the period does not include this time.",
    }),
  }),
});

export const ReportBucketRef = builder.interfaceRef<PeriodBucket>("ReportBucket").implement({
  description:
    "One bucket of a report's period: an hour, day, week or month. Every bucket is " +
    "listed, including empty ones.",
  fields: (t) => ({
    day: t.expose("day", { type: "Date", description: "The local day on which the bucket begins." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "The time at which the bucket begins." }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      description: "The time at which the bucket ends and the next one begins.",
    }),
  }),
});

/** Arguments of reports that can be limited to one market: the market and the time zone. */
export const marketArgs = builder.args((t) => ({
  market: t.string({
    description:
      "Limits the report to one market, which is given by its id, `mkt_…`, or handle. If there is no such " +
      "market, the error is resource_not_found.",
    validate: z.string().max(96),
  }),
  timeZone: t.string({
    description:
      "The IANA time zone in which days begin, such as `Europe/Berlin`. Default: the time " +
      "zone of the given market, or UTC without a market.",
  }),
}));

const listLengthMax = 100;

/** Argument of reports that have lists: the maximum number of entries of each list. */
export const listLengthArgs = builder.args((t) => ({
  first: t.int({
    required: true,
    defaultValue: 20,
    description:
      `The maximum number of entries in each list, 1 to ${listLengthMax}. The report as a CSV file has up to ` +
      `${reportFileRowsMax} rows.`,
  }),
}));

/**
 * Throws `invalid_field` if a client requests longer lists than a report may have. For a CSV file, the limit
 * is one entry higher than the file's maximum. This additional entry shows the service that the file is
 * incomplete.
 */
export function requireReportListLengthWithinLimit({ isReportFile }: GraphqlContext, first: number): void {
  const max = isReportFile ? reportFileRowsMax + 1 : listLengthMax;
  if (first >= 1 && first <= max) return;
  throw createFailureWithDetail("invalid_field", {
    in: "body",
    field: "/first",
    code: first < 1 ? "too_small" : "too_large",
    message: `"first" must be an integer from 1 to ${max}.`,
  });
}

/**
 * Computes the cost of a report with lists: the cost of the selected fields is multiplied by the maximum
 * number of entries.
 */
export const computeListReportCost = defineGraphqlFieldCostByArguments(
  { sizedBy: ["first"], factor: "`first`" },
  ({ first }: { readonly first: unknown }) => ({
    field: reportBaseCost,
    multiplier: typeof first === "number" && first >= 1 ? Math.min(first, listLengthMax) : 1,
  }),
);

interface ShopReportInput extends ReportPeriodInput {
  readonly merchantId?: string | null | undefined;
  readonly market?: string | null | undefined;
}

/**
 * The scope of a report: its period, merchant and market, the currencies of the markets, and the time buckets
 * of the period.
 */
export interface ReportScopeWithCurrenciesAndBuckets extends ReportScope {
  /** The currencies of the markets that the report covers. */
  readonly currencies: readonly string[];
  readonly buckets: readonly PeriodBucket[];
}

/**
 * Reads a report in a read-only transaction. The arguments are parsed twice: first to refuse invalid
 * arguments before any read, and again after reading the markets, whose time zone the period uses.
 */
export function readReportInReadOnlyTransaction<Result>(
  context: GraphqlContext,
  args: ShopReportInput,
  read: (reader: DatabaseOrTransaction, scope: ReportScopeWithCurrenciesAndBuckets) => Promise<Result>,
): Promise<Result & { readonly period: Period }> {
  parseReportPeriod(args);
  const merchantId = getMerchantIdForListQuery(context, args.merchantId);
  return context.services.readOnly(async (reader) => {
    const markets = await findMarketsCoveredByReport(reader, { merchantId, market: args.market ?? null });
    const period = parseReportPeriod(args, markets.timeZone ?? undefined);
    const buckets = args.interval === undefined ? [] : dividePeriodIntoBuckets(period, args.interval);
    const scope = { merchantId, marketIds: markets.ids, currencies: markets.currencies, period, buckets };
    return { ...(await read(reader, scope)), period };
  });
}
