/** GraphQL documents and result types of the reports page. The amounts in the results are in minor units. */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";

/**
 * The period of a report: its first and last day, as YYYY-MM-DD in the report's time zone; both days are
 * included.
 */
export interface ConsoleReportPeriod {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
}

export type ConsoleReportInterval = "DAY" | "WEEK" | "MONTH";

type BucketVariables = ConsoleReportPeriod & { readonly interval: ConsoleReportInterval };

const days = "$from: Date!, $to: Date!, $timeZone: String!";
const period = "from: $from, to: $to, timeZone: $timeZone";

export interface ConsoleSalesReportAmounts {
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly units: number;
  readonly grossMinor: number;
  readonly reducedMinor: number;
  readonly netMinor: number;
  readonly refundedMinor: number;
  readonly discountMinor: number;
  readonly shippingMinor: number;
  readonly taxMinor: number;
  readonly averageOrderMinor: number | null;
}

export interface ConsoleSalesReportOfCurrency {
  readonly currency: string;
  readonly totals: ConsoleSalesReportAmounts;
  readonly buckets: readonly (ConsoleSalesReportAmounts & {
    readonly startsAt: string;
    readonly day: string;
  })[];
}

const salesFields = `currency orders canceledOrders units grossMinor reducedMinor netMinor refundedMinor
  discountMinor shippingMinor taxMinor averageOrderMinor`;

export const salesDocument = createConsoleGraphqlDocument<
  { salesReport: { currencies: readonly ConsoleSalesReportOfCurrency[] } },
  BucketVariables
>(`
  query ConsoleSalesReport(${days}, $interval: ReportInterval!) {
    salesReport(${period}, interval: $interval) {
      currencies { currency totals { ${salesFields} } buckets { day startsAt ${salesFields} } }
    }
  }
`);

export interface ConsoleProductReportRow {
  readonly key: string;
  readonly title: string | null;
  readonly currency: string;
  readonly units: number;
  readonly canceledUnits: number;
  readonly returnedUnits: number;
  /** The share of units that were returned, from 0 to 1; null if all units were canceled. */
  readonly returnRate: number | null;
  readonly grossMinor: number;
  readonly netMinor: number;
}

export const productsDocument = createConsoleGraphqlDocument<
  { productReport: { rows: readonly ConsoleProductReportRow[] } },
  ConsoleReportPeriod
>(`
  query ConsoleProductReport(${days}) {
    productReport(${period}, first: 50) {
      rows { key title currency units canceledUnits returnedUnits returnRate grossMinor netMinor }
    }
  }
`);

export interface ConsoleFunnelReportCounts {
  readonly carts: number;
  readonly checkouts: number;
  readonly submittedCheckouts: number;
  readonly orders: number;
  readonly conversionRate: number | null;
}

export type ConsoleFunnelReportBucket = ConsoleFunnelReportCounts & {
  readonly startsAt: string;
  readonly day: string;
};

const funnelFields = "carts checkouts submittedCheckouts orders conversionRate";

export const funnelDocument = createConsoleGraphqlDocument<
  { funnelReport: { totals: ConsoleFunnelReportCounts; buckets: readonly ConsoleFunnelReportBucket[] } },
  BucketVariables
>(`
  query ConsoleFunnelReport(${days}, $interval: ReportInterval!) {
    funnelReport(${period}, interval: $interval) {
      totals { ${funnelFields} } buckets { day startsAt ${funnelFields} }
    }
  }
`);

export interface ConsolePromotionReportRow {
  readonly promotionId: string;
  readonly currency: string;
  readonly orders: number;
  readonly canceledOrders: number;
  readonly discountMinor: number;
  readonly grossMinor: number;
  readonly netMinor: number;
}

export const promotionsDocument = createConsoleGraphqlDocument<
  { promotionReport: { promotions: readonly ConsolePromotionReportRow[] } },
  ConsoleReportPeriod
>(`
  query ConsolePromotionReport(${days}) {
    promotionReport(${period}, first: 100) {
      promotions { promotionId currency orders canceledOrders discountMinor grossMinor netMinor }
    }
  }
`);

export interface ConsoleReturnReportRow {
  readonly kind: string;
  readonly reason: string;
  readonly currency: string;
  readonly returns: number;
  readonly units: number;
  readonly declined: number;
  readonly closed: number;
  readonly promisedMinor: number;
  readonly feeMinor: number;
  readonly refundedMinor: number;
}

export const returnsDocument = createConsoleGraphqlDocument<
  { returnReport: { reasons: readonly ConsoleReturnReportRow[] } },
  ConsoleReportPeriod
>(`
  query ConsoleReturnReport(${days}) {
    returnReport(${period}) {
      reasons { kind reason currency returns units declined closed promisedMinor feeMinor refundedMinor }
    }
  }
`);

export interface ConsoleSearchReportRow {
  readonly query: string;
  readonly searches: number;
  readonly empty: number;
}

export const searchesDocument = createConsoleGraphqlDocument<
  {
    searchReport: {
      top: readonly ConsoleSearchReportRow[];
      withoutResults: readonly ConsoleSearchReportRow[];
    };
  },
  ConsoleReportPeriod
>(`
  query ConsoleSearchReport(${days}) {
    searchReport(${period}, first: 50) {
      top { query searches empty } withoutResults { query searches empty }
    }
  }
`);
