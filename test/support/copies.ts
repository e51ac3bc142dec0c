/**
 * Makes expensive databases (a migrated PGlite, the demo on either engine) once per test run, for the first
 * test file that needs them. Later test files get a copy.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { inject } from "vitest";
import { createEventSubjectRendererForCli } from "#app/services.ts";
import { loadOrCreateEncryptionKeys } from "#app/encryption-keys.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { type DatabaseOptions, type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { openPGlite, type PGliteFilesystem } from "#database/pglite.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import type { EventSubjectRenderer } from "#webhooks/outbox.ts";
import { connectionsOf, createDatabase } from "./create-database.ts";
import { CopiedFilesystem, type EmbeddedFiles, readEmbeddedFiles } from "./embedded-files.ts";

export const publicUrl = "https://api.test";
/** The value of ENCRYPTION_KEYS for every copied database. */
export const encryptionKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

/** Creates the renderer of event subjects that seeding the demo needs while no service runs. */
export function demoRender({ db }: OpenedDatabase): EventSubjectRenderer {
  return createEventSubjectRendererForCli(
    db,
    parseServiceSettings({ PUBLIC_URL: publicUrl, ENCRYPTION_KEYS: encryptionKeys }),
  );
}

/** A copy of the demo database. All test files of a run start from the same copy. */
export interface DemoCopy {
  readonly database: Pick<DatabaseOptions, "url" | "ownerUrl" | "filesystem">;
  /** When the demo was seeded. A test clock that does not advance starts at this time. */
  readonly seededAt: Date;
  /** Writes the encryption keys and demo.json of this database into the folder. */
  readonly fill: (dataDir: string) => void;
}

interface Made {
  /** The folder with `data`, and with the `embedded` database of PGlite. */
  readonly folder: string;
  /** The PostgreSQL database to copy. */
  readonly template: string | null;
  readonly seededAt: string;
}

export async function copyMigrated(): Promise<PGliteFilesystem> {
  return copyEmbedded((await madeMigrated()).folder);
}

function madeMigrated(): Promise<Made> {
  return madeOnce("pglite-migrated", async (place) => {
    await fillEmbedded(place, migrate);
    return null;
  });
}

function madeDemo(engine: OpenedDatabase["engine"]): Promise<Made> {
  return madeOnce(`${engine}-demo`, engine === "pglite" ? makeEmbeddedDemo : makePostgresDemo);
}

export async function copyDemo(engine: OpenedDatabase["engine"]): Promise<DemoCopy> {
  const { folder, template, seededAt } = await madeDemo(engine);
  return {
    database:
      template === null
        ? { filesystem: copyEmbedded(folder) }
        : connectionsOf(await createDatabase(template)),
    seededAt: new Date(seededAt),
    fill: (dataDir) => cpSync(join(folder, "data"), dataDir, { recursive: true }),
  };
}

const embedded = new Map<string, EmbeddedFiles>();

/** Copies a PGlite database into memory. Caches its files, which take about 30 MB. */
function copyEmbedded(folder: string): PGliteFilesystem {
  const files = embedded.get(folder) ?? readEmbeddedFiles(join(folder, "embedded", "database"));
  embedded.set(folder, files);
  return new CopiedFilesystem(files);
}

/**
 * Creates a folder with a migrated PGlite database, to be used as `DATA_DIR` of another process. The folder
 * is deleted after the test run.
 */
export async function migratedFolder(): Promise<string> {
  const { folder } = await madeMigrated();
  return copyFolder(join(folder, "embedded"));
}

/** The options of `startService` that let another process use the demo database. */
export interface DemoPlace {
  readonly folder: string;
  readonly databaseUrl: string | undefined;
  readonly environment: { readonly ENCRYPTION_KEYS: string };
}

export async function demoPlace(engine: OpenedDatabase["engine"]): Promise<DemoPlace> {
  const made = await madeDemo(engine);
  const folder = copyFolder(
    ...(made.template === null ? [join(made.folder, "embedded")] : []),
    join(made.folder, "data"),
  );
  return {
    folder,
    databaseUrl: made.template === null ? undefined : connectionsOf(await createDatabase(made.template)).url,
    environment: { ENCRYPTION_KEYS: encryptionKeys },
  };
}

/** Creates a migrated and empty PostgreSQL database, and an empty folder, for another process. */
export async function migratedPlace(): Promise<DemoPlace> {
  return {
    folder: copyFolder(),
    databaseUrl: await createDatabase(),
    environment: { ENCRYPTION_KEYS: encryptionKeys },
  };
}

/** Returns the settings with which another process uses a database. */
export function toEnvironment({ folder, databaseUrl, environment }: DemoPlace): Record<string, string> {
  if (databaseUrl === undefined) return { DATA_DIR: folder };
  return { ...environment, DATA_DIR: folder, DATABASE_URL: databaseUrl };
}

function copyFolder(...sources: readonly string[]): string {
  const folder = mkdtempSync(join(inject("copies"), "place-"));
  for (const source of sources) cpSync(source, folder, { recursive: true });
  return folder;
}

type Work = (database: OpenedDatabase) => Promise<unknown>;

/**
 * Makes a database once per run. The first caller makes it and the others wait; if making fails, the next
 * caller tries again.
 */
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
  cpSync(join((await madeMigrated()).folder, "embedded"), join(folder, "embedded"), { recursive: true });
  await fillEmbedded(folder, async (database) => {
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
  database: OpenedDatabase,
  { folder, now }: { readonly folder: string; readonly now: Date },
): Promise<void> {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "encryption-keys"), `${encryptionKeys}\n`, { mode: 0o600 });
  const keyring = createEncryptionKeyring(loadOrCreateEncryptionKeys(dataDir));
  const demo = await prepareDemoDataAndFile(database, {
    dataDir,
    publicUrl,
    now,
    keyring,
    render: demoRender(database),
  });
  if (demo === undefined) throw new Error("The database was not empty.");
}

async function fillEmbedded(folder: string, work: Work): Promise<void> {
  const place = join(folder, "embedded");
  const database = await openDatabase({ folder: place });
  await work(database).finally(() => database.close());
  const pglite = await openPGlite({ dataDir: join(place, "database") });
  // The template databases take up half of the files, and no test creates a database on this PGlite.
  await pglite.exec("update pg_database set datistemplate = false");
  for (const unused of ["template0", "template1"]) await pglite.exec(`drop database if exists ${unused}`);
  // Leaves one file of the write-ahead log. Without this, every copy contains 16 MB of old log.
  await pglite.exec("set wal_recycle = off");
  await pglite.exec("select pg_switch_wal()");
  await pglite.exec("checkpoint");
  await pglite.close();
}
