/**
 * Measures how much the triggers that send notices about catalog changes slow down the changes. Each kind of
 * change is measured with and without the triggers in turn, while one process listens for the notices.
 */
import { Client } from "pg";
import { noticeChannel } from "#database/notices.ts";
import type { Arguments } from "./arguments.ts";
import { prepareDatabase } from "./database.ts";
import type { BenchEnvironment } from "./environment.ts";
import { processTreeCpuMicros } from "./machine.ts";
import { median } from "./measure.ts";
import { type Columns, formatMarkdownTable } from "./report.ts";

interface Change {
  readonly name: string;
  readonly table: string;
  /** Changes the rows of the product ids `$1`. */
  readonly sql: string;
  readonly productsPerStatement: number;
}

const changeProducts = "update product set version = version + 1, updated_at = now() where id = any($1)";
const ofVariants = "variant_id in (select id from variant where product_id = any($1))";
const changes: readonly Change[] = [
  { name: "one product", table: "product", sql: changeProducts, productsPerStatement: 1 },
  { name: "100 products", table: "product", sql: changeProducts, productsPerStatement: 100 },
  {
    name: "the prices of one product",
    table: "price",
    sql: `update price set amount_minor = amount_minor where valid_until is null and ${ofVariants}`,
    productsPerStatement: 1,
  },
  {
    name: "the stock of one product",
    table: "stock_level",
    sql: `update stock_level set on_hand = on_hand + 1 where ${ofVariants}`,
    productsPerStatement: 1,
  },
];

const connections = 8;
/** Milliseconds at the beginning of a load that are not measured, in which statements are planned again. */
const planningMs = 200;

interface Cost {
  readonly perSecond: number;
  readonly postgresCpuMicros: number;
}

interface ChangeCost extends Cost {
  readonly change: string;
  readonly notices: "with" | "without";
  /** Changes per second divided by those without notices in the same round. */
  readonly ratio: number;
}

export async function measureCatalogNotices(
  { isQuick, counts }: Arguments,
  { machine, printResult, printStep }: BenchEnvironment,
): Promise<void> {
  const [rounds, loadMs] = isQuick ? [3, 1000] : [7, 3000];
  printStep(`PostgreSQL with ${counts.products} products`);
  const database = await prepareDatabase({ ...counts, carts: 0, orders: 0 });
  const clients = Array.from({ length: connections + 1 }, () => new Client(database.databaseUrl));
  const [listener = new Client(), ...writers] = clients;
  try {
    await Promise.all(clients.map((client) => client.connect()));
    await listener.query(`listen ${noticeChannel}`);
    const { rows } = await listener.query<{ id: string }>("select id from product order by md5(id)");
    const costs: ChangeCost[] = [];
    for (const change of changes) {
      const pairs: { readonly with: Cost; readonly without: Cost }[] = [];
      const measure = async (action: "enable" | "disable"): Promise<Cost> => {
        await listener.query(`vacuum ${change.table}`);
        await listener.query(`alter table ${change.table} ${action} trigger notice_of_update`);
        const ids = rows.map(({ id }) => id);
        await sendChanges(writers, { change, ids, ms: planningMs });
        const cpuBefore = processTreeCpuMicros(database.postgresPid);
        const { count, perSecond } = await sendChanges(writers, { change, ids, ms: loadMs });
        return {
          perSecond,
          postgresCpuMicros: (processTreeCpuMicros(database.postgresPid) - cpuBefore) / count,
        };
      };
      for (let round = 1; round <= rounds; round += 1) {
        printStep(`${change.name}: round ${round} of ${rounds}`);
        pairs.push(
          round % 2 === 1
            ? { with: await measure("enable"), without: await measure("disable") }
            : { without: await measure("disable"), with: await measure("enable") },
        );
      }
      await listener.query(`alter table ${change.table} enable trigger notice_of_update`);
      for (const notices of ["without", "with"] as const)
        costs.push({
          change: change.name,
          notices,
          perSecond: median(pairs.map((pair) => pair[notices].perSecond)),
          postgresCpuMicros: median(pairs.map((pair) => pair[notices].postgresCpuMicros)),
          ratio: median(pairs.map((pair) => pair[notices].perSecond / pair.without.perSecond)),
        });
    }
    printResult(`\n${machine}, ${counts.products} products\n\n${formatMarkdownTable(costs, columns)}`);
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
    await database.stop();
  }
}

interface ChangeLoad {
  readonly change: Change;
  readonly ids: readonly string[];
  readonly ms: number;
}

/**
 * Sends changes as fast as possible. The connections change different products, so that none waits for a
 * lock.
 */
async function sendChanges(
  writers: readonly Client[],
  { change: { name, sql, productsPerStatement }, ids, ms }: ChangeLoad,
): Promise<{ readonly count: number; readonly perSecond: number }> {
  let count = 0;
  const startedAt = performance.now();
  const work = async (client: Client, index: number): Promise<void> => {
    const share = ids.filter((_, place) => place % writers.length === index);
    for (let next = 0; performance.now() - startedAt < ms; next += productsPerStatement) {
      const from = next % Math.max(1, share.length - productsPerStatement);
      await client.query({ name, text: sql, values: [share.slice(from, from + productsPerStatement)] });
      count += 1;
    }
  };
  await Promise.all(writers.map(work));
  return { count, perSecond: (count * 1000) / (performance.now() - startedAt) };
}

const columns: Columns<ChangeCost> = [
  ["change", ({ change }) => change],
  ["notices", ({ notices }) => notices],
  ["statements/s", ({ perSecond }) => perSecond.toFixed(0)],
  ["PostgreSQL CPU µs", ({ postgresCpuMicros }) => postgresCpuMicros.toFixed(0)],
  ["ratio", ({ ratio }) => ratio.toFixed(2)],
];
