/**
 * The command `npm run bench:reports`, described in README.md of this folder: measures the lists and reports
 * of a running service with many orders.
 */
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:4000" },
    token: { type: "string" },
    runs: { type: "string", default: "5" },
  },
});
const { url, token } = values;
const runs = Number(values.runs);
if (token === undefined || !Number.isInteger(runs) || runs < 1) {
  process.stderr.write("Usage: npm run bench:reports -- --token TOKEN [--url URL] [--runs 5]\n");
  process.exit(2);
}

const dayMs = 86_400_000;
const dayAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
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
    `fulfillmentReport(${days}) { unshipped { ages { orders } oldest { number } } carriers { carrier parcels } }`,
  funnelReport: (days) => `funnelReport(${days}, interval: MONTH) { totals { carts orders } }`,
};

const orders = (args: string): string => `orders(first: 20, ${args}) { edges { node { number } } }`;
const parts = (name: string, args: string): string => `${name}(first: 20${args}) { edges { node { id } } }`;

const queries: readonly (readonly [string, string])[] = [
  ...Object.entries(reports).flatMap(([name, write]) =>
    Object.entries(periods).map(([period, days]) => [`${name}, ${period}`, write(days)] as const),
  ),
  ["inventoryReport", "inventoryReport(first: 20) { totals { variants } rows { sku coverDays } }"],
  ["orders, newest first", orders("sort: NEWEST_FIRST")],
  ["orders, disputed", orders("paymentStatus: DISPUTED")],
  ["orders, partially shipped", orders("sort: NEWEST_FIRST, fulfillmentStatus: PARTIALLY_SHIPPED")],
  ["orders, return requested", orders("sort: NEWEST_FIRST, returnStatus: REQUESTED")],
  ["orders, country without orders", orders('country: "IS"')],
  ["orders, market", orders('sort: NEWEST_FIRST, market: "us"')],
  ["orders, highest total", orders('sort: HIGHEST_TOTAL_FIRST, currency: "EUR"')],
  ["orders, three conditions", orders('paymentStatus: PAID, fulfillmentStatus: UNFULFILLED, country: "AT"')],
  ["orders, total count", "orders(first: 1) { totalCount }"],
  ["payments, failed", parts("payments", ", status: FAILED")],
  ["refunds, pending", parts("refunds", ", status: PENDING")],
  ["returns, requested", parts("returns", ", status: REQUESTED")],
  ["fulfillments, in transit", parts("fulfillments", ", status: IN_TRANSIT")],
  ["warranties", parts("warranties", "")],
];

/** Runs the query once, and returns its duration in milliseconds. */
async function measure(query: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ query: `{ ${query} }` }),
  });
  const answer = await response.text();
  if (!response.ok || answer.includes('"errors"')) throw new Error(`${query}: ${answer.slice(0, 300)}`);
  return performance.now() - start;
}

process.stdout.write("| query | median ms | slowest ms |\n|---|---|---|\n");
for (const [name, query] of queries) {
  const durations: number[] = [];
  for (let run = 0; run < runs; run += 1) durations.push(await measure(query));
  const sorted = durations.toSorted((one, other) => one - other);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  process.stdout.write(`| ${name} | ${median.toFixed(0)} | ${(sorted.at(-1) ?? Number.NaN).toFixed(0)} |\n`);
}
