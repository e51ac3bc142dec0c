/** The commands `migrate`, `seed` and `config`: the database schema, the demo data and the settings. */
import { SingleBar } from "cli-progress";
import { Command, InvalidArgumentError } from "commander";
import { createVerifiedEncryptionKeyring } from "#app/encryption-canaries.ts";
import { getPublicUrl, parseServiceSettings, formatMaskedSettings } from "#app/settings.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { DataFolderInUseError } from "#database/folder-lock.ts";
import { migrate } from "#database/migrate.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import { seedBulkProducts } from "#demo/bulk/seed-bulk-products.ts";
import { seedBulkCarts } from "#demo/bulk/seed-bulk-carts.ts";
import { seedBulkOrders } from "#demo/bulk/seed-bulk-orders.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { printCommandResult, printErrorLine } from "./output.ts";
import { isCliCommandRunningInService, runWithDatabaseCreatedIfMissing } from "./command.ts";

export function addSetupCommands(program: Command): void {
  program.addCommand(migrateCommand());
  program.addCommand(seedCommand());
}

export function createConfigCommand(): Command {
  return new Command("config")
    .description("Prints all settings with their current values; secrets are masked.")
    .option("--json", "print the result as JSON")
    .action(({ json }: { json?: boolean }) =>
      printCommandResult(formatMaskedSettings(process.env), json === true),
    );
}

function migrateCommand(): Command {
  return new Command("migrate")
    .description("Brings the database schema up to date. A failed migration leaves the schema unchanged.")
    .option("--json", "print the result as JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const settings = parseServiceSettings(process.env);
      const folder = settings.databaseUrl === undefined ? settings.dataDir : undefined;
      const options = {
        url: settings.databaseUrl,
        directUrl: settings.databaseDirectUrl,
        ownerUrl: settings.databaseOwnerUrl,
        folder,
      };
      const database = await openDatabase(options).catch((error: unknown) => {
        throw error instanceof DataFolderInUseError ? toMigrateRefusal(error) : error;
      });
      try {
        const applied = await migrate(database, undefined, { onRetry: printErrorLine });
        printCommandResult({ applied }, json === true);
      } finally {
        await database.close();
      }
    });
}

/**
 * Creates the error that `migrate` reports if the running service uses the embedded database. A migration
 * must be the only user of the database, so `migrate` is never sent to the running service.
 */
const toMigrateRefusal = ({ message }: DataFolderInUseError): DataFolderInUseError =>
  new DataFolderInUseError(`${message} The service itself applies pending migrations each time it starts.`);

interface SeedOptions {
  readonly products: number;
  readonly carts: number;
  readonly orders: number;
  readonly merchant?: string;
  readonly json?: boolean;
}

function seedCommand(): Command {
  return new Command("seed")
    .description(
      "Fills an empty database with the demo data, and optionally adds more products, carts and orders.",
    )
    .option("--products <number>", "number of additional products, 0 to 1000000", parseCount, 0)
    .option("--carts <number>", "number of additional carts, 0 to 1000000", parseCount, 0)
    .option("--orders <number>", "number of additional orders, 0 to 1000000", parseCount, 0)
    .option(
      "--merchant <id>",
      "id of the merchant that gets the additional data; without it, the demo's first merchant",
    )
    .option("--json", "print the result as JSON, without a progress bar")
    .action(async ({ products, carts, orders, merchant, json }: SeedOptions) => {
      await runWithDatabaseCreatedIfMissing(async (database, settings) => {
        const now = new Date();
        const publicUrl = getPublicUrl(settings);
        const keyring = await createVerifiedEncryptionKeyring(database.db, settings);
        const { createEventSubjectRendererForCli } = await import("#app/services.ts");
        const render = createEventSubjectRendererForCli(database.db, settings);
        const demo = await prepareDemoDataAndFile(database, {
          dataDir: settings.dataDir,
          publicUrl,
          now,
          keyring,
          render,
        });
        const merchantId = merchant ?? demo?.merchants.first.id;
        if (merchantId === undefined)
          throw createFailure("missing_parameter", {
            message: "The database contains data other than the demo: name the merchant with --merchant.",
          });
        const startedAt = performance.now();
        await seedAdditional(database, {
          merchantId,
          products,
          carts,
          orders,
          now,
          keyring,
          isQuiet: json === true || isCliCommandRunningInService(),
        });
        const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
        printCommandResult({ merchant: merchantId, products, carts, orders, seconds }, json === true);
      });
    });
}

interface AdditionalSeed {
  readonly merchantId: string;
  readonly products: number;
  readonly carts: number;
  readonly orders: number;
  readonly now: Date;
  readonly keyring: EncryptionKeyring;
  readonly isQuiet: boolean;
}

/**
 * Adds generated demo data to the database: first products, then carts, then orders. Products come first,
 * because carts and orders contain products.
 */
async function seedAdditional(
  database: OpenedDatabase,
  { merchantId, products, carts, orders, now, keyring, isQuiet }: AdditionalSeed,
): Promise<void> {
  if (products + carts + orders === 0) return;
  const { db } = database;
  await withProgressBar({ count: products, objects: "products", isQuiet }, (onProgress) =>
    seedBulkProducts(db, {
      merchantId,
      count: products,
      now,
      index: (transaction, ids) => indexProducts(transaction, ids, now),
      onProgress,
    }),
  );
  await withProgressBar({ count: carts, objects: "carts", isQuiet }, (onProgress) =>
    seedBulkCarts(db, { merchantId, count: carts, now, keyring, onProgress }),
  );
  await withProgressBar({ count: orders, objects: "orders", isQuiet }, (onProgress) =>
    seedBulkOrders(db, { merchantId, count: orders, now, keyring, onProgress }),
  );
  // Updates the statistics of PostgreSQL's query planner, so that queries of the new rows are fast from the
  // first request on.
  await database.ownerScript((run) => run("analyze"));
}

interface ProgressOptions {
  readonly count: number;
  readonly objects: string;
  readonly isQuiet: boolean;
}

async function withProgressBar(
  { count, objects, isQuiet }: ProgressOptions,
  work: (onProgress: (done: number) => void) => Promise<void>,
): Promise<void> {
  if (count === 0) return;
  if (isQuiet) return work(() => undefined);
  const bar = new SingleBar({
    format: `{bar} {percentage}% {value}/{total} ${objects}, {eta_formatted} left`,
  });
  bar.start(count, 0);
  try {
    await work((done) => bar.update(done));
  } finally {
    bar.stop();
  }
}

const countMax = 1_000_000;

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > countMax)
    throw new InvalidArgumentError(`It must be an integer from 0 to ${countMax}.`);
  return count;
}
