/**
 * The example queries of GraphiQL that read reports. All of them work with the demo data and the token of an
 * analyst.
 */
import type { ExampleGraphqlQuery } from "./example-queries.ts";

const dayMs = 86_400_000;

const dayAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/**
 * The period of the example reports: the last 30 days, because the demo's orders are from this time. The
 * period is computed whenever the page is rendered.
 */
const lately = (): string => `{
  "from": "${dayAgo(30)}",
  "to": "${dayAgo(0)}"
}`;

export const reportExamples: readonly ExampleGraphqlQuery[] = [
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
    title: "Revenue by country and week",
    query: `# Net sales to each country, by week. Each currency is separate.
query RevenueByCountry($from: Date!, $to: Date!) {
  salesReport(from: $from, to: $to, interval: WEEK) {
    countries {
      country
      currency
      totals { orders grossMinor netMinor }
      buckets { day orders netMinor }
    }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Average order value",
    query: `# The average order by week: of all orders, and of what remains after cancellations and returns.
query AverageOrder($from: Date!, $to: Date!) {
  salesReport(from: $from, to: $to, interval: WEEK) {
    currencies {
      currency
      totals { orders averageOrderMinor averageNetOrderMinor }
      buckets { day orders averageOrderMinor averageNetOrderMinor }
    }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Tax by country",
    query: `# The tax in the orders to each country: when they were placed, and in what remains of them.
query TaxByCountry($from: Date!, $to: Date!) {
  salesReport(from: $from, to: $to, interval: MONTH) {
    countries(first: 50) { country currency totals { netMinor taxMinor netTaxMinor } }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Shipping revenue",
    query: `# What buyers were charged for shipping, before discounts on shipping.
query ShippingRevenue($from: Date!, $to: Date!) {
  salesReport(from: $from, to: $to, interval: WEEK) {
    currencies { totals { currency orders shippingMinor grossMinor } buckets { day shippingMinor } }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Share of discounts",
    query: `# The part of all prices that promotions took off, by week.
query DiscountShare($from: Date!, $to: Date!) {
  salesReport(from: $from, to: $to, interval: WEEK) {
    currencies {
      totals { currency discountMinor netDiscountMinor discountShare }
      buckets { day discountMinor discountShare }
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
    query: `# What each promotion cost in discounts, and the sales of the orders that used it.
query Promotions($from: Date!, $to: Date!) {
  promotionReport(from: $from, to: $to) {
    totals { currency orders discountMinor grossMinor netMinor }
    promotions { title promotionId currency orders canceledOrders discountMinor grossMinor netMinor }
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
    title: "Refunds by reason",
    query: `# Refunds that were requested in the last 30 days, by reason.
query Refunds($from: Date!, $to: Date!) {
  refundReport(from: $from, to: $to) {
    totals { currency refunds refundedMinor pendingMinor failedMinor }
    reasons { reason currency refunds refundedMinor pendingMinor failedMinor }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Repeat buyers",
    query: `# New and repeat buyers, and in which months the buyers of a month came back.
query RepeatBuyers($from: Date!, $to: Date!) {
  buyerReport(from: $from, to: $to) {
    totals { buyers newBuyers repeatBuyers repeatRate orders guestOrders }
    cohorts { month buyers later { month buyers orders } }
  }
}`,
    get variables() {
      return lately();
    },
  },
  {
    title: "Stuck orders",
    query: `# Orders that wait for shipment, the oldest first, and how fast carriers deliver.
query StuckOrders($from: Date!, $to: Date!) {
  fulfillmentReport(from: $from, to: $to, first: 20) {
    unshipped {
      ages { fromDays toDays orders units }
      oldest { number status placedAt ageDays units }
    }
    carriers { carrier parcels delivered failed late medianDeliveryHours }
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
