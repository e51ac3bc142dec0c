/**
 * What many tests begin with – a migrated embedded database, the demo on either engine – is made once in a
 * run, by the first test file that asks, and copied for everybody after it.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { inject } from "vitest";
import { createCommandRender } from "#app/services.ts";
import { loadEncryptionKeys } from "#app/encryption-keys.ts";
import { readSettings } from "#app/settings.ts";
import { type DatabaseOptions, type OpenDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { openPGlite } from "#database/pglite.ts";
import { prepareDemo } from "#demo/prepare-demo.ts";
import { createKeyring } from "#foundation/encryption.ts";
import type { RenderEventSubject } from "#webhooks/outbox.ts";
import { createDatabase } from "./create-database.ts";

export const publicUrl = "https://api.test";
/** ENCRYPTION_KEYS of every copy. */
export const encryptionKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

/** What prepares the demo where no service runs. */
export function demoRender({ db }: OpenDatabase): RenderEventSubject {
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
  return readImage((await madeMigrated()).folder);
}

function madeMigrated(): Promise<Made> {
  return madeOnce("pglite-migrated", async (place) => {
    await fillEmbedded({ folder: place }, migrate);
    return null;
  });
}

function madeDemo(engine: OpenDatabase["engine"]): Promise<Made> {
  return madeOnce(`${engine}-demo`, engine === "pglite" ? makeEmbeddedDemo : makePostgresDemo);
}

export async function copyDemo(engine: OpenDatabase["engine"]): Promise<DemoCopy> {
  const { folder, template, seededAt } = await madeDemo(engine);
  return {
    database: template === null ? { image: readImage(folder) } : { url: await createDatabase(template) },
    seededAt: new Date(seededAt),
    fill: (dataDir) => cpSync(join(folder, "data"), dataDir, { recursive: true }),
  };
}

const images = new Map<string, Blob>();

/** Kept for the files after this one: to read it takes as long as to start from it. */
function readImage(folder: string): Blob {
  const known = images.get(folder);
  if (known !== undefined) return known;
  const image = new Blob([readFileSync(join(folder, "image"))]);
  images.set(folder, image);
  return image;
}

/** An embedded database in a folder, for a process of its own: `DATA_DIR`. Gone with the run. */
export async function migratedFolder(): Promise<string> {
  const { folder } = await madeMigrated();
  return copyFolder(join(folder, "embedded"));
}

/** Where a process of its own finds the demo: the options of `startService`. */
export interface DemoPlace {
  readonly folder: string;
  readonly databaseUrl: string | undefined;
  readonly environment: { readonly ENCRYPTION_KEYS: string };
}

export async function demoPlace(engine: OpenDatabase["engine"]): Promise<DemoPlace> {
  const made = await madeDemo(engine);
  const folder = copyFolder(
    ...(made.template === null ? [join(made.folder, "embedded")] : []),
    join(made.folder, "data"),
  );
  return {
    folder,
    databaseUrl: made.template === null ? undefined : await createDatabase(made.template),
    environment: { ENCRYPTION_KEYS: encryptionKeys },
  };
}

function copyFolder(...sources: readonly string[]): string {
  const folder = mkdtempSync(join(inject("copies"), "place-"));
  for (const source of sources) cpSync(source, folder, { recursive: true });
  return folder;
}

type Work = (database: OpenDatabase) => Promise<unknown>;

/** Who comes first makes it, and the others wait; when that failed, the next one tries. */
async function madeOnce(
  name: string,
  make: (folder: string, now: Date) => Promise<string | null>,
): Promise<Made> {
  const copies = inject("copies");
  const path = join(copies, `${name}.json`);
  const making = join(copies, `${name}-making`);
  for (;;) {
    const known = readMade(path);
    if (known !== undefined) return known;
    if (isFirst(making)) break;
    await wait(20);
  }
  try {
    const folder = mkdtempSync(join(copies, `${name}-`));
    const now = new Date();
    const made: Made = { folder, template: await make(folder, now), seededAt: now.toISOString() };
    const draft = join(folder, "made.json");
    writeFileSync(draft, JSON.stringify(made));
    renameSync(draft, path);
    return made;
  } finally {
    rmdirSync(making);
  }
}

function isFirst(making: string): boolean {
  try {
    mkdirSync(making);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

function readMade(path: string): Made | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Made;
  } catch {
    return undefined;
  }
}

async function makeEmbeddedDemo(folder: string, now: Date): Promise<null> {
  await fillEmbedded({ folder, image: await copyMigrated() }, async (database) => {
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

async function seed(
  database: OpenDatabase,
  { folder, now }: { readonly folder: string; readonly now: Date },
): Promise<void> {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "encryption-keys"), `${encryptionKeys}\n`, { mode: 0o600 });
  const keyring = createKeyring(loadEncryptionKeys(dataDir));
  const demo = await prepareDemo(database, {
    dataDir,
    publicUrl,
    now,
    keyring,
    render: demoRender(database),
  });
  if (demo === undefined) throw new Error("The database was not empty.");
}

async function fillEmbedded(
  { folder, image: start }: { readonly folder: string; readonly image?: Blob },
  work: Work,
): Promise<void> {
  const place = join(folder, "embedded");
  const database = await openDatabase({ folder: place, image: start });
  await work(database).finally(() => database.close());
  const pglite = await openPGlite({ dataDir: join(place, "database") });
  // What new databases are copied from is half of the files, and nobody makes one here.
  await pglite.exec("update pg_database set datistemplate = false");
  for (const unused of ["template0", "template1"]) await pglite.exec(`drop database if exists ${unused}`);
  const image = await pglite.dumpDataDir("none").finally(() => pglite.close());
  writeFileSync(join(folder, "image"), new Uint8Array(await image.arrayBuffer()));
}
