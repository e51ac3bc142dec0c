/** Example reports of GraphiQL. All of them run on the demo data with an analyst's token. */
import type { ExampleQuery } from "./example-queries.ts";

const dayMs = 86_400_000;

const dayAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** Variables for the last 30 days, which contain the demo's orders. Computed when the page is rendered. */
const lately = (): string => `{
  "from": "${dayAgo(30)}",
  "to": "${dayAgo(0)}"
}`;

export const reportExamples: readonly ExampleQuery[] = [
  {
    title: "Sales by day",
    query: `# Sales of the last 30 days by the day on which the order was placed. Net is what
# the buyer has paid or still owes. Each currency has its own totals. Add
# market: "de" for that market only, with days of the market's time zone.
query Sales($from: Date!, $to: Date!) {
  salesReport(from: $from, to: $to, interval: DAY, timeZone: "Europe/Berlin") {
    period { startsAt endsAt timeZone }
    currencies {
      totals { currency orders canceledOrders units grossMinor netMinor refundedMinor averageOrderMinor }
      buckets { day orders grossMinor netMinor }
    }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Top ten products",
    query: `# The ten products with the highest net sales in each currency, in the last 30 days.
# Other rows: groupBy: VARIANT, CATEGORY, COUNTRY or MARKET. Other orders: sort: UNITS,
# GROSS, RETURNED_UNITS or RETURN_RATE.
query TopProducts($from: Date!, $to: Date!) {
  productReport(from: $from, to: $to, groupBy: PRODUCT, sort: NET, first: 10) {
    totals { currency units canceledUnits returnedUnits returnRate grossMinor netMinor }
    rows { title currency units returnedUnits returnRate grossMinor netMinor }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Products that come back most often",
    query: `# The variants with the highest return rate of the last 30 days.
query ReturnRates($from: Date!, $to: Date!) {
  productReport(from: $from, to: $to, groupBy: VARIANT, sort: RETURN_RATE, first: 20) {
    rows { sku title currency units returnedUnits returnRate netMinor }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Stock running out",
    query: `# Variants whose free units last for at most two weeks at the sales of the last 30 days.
query RunningOut {
  inventoryReport(days: 30, coverDaysMax: 14, first: 50) {
    totals { variants outOfStockVariants onHandUnits reservedUnits }
    rows { sku title freeUnits soldUnits coverDays }
  }
}`,
  },
  {
    title: "Funnel",
    query: `# How many carts reach checkout and become orders, and why checkouts end without an order.
query Funnel($from: Date!, $to: Date!) {
  funnelReport(from: $from, to: $to, interval: WEEK) {
    totals {
      carts
      checkouts
      submittedCheckouts
      orders
      conversionRate
      outcomes { status reason sessions }
    }
    buckets { day carts checkouts orders }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Top and zero-result searches",
    query: `# The most frequent searches, and searches without results. Only searches that at
# least three clients sent on the same day are stored.
query Searches($from: Date!, $to: Date!) {
  searchReport(from: $from, to: $to, first: 20) {
    totals { queries searches empty }
    top { query searches empty }
    withoutResults { query empty }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Promotions",
    query: `# Discounts by promotion, and the totals of the orders that used them.
query Promotions($from: Date!, $to: Date!) {
  promotionReport(from: $from, to: $to) {
    totals { currency orders discountMinor grossMinor netMinor }
    promotions { promotionId currency orders canceledOrders discountMinor netMinor }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Returns",
    query: `# Returns by reason, with units and refunds.
query Returns($from: Date!, $to: Date!) {
  returnReport(from: $from, to: $to) {
    totals { currency returns units closed declined promisedMinor refundedMinor }
    reasons { kind reason currency returns units promisedMinor refundedMinor }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Webhook health",
    query: `# Webhook delivery attempts: failures by error code, and durations in milliseconds.
query WebhookHealth($from: Date!, $to: Date!) {
  webhookHealthReport(from: $from, to: $to, interval: DAY) {
    totals {
      attempts
      successRate
      p50DurationMs
      p95DurationMs
      failuresByCode { code count }
    }
    buckets { day attempts failures p95DurationMs }
    endpoints { endpoint { url status } attempts failures p95DurationMs }
  }
}`,
    get variables() {
      return lately();
    },
  },
];
