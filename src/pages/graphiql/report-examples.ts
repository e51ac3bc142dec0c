/** Reports that GraphiQL opens with. Every one of them runs on the demo data, with an analyst's token. */
import type { ExampleQuery } from "./example-queries.ts";

const dayMs = 86_400_000;

const dayAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** The last thirty days, in which the demo's orders lie: as of when somebody looks. */
const lately = (): string => `{
  "from": "${dayAgo(30)}",
  "to": "${dayAgo(0)}"
}`;

export const reportExamples: readonly ExampleQuery[] = [
  {
    title: "Sales by day",
    query: `# What was sold in the last days. An order counts when it was placed; net is
# what its buyer still owes or has paid. Each currency stands for itself.
# With market: "de" it is that market alone, by the days of its time zone.
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
    title: "Funnel",
    query: `# How far carts come, and why checkouts end without an order.
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
    query: `# What buyers search for most, and what they do not find. Kept is only what three
# clients searched for on a day.
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
    query: `# What promotions took off, and what the orders that had them came to.
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
    query: `# What comes back, and why.
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
    query: `# How webhooks arrive: failures by their reason, and durations in milliseconds.
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
