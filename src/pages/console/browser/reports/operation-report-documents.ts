/** GraphQL documents and result types of the reports on refunds, buyers, shipping and stock. */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";
import type { ConsoleReportPeriod } from "./report-documents.ts";

const days = "$from: Date!, $to: Date!, $timeZone: String!";
const period = "from: $from, to: $to, timeZone: $timeZone";

export interface ConsoleRefundReportRow {
  readonly reason: string;
  readonly currency: string;
  readonly refunds: number;
  readonly refundedMinor: number;
  readonly pendingMinor: number;
  readonly failedMinor: number;
}

export const refundsDocument = createConsoleGraphqlDocument<
  { refundReport: { reasons: readonly ConsoleRefundReportRow[] } },
  ConsoleReportPeriod
>(`
  query ConsoleRefundReport(${days}) {
    refundReport(${period}) {
      reasons { reason currency refunds refundedMinor pendingMinor failedMinor }
    }
  }
`);

interface BuyerTotals {
  readonly buyers: number;
  readonly newBuyers: number;
  readonly repeatBuyers: number;
  /** The share of buyers with several orders, from 0 to 1; null if there are no buyers. */
  readonly repeatRate: number | null;
  readonly orders: number;
  readonly guestOrders: number;
}

interface BuyerMonth {
  /** The first day of the month of this entry, as YYYY-MM-DD. */
  readonly month: string;
  readonly buyers: number;
  readonly orders: number;
}

export interface ConsoleBuyerCohort extends BuyerMonth {
  readonly later: readonly BuyerMonth[];
}

export interface ConsoleBuyerCohortMonthRow extends BuyerMonth {
  readonly firstMonth: string;
}

/**
 * Converts cohorts to table rows. A cohort is the group of buyers whose first orders were in the same month.
 * It gets a row for the first month, and a row for each month with further orders of these buyers.
 */
export const toBuyerCohortMonthRows = (
  cohorts: readonly ConsoleBuyerCohort[],
): readonly ConsoleBuyerCohortMonthRow[] =>
  cohorts.flatMap(({ later, ...first }) =>
    [first, ...later].map(({ month, buyers, orders }) => ({
      firstMonth: first.month,
      month,
      buyers,
      orders,
    })),
  );

export const buyersDocument = createConsoleGraphqlDocument<
  { buyerReport: { totals: BuyerTotals; cohorts: readonly ConsoleBuyerCohort[] } },
  ConsoleReportPeriod
>(`
  query ConsoleBuyerReport(${days}) {
    buyerReport(${period}) {
      totals { buyers newBuyers repeatBuyers repeatRate orders guestOrders }
      cohorts { month buyers orders later { month buyers orders } }
    }
  }
`);

export interface ConsoleCarrierReportRow {
  readonly carrier: string | null;
  readonly parcels: number;
  readonly delivered: number;
  readonly failed: number;
  readonly late: number;
  readonly medianDeliveryHours: number | null;
}

export interface ConsoleUnshippedOrderRow {
  readonly orderId: string;
  readonly number: string;
  readonly status: string;
  readonly placedAt: string;
  readonly ageDays: number;
  readonly units: number;
}

export const fulfillmentsDocument = createConsoleGraphqlDocument<
  {
    fulfillmentReport: {
      unshipped: { oldest: readonly ConsoleUnshippedOrderRow[] };
      carriers: readonly ConsoleCarrierReportRow[];
    };
  },
  ConsoleReportPeriod
>(`
  query ConsoleFulfillmentReport(${days}) {
    fulfillmentReport(${period}, first: 50) {
      unshipped { oldest { orderId number status placedAt ageDays units } }
      carriers { carrier parcels delivered failed late medianDeliveryHours }
    }
  }
`);

export interface ConsoleStockReportRow {
  readonly variantId: string;
  readonly sku: string;
  readonly title: string | null;
  readonly onHandUnits: number;
  readonly reservedUnits: number;
  readonly freeUnits: number;
  readonly soldUnits: number;
  readonly coverDays: number;
}

interface StockTotals {
  readonly variants: number;
  readonly outOfStockVariants: number;
  readonly onHandUnits: number;
  readonly reservedUnits: number;
}

export const inventoryDocument = createConsoleGraphqlDocument<
  { inventoryReport: { totals: StockTotals; rows: readonly ConsoleStockReportRow[] } },
  { readonly days: number }
>(`
  query ConsoleInventoryReport($days: Int!) {
    inventoryReport(days: $days, first: 50) {
      totals { variants outOfStockVariants onHandUnits reservedUnits }
      rows { variantId sku title onHandUnits reservedUnits freeUnits soldUnits coverDays }
    }
  }
`);
