/**
 * What many tests begin with – a migrated embedded database, the demo on either engine – is made once in a run, by the first test file that asks, and
 * copied for everybody after it.
 */
import { cpSync, mkdirSync, mkdtempSync, openAsBlob, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { createCommandRender } from "#app/command-render.ts";
import { loadEncryptionKeys } from "#app/encryption-keys.ts";
import { readSettings } from "#app/settings.ts";
import { type DatabaseOptions, type OpenDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { openPGlite } from "#database/pglite.ts";
import { prepareDemo } from "#demo/prepare-demo.ts";
import { createKeyring } from "#foundation/encryption.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import { createDatabase } from "./create-database.ts";

export const publicUrl = "https://api.test";
/** ENCRYPTION_KEYS of every copy. */
export const encryptionKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

/** What prepares the demo where no service runs. */
export function demoRender({ db }: OpenDatabase): RenderSubject {
  return createCommandRender(db, readSettings({ PUBLIC_URL: publicUrl, ENCRYPTION_KEYS: encryptionKeys }));
}

/** The same for all, so that what one test file has made is of use to the next. */
export interface DemoCopy {
  readonly database: Pick<DatabaseOptions, "url" | "image">;
  /** When the demo was seeded: a standing clock goes on from here. */
  readonly seededAt: Date;
  /** Puts the keys and demo.json of this database there. */
  readonly fill: (dataDir: string) => void;
}

interface Made {
  /** Where its files lie: `image`, `data`. */
  readonly folder: string;
  /** The PostgreSQL database to copy. */
  readonly template: string | null;
  readonly seededAt: string;
}

export async function copyMigrated(): Promise<Blob> {
  const { folder } = await madeOnce("pglite-migrated", async (place) => {
    await fillEmbedded(place, migrate);
    return null;
  });
  return openAsBlob(join(folder, "image"));
}

export async function copyDemo(engine: OpenDatabase["engine"]): Promise<DemoCopy> {
  const { folder, template, seededAt } = await madeOnce(`${engine}-demo`, engine === "pglite" ? makeEmbeddedDemo : makePostgresDemo);
  return {
    database: template === null ? { image: await openAsBlob(join(folder, "image")) } : { url: await createDatabase(template) },
    seededAt: new Date(seededAt),
    fill: (dataDir) => cpSync(join(folder, "data"), dataDir, { recursive: true }),
  };
}

type Work = (database: OpenDatabase) => Promise<unknown>;

/** Two that are first at once make it twice; either is whole. */
async function madeOnce(name: string, make: (folder: string, now: Date) => Promise<string | null>): Promise<Made> {
  const copies = inject("copies");
  const path = join(copies, `${name}.json`);
  const known = readMade(path);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(copies, `${name}-`));
  const now = new Date();
  const made: Made = { folder, template: await make(folder, now), seededAt: now.toISOString() };
  const draft = join(folder, "made.json");
  writeFileSync(draft, JSON.stringify(made));
  renameSync(draft, path);
  return made;
}

function readMade(path: string): Made | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Made;
  } catch {
    return undefined;
  }
}

async function makeEmbeddedDemo(folder: string, now: Date): Promise<null> {
  await fillEmbedded(folder, async (database) => {
    await migrate(database);
    await seed(database, { folder, now });
  });
  return null;
}

async function makePostgresDemo(folder: string, now: Date): Promise<string> {
  const url = await createDatabase();
  const database = await openDatabase({ url });
  await seed(database, { folder, now }).finally(() => database.close());
  return new URL(url).pathname.slice(1);
}

async function seed(database: OpenDatabase, { folder, now }: { readonly folder: string; readonly now: Date }): Promise<void> {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "encryption-keys"), `${encryptionKeys}\n`, { mode: 0o600 });
  const keyring = createKeyring(loadEncryptionKeys(dataDir));
  const demo = await prepareDemo(database, { dataDir, publicUrl, now, keyring, render: demoRender(database) });
  if (demo === undefined) throw new Error("The database was not empty.");
}

async function fillEmbedded(folder: string, work: Work): Promise<void> {
  const place = join(folder, "embedded");
  const database = await openDatabase({ folder: place });
  await work(database).finally(() => database.close());
  const pglite = await openPGlite({ dataDir: join(place, "database") });
  const image = await pglite.dumpDataDir("none").finally(() => pglite.close());
  writeFileSync(join(folder, "image"), new Uint8Array(await image.arrayBuffer()));
}
