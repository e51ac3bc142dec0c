/** `migrate` and `seed`. */
import { SingleBar } from "cli-progress";
import { Command, InvalidArgumentError } from "commander";
import { readSettings } from "#app/settings.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { fail } from "#foundation/failure.ts";
import { seedProducts } from "#demo/bulk/seed-bulk.ts";
import { printResult } from "./output.ts";
import { prepareDemo } from "#demo/prepare-demo.ts";
import { withDatabase } from "./with-database.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("Brings the database's schema up to date. A failed migration leaves it as it was.")
    .option("--json", "as JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const settings = readSettings(process.env);
      const folder = settings.databaseUrl === undefined ? settings.dataDir : undefined;
      const database = await openDatabase({ url: settings.databaseUrl, directUrl: settings.databaseDirectUrl, folder });
      try {
        printResult({ applied: await migrate(database) }, json === true);
      } finally {
        await database.close();
      }
    });
}

interface SeedOptions {
  readonly products: number;
  readonly merchant?: string;
  readonly json?: boolean;
}

export function seedCommand(): Command {
  return new Command("seed")
    .description("Fills an empty database with the demo data, and on request with more products.")
    .option("--products <number>", "how many more products (up to 1 000 000)", parseCount, 0)
    .option("--merchant <id>", "whose products; without it the demo's first merchant's")
    .option("--json", "as JSON, without a progress bar")
    .action(async ({ products, merchant, json }: SeedOptions) => {
      await withDatabase(async (database, settings) => {
        const now = new Date();
        const publicUrl = settings.publicUrl ?? `http://${settings.host}:${settings.port}`;
        const demo = await prepareDemo(database, { dataDir: settings.dataDir, publicUrl, now });
        const merchantId = merchant ?? demo?.merchants.first.id;
        if (merchantId === undefined)
          throw fail("missing_parameter", { message: "The database has other data than the demo's: say whose products with --merchant." });
        const startedAt = performance.now();
        if (products > 0) await seedMore(database, { merchantId, count: products, now, isQuiet: json === true });
        printResult({ merchant: merchantId, products, seconds: Math.round((performance.now() - startedAt) / 100) / 10 }, json === true);
      });
    });
}

interface More {
  readonly merchantId: string;
  readonly count: number;
  readonly now: Date;
  readonly isQuiet: boolean;
}

async function seedMore(database: OpenDatabase, { merchantId, count, now, isQuiet }: More): Promise<void> {
  const bar = isQuiet
    ? undefined
    : new SingleBar({ format: "{bar} {percentage}% {value}/{total} products, {eta_formatted} left", stopOnComplete: true });
  bar?.start(count, 0);
  await seedProducts(database.db, {
    merchantId,
    count,
    now,
    index: (transaction, ids) => indexProducts(transaction, ids, now),
    onProgress: (done) => bar?.update(done),
  });
  bar?.stop();
  // Fresh statistics, so that the first searches are planned for what is there now.
  await database.script((run) => run("analyze"));
}

const countMax = 1_000_000;

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > countMax) throw new InvalidArgumentError(`It must be a whole number from 0 to ${countMax}.`);
  return count;
}
