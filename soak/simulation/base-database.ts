/**
 * The database with which each seed starts: migrated, with the demo and a shop. A process of its own fills it
 * once, and each process of the simulation opens it in memory.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServiceApp } from "#app/app.ts";
import { createEventSubjectRendererForCli } from "#app/services.ts";
import { parseServiceSettings, type ServiceSettings } from "#app/settings.ts";
import { openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { openPGlite } from "#database/pglite.ts";
import { noticeChannel } from "#database/notices.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { createLog } from "#foundation/log.ts";
import type { OpenedMesh } from "#mesh/open-mesh.ts";
import { ResettablePGlite } from "./resettable-pglite.ts";
import { receiverUrl } from "./simulated-outside.ts";
import { openShop, parseAnswer, requireData, type SendRequest, type Shop } from "#soak/shop.ts";

export interface BaseDatabase {
  readonly pglite: ResettablePGlite;
  readonly mesh: OpenedMesh;
  readonly settings: ServiceSettings;
  readonly shop: Shop;
  readonly endpoint: { readonly id: string; readonly secret: string };
  /** Replaces the function that receives the notices of the database. */
  receiveNotices: (payload: string) => void;
}

const publicUrl = "https://api.test";
const encryptionKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

const createSettings = (dataDir: string): ServiceSettings =>
  parseServiceSettings({
    PORT: "4000",
    PUBLIC_URL: publicUrl,
    DATA_DIR: dataDir,
    ENCRYPTION_KEYS: encryptionKeys,
    RATE_LIMIT_SCALE: "0",
    WEBHOOK_RETRY_SCALE: "0.001",
    WEBHOOK_ALLOW_LOOPBACK: "1",
  });

/**
 * Opens the database in memory. The timers must be those of the simulation, because PostgreSQL sets a timer
 * at its start: a real one would run at a random moment of a seed.
 */
export async function openBaseDatabase(folder: string, mesh: OpenedMesh): Promise<BaseDatabase> {
  const facts = JSON.parse(readFileSync(join(folder, "facts.json"), "utf8")) as BaseDatabaseFacts;
  const opened = await openPGlite({ image: new Blob([readFileSync(join(folder, "image"))]) });
  const base: BaseDatabase = {
    pglite: new ResettablePGlite(opened, (payload) => base.receiveNotices(payload)),
    mesh,
    settings: createSettings(folder),
    ...facts,
    receiveNotices: () => undefined,
  };
  await opened.exec(`listen ${noticeChannel}`);
  // Libraries must be loaded before the memory is kept, because the loader's own state is not reset.
  await opened.exec(
    `do $$ declare path text; begin
      for path in select distinct probin from pg_proc where probin is not null loop
        execute format('load %L', path);
      end loop; end $$;
    set plan_cache_mode = force_generic_plan`,
  );
  await base.pglite.keep();
  return base;
}

type BaseDatabaseFacts = Pick<BaseDatabase, "shop" | "endpoint">;

export async function createBaseDatabase(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const settings = createSettings(folder);
  const embedded = join(folder, "embedded");
  const database = await openDatabase({ folder: embedded });
  await migrate(database);
  const keyring = createEncryptionKeyring(settings.encryptionKeys ?? []);
  const render = createEventSubjectRendererForCli(database.db, settings);
  const access = await prepareDemoDataAndFile(database, {
    dataDir: folder,
    publicUrl,
    now: new Date(),
    keyring,
    render,
  });
  if (access === undefined) throw new Error("The database of the simulation was not empty.");
  const log = createLog("silent");
  const app = await createServiceApp({
    settings,
    log,
    database,
    resolveName: () => Promise.resolve([]),
  });
  const ask: SendRequest = async ({ method, url, headers, body }) => {
    const payload = body === undefined ? {} : { payload: body };
    const answer = await app.server.inject({ method, url, headers, ...payload });
    return { status: answer.statusCode, headers: {}, text: answer.body };
  };
  const facts: BaseDatabaseFacts = {
    shop: await openShop(ask, access),
    endpoint: await openEndpoint(ask, access),
  };
  await database.close();
  const pglite = await openPGlite({ dataDir: join(embedded, "database") });
  const image = await pglite.dumpDataDir("none").finally(() => pglite.close());
  rmSync(embedded, { recursive: true });
  writeFileSync(join(folder, "image"), new Uint8Array(await image.arrayBuffer()));
  writeFileSync(join(folder, "facts.json"), JSON.stringify(facts));
}

async function openEndpoint(
  ask: SendRequest,
  { keys }: DemoJsonFileContent,
): Promise<{ readonly id: string; readonly secret: string }> {
  const body = JSON.stringify({ url: receiverUrl, eventTypes: ["*"], maxPerSecond: 100 });
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${keys.full}`,
    "idempotency-key": "simulation-endpoint",
  };
  const answer = await ask({ method: "POST", url: "/api/v1/open/webhooks/endpoints", headers, body });
  const { endpoint, secret } = requireData(parseAnswer(answer)) as {
    readonly endpoint: { readonly id: string };
    readonly secret: { readonly value: string };
  };
  return { id: endpoint.id, secret: secret.value };
}
