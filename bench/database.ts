/** The database that is measured on: a throw-away PostgreSQL with the demo, as many generated products as wanted, carts and codes for them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startPostgres } from "#test/support/postgres.ts";
import { readDemoFile } from "#demo/demo-file.ts";
import { cartCount } from "./cart-scenarios.ts";
import { runCommand } from "./children.ts";
import { addPercentageCodes } from "./promotion-codes.ts";
import type { Source } from "./scenario.ts";
import { oursEnvironment, type Settings } from "./servers.ts";

export interface BenchDatabase extends Settings, Source {
  readonly postgresPid: number;
  stop(): Promise<void>;
}

/** Its own housekeeping would come in somebody's round; it is done once, after seeding. */
const settings = { shared_buffers: "512MB", autovacuum: "off" };

export async function prepareDatabase(products: number): Promise<BenchDatabase> {
  const dataFolder = mkdtempSync(join(tmpdir(), "commerce-gateway-bench-"));
  process.once("exit", () => rmSync(dataFolder, { recursive: true, force: true }));
  const postgres = await startPostgres(settings);
  const { url, folder } = postgres;
  const stop = (): Promise<void> => postgres.stop();
  const place = { databaseUrl: url, dataFolder };
  try {
    await runCommand(["src/main.ts", "seed", "--products", String(products), "--carts", String(cartCount)], oursEnvironment(place));
    const demo = readDemoFile(dataFolder);
    if (demo === undefined) throw new Error("The demo was seeded without its file.");
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await addPercentageCodes(client, demo.merchants.first.id);
      await client.query("vacuum analyze");
    } finally {
      await client.end();
    }
    const [pid] = readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n");
    return { ...place, apiKey: demo.keys.full, postgresPid: Number(pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
