/**
 * Creates the database of a measurement: a temporary PostgreSQL server with the demo, and with generated
 * products, carts and orders.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startPostgres } from "#test/support/postgres.ts";
import { type PartialDemoJsonFileContent, readDemoJsonFile } from "#demo/demo-file.ts";
import { copyProducts } from "./copy-products.ts";
import { runCommand } from "./children.ts";
import { addPercentageCodes } from "./promotion-codes.ts";
import type { ScenarioSource } from "./scenario.ts";
import { registerTrustedCartDocument } from "./trusted-cart.ts";
import { createServiceEnvironment, type ServerSettings } from "./servers.ts";

/** The numbers of generated objects, in addition to the objects of the demo. */
export interface DataCounts {
  readonly products: number;
  readonly carts: number;
  readonly orders: number;
}

export interface BenchDatabase extends ServerSettings, ScenarioSource {
  readonly postgresPid: number;
  /** Adds generated products, carts and orders. */
  grow(more: DataCounts): Promise<void>;
  /** Adds copies of the generated products. */
  copy(copies: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Settings of PostgreSQL. Autovacuum is off, because it would disturb some rounds; `vacuum` runs after
 * seeding.
 */
const settings = { shared_buffers: "512MB", autovacuum: "off" };

/**
 * The minimum and maximum of `requestsMax`. More requests would not change the results, and comparing their
 * answers takes time.
 */
const [requestsMin, requestsMax] = [1000, 10_000];

export async function prepareDatabase(counts: DataCounts): Promise<BenchDatabase> {
  const dataFolder = mkdtempSync(join(tmpdir(), "commerce-gateway-bench-"));
  process.once("exit", () => rmSync(dataFolder, { recursive: true, force: true }));
  const postgres = await startPostgres(settings);
  const { url, folder } = postgres;
  const stop = (): Promise<void> => postgres.stop();
  const location = { databaseUrl: url, dataFolder };
  try {
    await seed(location, counts);
    const demo = readSeededDemo(dataFolder);
    await withClient(url, async (client) => {
      await addPercentageCodes(client, demo.merchants.first.id);
      await registerTrustedCartDocument(client, demo.merchants.first.id);
      await prepareForMeasurement(client);
    });
    const [pid] = readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n");
    return {
      ...location,
      apiKey: demo.keys.full,
      storefrontToken: demo.tokens.storefront,
      requestsMax: Math.min(requestsMax, Math.max(requestsMin, counts.carts, counts.orders)),
      postgresPid: Number(pid),
      grow: async (more) => {
        await seed(location, more);
        await withClient(url, prepareForMeasurement);
      },
      copy: (copies) =>
        withClient(url, async (client) => {
          await copyProducts(client, copies);
          await prepareForMeasurement(client);
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function seed(location: ServerSettings, { products, carts, orders }: DataCounts): Promise<void> {
  const counts = ["--products", String(products), "--carts", String(carts), "--orders", String(orders)];
  await runCommand(["src/main.ts", "seed", ...counts], createServiceEnvironment(location));
}

function readSeededDemo(dataFolder: string): PartialDemoJsonFileContent {
  const demo = readDemoJsonFile(dataFolder);
  if (demo === undefined) throw new Error("demo.json is missing after the demo was seeded.");
  return demo;
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await work(client).finally(() => client.end());
}

async function prepareForMeasurement(client: Client): Promise<void> {
  await extendAddresses(client);
  await client.query("vacuum analyze");
}

/**
 * Extends the lifetime of the carts' addresses to 12 hours. An address usually expires after half an hour,
 * but the answers must not change during the measurement.
 */
async function extendAddresses(client: Client): Promise<void> {
  await client.query(`
    update cart set address_expires_at = now() + interval '12 hours',
      address_expires_at_max = now() + interval '24 hours', version = version + 1
    where address_id is not null and status = 'active'`);
}
