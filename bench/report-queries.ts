/** The GraphQL queries that `npm run bench:reports` measures: all reports, and each list with its filters. */
import { z } from "zod";
import { createListQueries, dayAgo, type FilterSubjects, type MeasuredQuery } from "./list-queries.ts";

/** Runs a GraphQL query and returns its data. */
export type AskGraphql = (query: string) => Promise<unknown>;

const periods = {
  "a year": `from: "${dayAgo(364)}", to: "${dayAgo(0)}"`,
  "30 days": `from: "${dayAgo(29)}", to: "${dayAgo(0)}"`,
};

const reports: Readonly<Record<string, (period: string) => string>> = {
  salesReport: (days) =>
    `salesReport(${days}, interval: MONTH) { currencies { totals { orders netMinor units } } }`,
  "salesReport by country": (days) =>
    `salesReport(${days}, interval: MONTH) { countries { country totals { orders netMinor taxMinor } } }`,
  "salesReport taxes": (days) =>
    `salesReport(${days}, interval: MONTH) { taxes(first: 100) { country orders taxMinor } }`,
  productReport: (days) => `productReport(${days}, first: 10) { rows { title units netMinor } }`,
  "productReport by variant": (days) =>
    `productReport(${days}, first: 10, groupBy: VARIANT, sort: RETURN_RATE) { rows { sku units returnRate } }`,
  "productReport by category": (days) =>
    `productReport(${days}, first: 10, groupBy: CATEGORY) { rows { title units netMinor } }`,
  "productReport by country": (days) =>
    `productReport(${days}, first: 10, groupBy: COUNTRY) { rows { key units netMinor } }`,
  "productReport by market": (days) =>
    `productReport(${days}, first: 10, groupBy: MARKET) { rows { title units netMinor } }`,
  promotionReport: (days) => `promotionReport(${days}) { promotions { title orders } }`,
  refundReport: (days) => `refundReport(${days}) { reasons { reason refunds refundedMinor } }`,
  returnReport: (days) => `returnReport(${days}) { reasons { reason returns } }`,
  buyerReport: (days) => `buyerReport(${days}) { totals { buyers repeatBuyers } cohorts { month buyers } }`,
  fulfillmentReport: (days) =>
    `fulfillmentReport(${days}) { unshipped { ages { orders } oldest { number } }
      carriers { carrier parcels } }`,
  funnelReport: (days) =>
    `funnelReport(${days}, interval: MONTH) { totals { carts orders outcomes { status sessions } } }`,
  searchReport: (days) =>
    `searchReport(${days}) { totals { searches queries } top { query searches } withoutResults { query } }`,
  webhookHealthReport: (days) =>
    `webhookHealthReport(${days}, interval: MONTH) { totals { attempts successRate p95DurationMs }
      endpoints { endpointId failures } }`,
};

/** Creates the measured queries: reports of a year and of 30 days, and lists. */
export const createMeasuredQueries = (subjects: FilterSubjects): readonly MeasuredQuery[] => [
  ...Object.entries(reports).flatMap(([name, write]) =>
    Object.entries(periods).map(([period, days]) => ({ name: `${name}, ${period}`, query: write(days) })),
  ),
  {
    name: "inventoryReport",
    query: "inventoryReport(first: 20) { totals { variants } rows { sku coverDays } }",
  },
  ...createListQueries(subjects),
];

/** The answer of lists of which only the first entry is read. */
const firstEntries = z.record(
  z.string(),
  z.object({ edges: z.array(z.object({ node: z.record(z.string(), z.string().nullable()) })) }),
);

/** Finds objects for the filters of lists. A filter finds nothing if a list is empty. */
export async function findFilterSubjects(ask: AskGraphql): Promise<FilterSubjects> {
  const data = firstEntries.parse(
    await ask(
      `orders(first: 1, sort: NEWEST_FIRST) { edges { node { id number } } }
       priceHistory(first: 1) { edges { node { marketId } } }
       stockMovements(first: 1) { edges { node { variantId } } }
       promotionRedemptions(first: 1) { edges { node { promotionId } } }
       webhookDeliveries(first: 1) { edges { node { endpointId } } }
       products(first: 1) { edges { node { brand } } }
       categories(first: 1) { edges { node { id } } }
       apiKeys(first: 1) { edges { node { id installationId } } }`,
    ),
  );
  const first = (field: string, key: string): string => data[field]?.edges[0]?.node[key] ?? "none";
  return {
    orderId: first("orders", "id"),
    orderNumber: first("orders", "number"),
    marketId: first("priceHistory", "marketId"),
    variantId: first("stockMovements", "variantId"),
    promotionId: first("promotionRedemptions", "promotionId"),
    endpointId: first("webhookDeliveries", "endpointId"),
    brand: first("products", "brand"),
    categoryId: first("categories", "id"),
    installationId: first("apiKeys", "installationId"),
    apiKeyId: first("apiKeys", "id"),
  };
}
