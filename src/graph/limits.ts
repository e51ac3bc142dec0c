/**
 * The limits of GraphQL documents that clients send. A field costs one point, and a list multiplies the cost
 * of the fields below it by its page size.
 */
import type { Viewer } from "#access/viewer.ts";

/** Maximum number of levels of nested fields in a document. */
export const queryDepthMax = 12;
/** Maximum number of aliases in one document. */
export const queryAliasesMax = 200;
/** Maximum number of directives in one document. */
export const queryDirectivesMax = 5;
/** Maximum number of lexical tokens in one document. */
export const queryTokensMax = 1000;
/** Maximum number of validation errors in one answer. */
export const validationErrorsMax = 20;
/** The maximum time, in milliseconds, that a query may run. Mutations have no such limit. */
export const queryMsMax = 10_000;

/**
 * The cost of reading an object that consists of rows of many tables, in points, in addition to the cost of
 * the selected fields: a cart, an order or a part of it, a product, a checkout session. The service reads the
 * whole object even if a query selects only its id, which takes 0.3 to 0.6 ms of CPU time.
 */
export const aggregateCost = 10;

/**
 * The cost of a mutation, in points, in addition to the cost of the selected fields. A mutation takes about 5
 * ms of CPU time, for its transaction, its events and its audit entry.
 */
export const mutationCost = 100;

/** The largest number of rows of each list in a report that is sent as a CSV file. */
export const reportFileRowsMax = 10_000;

/**
 * The maximum cost in points that a caller may spend in one GraphQL document. The roles `storefront` and
 * `browser` have a lower limit.
 */
export const queryCostMax = 20_000;

/**
 * The cost in points of one report, in addition to the cost of its fields. It is so high that a query can
 * have fewer than twenty reports, because each report may read two years of orders.
 */
export const reportBaseCost = 1_000;

interface CostLimitContext {
  readonly viewer: Viewer;
  readonly isReportFile: boolean;
}

/**
 * Returns the cost that the viewer's role may spend in one document. Callers of the REST API and of reports
 * as CSV files have no limit, because they run only documents of this service.
 */
export function getGraphqlQueryCostLimit({ viewer, isReportFile }: CostLimitContext): number {
  if (viewer.kind !== "internal" || isReportFile) return Number.POSITIVE_INFINITY;
  return viewer.role === "storefront" || viewer.role === "browser" ? 4_000 : queryCostMax;
}

/** What is left of the caller's quota of cost, in points, as `extensions.cost.throttleStatus` shows it. */
export interface GraphqlThrottleStatus {
  /** The points that the caller may spend in one time window of a minute. */
  readonly maximumAvailable: number;
  /** The points that are left until the time window ends. */
  readonly currentlyAvailable: number;
  /** The number of seconds until the time window ends and all points are available again. */
  readonly resetSeconds: number;
}

export interface GraphqlCostPayment {
  readonly throttleStatus: GraphqlThrottleStatus;
  /** The failure of a document that must not run, because nothing was left; otherwise undefined. */
  readonly refusal: Error | undefined;
}

/** Subtracts points from the caller's quotas of cost. Returns undefined if rate limits are switched off. */
export type GraphqlCostSpender = (
  points: number,
) => Promise<GraphqlCostPayment | undefined> | GraphqlCostPayment | undefined;
