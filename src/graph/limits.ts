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
 * The cost in points of reading an object with rows of many tables, for example a cart, an order or a
 * product. The service reads the whole object, in 0.3 to 0.6 ms of CPU time, even for a query that selects
 * only its id. The cost of the selected fields is added.
 */
export const aggregateCost = 10;

/**
 * The cost of a mutation in points, without its selected fields. A mutation takes about 5 ms of CPU time for
 * its transaction, events and audit entry.
 */
export const mutationCost = 100;

/** The maximum number of rows per list in a report that is sent as a CSV file. */
export const reportFileRowsMax = 10_000;

/**
 * The maximum cost in points that a caller may spend in one GraphQL document. The roles `storefront` and
 * `browser` have a lower limit.
 */
export const queryCostMax = 20_000;

/**
 * The cost of one report in points, without its fields. The high cost limits a query to fewer than twenty
 * reports, because each report may read two years of orders.
 */
export const reportBaseCost = 1_000;

interface CostLimitContext {
  readonly viewer: Viewer;
  readonly isReportFile: boolean;
}

/**
 * Returns the maximum cost in points of one document for the viewer's role. REST requests and CSV reports
 * have no limit, because they run only documents of this service.
 */
export function getGraphqlQueryCostLimit({ viewer, isReportFile }: CostLimitContext): number {
  if (viewer.kind !== "internal" || isReportFile) return Number.POSITIVE_INFINITY;
  return viewer.role === "storefront" || viewer.role === "browser" ? 4_000 : queryCostMax;
}

/** The remaining points of the caller's cost quota, in the form of `extensions.cost.throttleStatus`. */
export interface GraphqlThrottleStatus {
  /** The points that the caller may spend in one time window of a minute. */
  readonly maximumAvailable: number;
  /** The points that are left until the time window ends. */
  readonly currentlyAvailable: number;
  /** The number of seconds until the time window ends and all points are available again. */
  readonly resetSeconds: number;
}

export interface GraphqlCostChargeResult {
  readonly throttleStatus: GraphqlThrottleStatus;
  /**
   * The failure with which the document must be refused because the quota has no points left. Undefined if
   * the document may run.
   */
  readonly refusal: Error | undefined;
}

/** Subtracts points from the caller's quotas of cost. Returns undefined if rate limits are switched off. */
export type GraphqlCostCharger = (
  points: number,
) => Promise<GraphqlCostChargeResult | undefined> | GraphqlCostChargeResult | undefined;
