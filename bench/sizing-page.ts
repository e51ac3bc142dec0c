/**
 * Renders docs/sizing.md from docs/sizing.json, the values that `npm run bench:sizing` measured last: how
 * much disk, CPU time, memory and how many connections the service needs for a number of orders per minute.
 */
import { requestRetentionDays } from "#access/request-log.ts";
import { answerRetentionMs } from "#database/idempotency.ts";
import { eventRetentionDays } from "#webhooks/delivery-rules.ts";
import { alignMarkdownTable } from "./report.ts";

/** What one change adds, on average over all changes of a step. */
export interface ChangeCost {
  readonly name: string;
  readonly requests: number;
  readonly deliveries: number;
  readonly gatewayCpuMs: number;
  readonly workerCpuMs: number;
  readonly postgresCpuMs: number;
  /** Bytes in PostgreSQL's write-ahead log. */
  readonly logBytes: number;
  /** Bytes in each table and its indexes. */
  readonly tableBytes: Readonly<Record<string, number>>;
}

export interface SizingRecord {
  readonly date: string;
  readonly machine: string;
  readonly changesPerStep: number;
  readonly gatewayMegabytes: number;
  readonly workerMegabytes: number;
  readonly gatewayConnections: number;
  readonly workerConnections: number;
  readonly changes: readonly ChangeCost[];
}

const dayMs = 86_400_000;

/** The days for which the rows of a table are kept; rows of all other tables are kept without end. */
const retentionDays: Readonly<Record<string, number>> = {
  event: eventRetentionDays,
  webhook_delivery: eventRetentionDays,
  webhook_attempt: eventRetentionDays,
  api_request: requestRetentionDays,
  idempotency_record: answerRetentionMs / dayMs,
};

export const changeNames = {
  cart: "create a cart",
  address: "set its address",
  promotion: "apply a code (REST)",
  stock: "change a stock",
  order: "order",
} as const;

/** Carts that buyers create, and give an address, for each order, in addition to the cart of the order. */
const abandonedCartsPerOrder = 9;
const ordersPerMinute = [10, 100, 1000] as const;
const exampleDays = 30;

interface SizingEstimate {
  readonly diskBytes: number;
  readonly logBytesPerDay: number;
  readonly gatewayCores: number;
  readonly workerCores: number;
  readonly postgresCores: number;
}

/** Estimates what a constant rate of orders needs, with the carts that buyers abandon. */
export function estimateSizing(
  { changes }: Pick<SizingRecord, "changes">,
  { perMinute, days }: { readonly perMinute: number; readonly days: number },
): SizingEstimate {
  const timesPerOrder: Readonly<Record<string, number>> = {
    [changeNames.order]: 1,
    [changeNames.cart]: abandonedCartsPerOrder,
    [changeNames.address]: abandonedCartsPerOrder,
  };
  const sumPerOrder = (valueOf: (change: ChangeCost) => number): number =>
    changes.reduce((sum, change) => sum + valueOf(change) * (timesPerOrder[change.name] ?? 0), 0);
  const perDay = perMinute * 60 * 24;
  const keptBytes = ({ tableBytes }: ChangeCost): number =>
    Object.entries(tableBytes).reduce(
      (sum, [table, bytes]) => sum + bytes * Math.min(days, retentionDays[table] ?? days),
      0,
    );
  const cores = (valueOf: (change: ChangeCost) => number): number =>
    (sumPerOrder(valueOf) * perMinute) / 60_000;
  return {
    diskBytes: perDay * sumPerOrder(keptBytes),
    logBytesPerDay: perDay * sumPerOrder(({ logBytes }) => logBytes),
    gatewayCores: cores(({ gatewayCpuMs }) => gatewayCpuMs),
    workerCores: cores(({ workerCpuMs }) => workerCpuMs),
    postgresCores: cores(({ postgresCpuMs }) => postgresCpuMs),
  };
}

/** Tables that get fewer bytes than this for every change are summed up in one line. */
const shownBytesMin = 200;

function formatTableBytes(changes: readonly ChangeCost[]): string {
  const most = (table: string): number =>
    Math.max(...changes.map(({ tableBytes }) => tableBytes[table] ?? 0));
  const names = [...new Set(changes.flatMap(({ tableBytes }) => Object.keys(tableBytes)))].toSorted(
    (one, other) => most(other) - most(one),
  );
  const shown = names.filter((table) => most(table) >= shownBytesMin);
  const sumOf = (tables: readonly string[], { tableBytes }: ChangeCost): string =>
    tables.reduce((sum, table) => sum + (tableBytes[table] ?? 0), 0).toFixed(0);
  const line = (label: string, kept: string, tables: readonly string[]): string[] => [
    label,
    kept,
    ...changes.map((change) => sumOf(tables, change)),
  ];
  const daysOf = (table: string): string => {
    const days = retentionDays[table];
    return days === undefined ? "without end" : `${days} days`;
  };
  return alignMarkdownTable([
    ["table", "rows are kept", ...changes.map(({ name }) => name)],
    ...shown.map((table) => line(`\`${table}\``, daysOf(table), [table])),
    line(
      "all others",
      "",
      names.filter((table) => !shown.includes(table)),
    ),
    line("**all tables**", "", names),
  ]);
}

const formatCpu = (changes: readonly ChangeCost[]): string =>
  alignMarkdownTable([
    ["change", "requests", "deliveries", "gateway CPU ms", "worker CPU ms", "PostgreSQL CPU ms", "WAL kB"],
    ...changes.map((change) => [
      change.name,
      String(change.requests),
      change.deliveries.toFixed(1),
      change.gatewayCpuMs.toFixed(2),
      change.workerCpuMs.toFixed(2),
      change.postgresCpuMs.toFixed(2),
      (change.logBytes / 1000).toFixed(1),
    ]),
  ]);

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

const formatEstimates = (record: SizingRecord): string =>
  alignMarkdownTable([
    ["orders per minute", "disk GB", "WAL GB per day", "gateway cores", "worker cores", "PostgreSQL cores"],
    ...ordersPerMinute.map((perMinute) => {
      const found = estimateSizing(record, { perMinute, days: exampleDays });
      return [
        String(perMinute),
        gigabytes(found.diskBytes),
        gigabytes(found.logBytesPerDay),
        found.gatewayCores.toFixed(2),
        found.workerCores.toFixed(2),
        found.postgresCores.toFixed(2),
      ];
    }),
  ]);

export function renderSizing(record: SizingRecord): string {
  const { changes } = record;
  return `<!-- Generated by \`npm run generate\` from bench/sizing-page.ts and docs/sizing.json. Do not edit. -->

# Sizing

This page says how much disk space, CPU time, memory and how many database connections the service needs. The
command \`npm run bench:sizing -- --record\` measures the values in about a minute and writes
\`docs/sizing.json\`; \`npm run generate\` then writes this page. Last measured: ${record.date},
${record.machine}.

The command starts a temporary PostgreSQL, a gateway, a worker and a webhook receiver that answers every
delivery. It makes ${record.changesPerStep} changes of each kind with the demo shop, four at a time. One webhook endpoint
receives every event. An order is the whole path of a buyer: create a cart with one line, set its address, add
another line, choose a delivery option, create a checkout session and submit it, with a payment at the test
provider. Every change has an idempotency key.

## Bytes per change

Bytes in each table with its indexes, for one change of each kind. The changes are made with an internal token
and an API key. Changes by buyers have no rows in \`audit_entry\`, and only REST requests with API keys have rows
in \`api_request\`. A changed row leaves a dead row behind, whose space is used again after a vacuum: the tables
\`search_…\`, which a change of a stock updates, therefore do not grow for long.

${formatTableBytes(changes)}

Each additional webhook endpoint that receives the events adds another row of \`webhook_delivery\` and
\`webhook_attempt\` for each event. A retry adds a row of \`webhook_attempt\`.

## CPU time per change

The gateway's CPU time is that of all requests of the change. The worker's CPU time includes its deliveries,
its payments and its regular work. The last column is the write-ahead log of PostgreSQL, which replicas and
continuous archiving also receive.

${formatCpu(changes)}

The CPU time of reads is in the [results of the benchmarks](../bench/README.md#results). Under full load, one
SQL statement serves several requests or deliveries, so a change then costs less than in this table.

## Memory and connections

| process | memory MB | open connections | connections at most |
| ------- | --------: | ---------------: | ------------------: |
| gateway | ${record.gatewayMegabytes.toFixed(0).padStart(9)} | ${String(record.gatewayConnections).padStart(16)} | ${"`DATABASE_POOL` + 1".padStart(19)} |
| worker  | ${record.workerMegabytes.toFixed(0).padStart(9)} | ${String(record.workerConnections).padStart(16)} | ${"`DATABASE_POOL` + 1".padStart(19)} |

The values are those of one process at the end of the measurement. A gateway's response cache adds up to
\`RESPONSE_CACHE_MB\`. \`PROCESSES=N\` multiplies both: N processes with the default \`DATABASE_POOL\` of 10 open up
to 11 × N connections, and 18 × N more to a replica.

## Examples

For each order, buyers also create ${abandonedCartsPerOrder} carts with an address that they abandon. The disk
space is the space after ${exampleDays} days with a constant rate, with rows that are deleted after their retention;
the catalog, dead rows and the write-ahead log come on top. Double the disk space for safety. The numbers of cores
are averages: multiply them by the ratio of your busiest minute to the average, and plan for at most 60 % of each
core.

${formatEstimates(record)}

Orders with their carts and payments, and the audit log, are kept without end; carts without an order are kept for
\`CART_RETENTION_DAYS\` after their end. So the disk space grows further after ${exampleDays} days. [Scaling](scaling.md) says what to do before one database machine is too small.
`;
}
