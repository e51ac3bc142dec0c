/**
 * The database with which each seed starts: migrated, with the demo and a shop. It is filled once per process
 * of the simulation. Before each seed, the tables that the last seed has written get their first rows back.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
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
import { openGraphqlMesh, type OpenedMesh } from "#mesh/open-mesh.ts";
import { openShop, parseAnswer, requireData, type SendRequest, type Shop } from "#soak/shop.ts";

export interface BaseDatabase {
  readonly pglite: PGlite;
  readonly mesh: OpenedMesh;
  readonly settings: ServiceSettings;
  readonly shop: Shop;
  readonly endpoint: { readonly id: string; readonly secret: string };
  /** Notes that a seed has written a table. */
  readonly noteWrite: (table: string) => void;
  /** Restores the first rows of all tables that were written. */
  readonly restore: () => Promise<void>;
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

/** Opens the database in memory. Creates it in the folder first if the folder does not have it yet. */
export async function openBaseDatabase(folder: string, now: Date): Promise<BaseDatabase> {
  const mesh = await openGraphqlMesh();
  if (!existsSync(join(folder, "facts.json"))) await createBaseDatabase(folder, mesh, now);
  const facts = JSON.parse(readFileSync(join(folder, "facts.json"), "utf8")) as BaseDatabaseFacts;
  const pglite = await openPGlite({ image: new Blob([readFileSync(join(folder, "image"))]) });
  const base: BaseDatabase = {
    pglite,
    mesh,
    settings: createSettings(folder),
    ...facts,
    receiveNotices: () => undefined,
    ...(await createRestore(pglite)),
  };
  await pglite.listen(noticeChannel, (payload) => base.receiveNotices(payload));
  return base;
}

type BaseDatabaseFacts = Pick<BaseDatabase, "shop" | "endpoint">;

async function createBaseDatabase(folder: string, mesh: OpenedMesh, now: Date): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const settings = createSettings(folder);
  const embedded = join(folder, "embedded");
  const database = await openDatabase({ folder: embedded });
  await migrate(database);
  const keyring = createEncryptionKeyring(settings.encryptionKeys ?? []);
  const render = createEventSubjectRendererForCli(database.db, settings);
  const access = await prepareDemoDataAndFile(database, { dataDir: folder, publicUrl, now, keyring, render });
  if (access === undefined) throw new Error("The database of the simulation was not empty.");
  const log = createLog("silent");
  const app = await createServiceApp({
    settings,
    log,
    database,
    mesh,
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
  const body = JSON.stringify({ url: "http://127.0.0.1:9999/hooks", eventTypes: ["*"], maxPerSecond: 100 });
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

/** Copies all rows into the schema `first_rows`, and returns the functions that restore them. */
async function createRestore(pglite: PGlite): Promise<Pick<BaseDatabase, "noteWrite" | "restore">> {
  const { rows: tables } = await pglite.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition order by relname`,
  );
  const { rows: sequences } = await pglite.query<{ name: string; value: number | null }>(
    "select sequencename as name, last_value as value from pg_sequences where schemaname = 'public' order by 1",
  );
  const { rows: columns } = await pglite.query<{ name: string; list: string }>(
    `select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as list
      from information_schema.columns where table_schema = 'public' and is_generated = 'NEVER' group by 1`,
  );
  const listOf = new Map(columns.map(({ name, list }) => [name, list]));
  await pglite.exec("create schema first_rows; set session_replication_role = replica");
  for (const { name } of tables)
    await pglite.exec(`create table first_rows.${name} as select * from public.${name}`);
  const written = new Set(tables.map(({ name }) => name));
  const known: ReadonlySet<string> = new Set(written);
  const restore = async (): Promise<void> => {
    const names = [...written].toSorted();
    written.clear();
    if (names.length === 0) return;
    await pglite.exec(
      ["set session_replication_role = replica", ...names.map((name) => `delete from public.${name}`)].join(
        ";",
      ),
    );
    // VACUUM removes the pages of the deleted rows, so that the first rows get the same places each time.
    await pglite.exec(`vacuum ${names.map((name) => `public.${name}`).join(", ")}`);
    await pglite.exec(
      [
        ...names.map(
          (name) =>
            `insert into public.${name} (${listOf.get(name)}) overriding system value
              select ${listOf.get(name)} from first_rows.${name}`,
        ),
        ...sequences.map(
          ({ name, value }) => `select setval('public.${name}', ${value ?? 1}, ${value !== null})`,
        ),
        "set session_replication_role = origin",
      ].join(";"),
    );
  };
  return {
    restore,
    noteWrite: (table) => {
      if (known.has(table)) written.add(table);
    },
  };
}
