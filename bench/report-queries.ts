/** The GraphQL queries that `npm run bench:reports` measures: all reports, and each list with its filters. */
import { z } from "zod";

export interface MeasuredQuery {
  readonly name: string;
  readonly query: string;
}

/** Ids of existing objects, which the filters of lists need. */
export interface FilterSubjects {
  readonly orderId: string;
  readonly marketId: string;
  readonly categoryId: string;
  readonly brand: string;
  readonly variantId: string;
  readonly promotionId: string;
  readonly endpointId: string;
}

/** Runs a GraphQL query and returns its data. */
export type AskGraphql = (query: string) => Promise<unknown>;

const dayMs = 86_400_000;
const dayAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
const timeAgo = (days: number): string => `"${dayAgo(days)}T00:00:00Z"`;
const periods = {
  "a year": `from: "${dayAgo(364)}", to: "${dayAgo(0)}"`,
  "30 days": `from: "${dayAgo(29)}", to: "${dayAgo(0)}"`,
};

const reports: Readonly<Record<string, (period: string) => string>> = {
  salesReport: (days) =>
    `salesReport(${days}, interval: MONTH) { currencies { totals { orders netMinor units } } }`,
  "salesReport by country": (days) =>
    `salesReport(${days}, interval: MONTH) { countries { country totals { orders netMinor taxMinor } } }`,
  productReport: (days) => `productReport(${days}, first: 10) { rows { title units netMinor } }`,
  promotionReport: (days) => `promotionReport(${days}) { promotions { title orders } }`,
  refundReport: (days) => `refundReport(${days}) { reasons { reason refunds refundedMinor } }`,
  returnReport: (days) => `returnReport(${days}) { reasons { reason returns } }`,
  buyerReport: (days) => `buyerReport(${days}) { totals { buyers repeatBuyers } cohorts { month buyers } }`,
  fulfillmentReport: (days) =>
    `fulfillmentReport(${days}) { unshipped { ages { orders } oldest { number } }
      carriers { carrier parcels } }`,
  funnelReport: (days) =>
    `funnelReport(${days}, interval: MONTH) { totals { carts orders outcomes { status sessions } } }`,
};

const orders = (args: string): string => `orders(first: 20, ${args}) { edges { node { number } } }`;
const list = (field: string, args: string): string =>
  `${field}(first: 20${args === "" ? "" : `, ${args}`}) { edges { node { id } } }`;
const prices = (args: string): string =>
  `priceHistory(first: 20${args === "" ? "" : `, ${args}`}) { edges { node { variantId validFrom } } }`;
const total = (field: string, args = ""): string => `${field}(first: 1${args}) { totalCount }`;

/** The filters of each list, by the name that the table of results shows. */
const createLists = (subjects: FilterSubjects): Readonly<Record<string, string>> => ({
  "orders, newest first": orders("sort: NEWEST_FIRST"),
  "orders, disputed": orders("paymentStatus: DISPUTED"),
  "orders, partially shipped": orders("sort: NEWEST_FIRST, fulfillmentStatus: PARTIALLY_SHIPPED"),
  "orders, return requested": orders("sort: NEWEST_FIRST, returnStatus: REQUESTED"),
  "orders, country without orders": orders('country: "IS"'),
  "orders, market": orders(`sort: NEWEST_FIRST, market: "${subjects.marketId}"`),
  "orders, highest total": orders('sort: HIGHEST_TOTAL_FIRST, currency: "EUR"'),
  "orders, buyer": orders('buyerReference: "buyer-1-4711"'),
  "orders, one day half a year ago": orders(
    `sort: NEWEST_FIRST, placedFrom: ${timeAgo(180)}, placedTo: ${timeAgo(179)}`,
  ),
  "orders, three conditions": orders('paymentStatus: PAID, fulfillmentStatus: UNFULFILLED, country: "AT"'),
  "orders, total count": total("orders"),
  ...createPartLists(),
  products: list("products", ""),
  "products, newest first": list("products", "newestFirst: true"),
  "products, draft": list("products", "status: DRAFT"),
  "products, category": list("products", `categoryId: "${subjects.categoryId}"`),
  "products, brand": list("products", `brand: ${JSON.stringify(subjects.brand)}`),
  "products, in stock": list("products", "stock: IN_STOCK"),
  "products, low stock": list("products", "stock: LOW_STOCK"),
  "products, out of stock": list("products", "stock: OUT_OF_STOCK"),
  "products, changed in the last day": list("products", `updatedFrom: ${timeAgo(1)}`),
  "products, total count in stock": total("products", ", stock: IN_STOCK"),
  ...createHistoryLists(subjects),
  ...createEventLists(subjects),
});

/** The lists of payments, refunds, returns, fulfillments and warranties: all, one status, and one day. */
const createPartLists = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [
      ["payments", "FAILED"],
      ["refunds", "PENDING"],
      ["returns", "REQUESTED"],
      ["fulfillments", "IN_TRANSIT"],
      ["warranties", "VOID"],
    ].flatMap(([field = "", status = ""]) => [
      [field, list(field, "")],
      [`${field}, ${status.toLowerCase().replace("_", " ")}`, list(field, `status: ${status}`)],
      [
        `${field}, one day half a year ago`,
        list(field, `createdFrom: ${timeAgo(180)}, createdTo: ${timeAgo(179)}`),
      ],
    ]),
  );

const createHistoryLists = ({
  orderId,
  marketId,
  variantId,
  promotionId,
}: FilterSubjects): Readonly<Record<string, string>> => ({
  promotionRedemptions: list("promotionRedemptions", ""),
  "promotionRedemptions, promotion": list("promotionRedemptions", `promotionId: "${promotionId}"`),
  "promotionRedemptions, order": list("promotionRedemptions", `orderId: "${orderId}"`),
  "promotionRedemptions, one day half a year ago": list(
    "promotionRedemptions",
    `redeemedFrom: ${timeAgo(180)}, redeemedTo: ${timeAgo(179)}`,
  ),
  "promotionRedemptions, until half a year ago": list("promotionRedemptions", `redeemedTo: ${timeAgo(180)}`),
  stockMovements: list("stockMovements", ""),
  "stockMovements, variant": list("stockMovements", `variantId: "${variantId}"`),
  "stockMovements, lost": list("stockMovements", "reason: LOST"),
  "stockMovements, one day half a year ago": list(
    "stockMovements",
    `createdFrom: ${timeAgo(180)}, createdTo: ${timeAgo(179)}`,
  ),
  "stockMovements, until half a year ago": list("stockMovements", `createdTo: ${timeAgo(180)}`),
  "stockMovements, total count": total("stockMovements"),
  priceHistory: prices(""),
  "priceHistory, variant": prices(`variantId: "${variantId}"`),
  "priceHistory, market": prices(`marketId: "${marketId}"`),
  "priceHistory, market without prices": prices('marketId: "mkt_none"'),
  "priceHistory, one day two weeks ago": prices(`startedFrom: ${timeAgo(14)}, startedTo: ${timeAgo(13)}`),
  "priceHistory, total count": total("priceHistory"),
});

const createEventLists = ({ orderId, endpointId }: FilterSubjects): Readonly<Record<string, string>> => ({
  events: list("events", ""),
  "events, order canceled": list("events", 'type: "order.canceled"'),
  "events, type without events": list("events", 'type: "cart.revoked"'),
  "events, order": list("events", `subjectId: "${orderId}"`),
  "events, one day two weeks ago": list("events", `createdFrom: ${timeAgo(14)}, createdTo: ${timeAgo(13)}`),
  "events, type and one day": list(
    "events",
    `type: "order.canceled", createdFrom: ${timeAgo(14)}, createdTo: ${timeAgo(13)}`,
  ),
  webhookDeliveries: list("webhookDeliveries", ""),
  "webhookDeliveries, exhausted": list("webhookDeliveries", "status: EXHAUSTED"),
  "webhookDeliveries, canceled": list("webhookDeliveries", "status: CANCELED"),
  "webhookDeliveries, endpoint": list("webhookDeliveries", `endpointId: "${endpointId}"`),
  "webhookDeliveries, one day two weeks ago": list(
    "webhookDeliveries",
    `createdFrom: ${timeAgo(14)}, createdTo: ${timeAgo(13)}`,
  ),
  "webhookDeliveries, total count": total("webhookDeliveries"),
});

/** Creates the measured queries: reports of a year and of 30 days, and lists. */
export const createMeasuredQueries = (subjects: FilterSubjects): readonly MeasuredQuery[] => [
  ...Object.entries(reports).flatMap(([name, write]) =>
    Object.entries(periods).map(([period, days]) => ({ name: `${name}, ${period}`, query: write(days) })),
  ),
  {
    name: "inventoryReport",
    query: "inventoryReport(first: 20) { totals { variants } rows { sku coverDays } }",
  },
  ...Object.entries(createLists(subjects)).map(([name, query]) => ({ name, query })),
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
      `orders(first: 1, sort: NEWEST_FIRST) { edges { node { id } } }
       priceHistory(first: 1) { edges { node { marketId } } }
       stockMovements(first: 1) { edges { node { variantId } } }
       promotionRedemptions(first: 1) { edges { node { promotionId } } }
       webhookDeliveries(first: 1) { edges { node { endpointId } } }
       products(first: 1) { edges { node { brand } } }
       categories(first: 1) { edges { node { id } } }`,
    ),
  );
  const first = (field: string, key: string): string => data[field]?.edges[0]?.node[key] ?? "none";
  return {
    orderId: first("orders", "id"),
    marketId: first("priceHistory", "marketId"),
    variantId: first("stockMovements", "variantId"),
    promotionId: first("promotionRedemptions", "promotionId"),
    endpointId: first("webhookDeliveries", "endpointId"),
    brand: first("products", "brand"),
    categoryId: first("categories", "id"),
  };
}
