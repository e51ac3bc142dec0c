/** What analysts ask beside the reports: single things, without the buyers' personal data. */
import type { ExampleQuery } from "./example-queries.ts";

export const analystExamples: readonly ExampleQuery[] = [
  {
    title: "Promotions in force",
    query: `# What is being given away: by code or by itself, how often each was used, and until when.
query PromotionsInForce {
  promotions(status: ACTIVE, first: 20) {
    totalCount
    edges {
      node {
        titles
        trigger
        kind
        basisPoints
        amount { amountMinor currency }
        used
        usageLimit
        startsAt
        endsAt
        codes(first: 5) { totalCount edges { node { code used usageLimit } } }
      }
    }
  }
}`,
  },
  {
    title: "Returns of orders",
    query: `# Which orders came back, why, and what was given back for them.
query ReturnsOfOrders {
  orders(last: 50) {
    edges {
      node {
        number
        returnStatus
        returns { status kind reason requestedAt closedAt refund { amountMinor currency } lines { lineId quantity accepted restocked } }
      }
    }
  }
}`,
  },
];
