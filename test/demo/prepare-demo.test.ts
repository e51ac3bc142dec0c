/** Where the demo's secrets go is known to be good before they are made: they cannot be read back from the database. */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FolderUnusable } from "#database/folder-lock.ts";
import type { OpenDatabase } from "#database/connect.ts";
import { readDemoFile } from "#demo/demo-file.ts";
import { prepareDemo } from "#demo/prepare-demo.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { temporaryFolder } from "#test/support/process.ts";

const now = new Date("2026-06-01T12:00:00.000Z");
const prepare = (database: OpenDatabase, dataDir: string): ReturnType<typeof prepareDemo> =>
  prepareDemo(database, { dataDir, publicUrl: "https://api.test", now });

describeOnBoth("preparing the demo", (open, engine) => {
  it("makes the folder, for its owner alone", async () => {
    const dataDir = join(temporaryFolder(), "not", "there");
    const demo = await prepare(await open(), dataDir);
    expect(demo?.baseUrl).toBe("https://api.test");
    expect(readDemoFile(dataDir)).toEqual(demo);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dataDir)).toEqual(["demo.json"]);
  });

  it("seeds nothing where the folder cannot be used", async () => {
    const database = await open();
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const refused = prepare(database, join(file, "data"));
    await expect(refused).rejects.toThrow(FolderUnusable);
    await expect(refused).rejects.toThrow(`DATA_DIR ${join(file, "data")} cannot be used: ENOTDIR`);
    expect(await database.db.selectFrom("merchant").select("id").execute()).toEqual([]);
    expect(await database.db.selectFrom("apiKey").select("id").execute()).toEqual([]);
  });

  it("needs no folder for a database with other data", async () => {
    const database = await open();
    await database.script((run) =>
      run(`insert into merchant (id, slug, name, mode, default_locale, default_market, created_at, updated_at)
        values ('mer_1', 'other', 'Other', 'live', 'de', 'DE', now(), now())`),
    );
    const folder = temporaryFolder();
    expect(await prepare(database, join(folder, engine))).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });
});
