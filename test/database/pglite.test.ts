/**
 * PGlite runs in the thread that serves requests. Sockets and timers must get event loop turns between
 * statements. If PGlite cannot start, the operator learns why. test/faults/full-disk.test.ts tests a crash.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import type { OpenedDatabase } from "#database/connect.ts";
import { DataFolderUnusableError } from "#database/folder-lock.ts";
import { openPGlite } from "#database/pglite.ts";
import { runInTransaction } from "#database/transaction.ts";
import { openFresh } from "#test/support/databases.ts";

describe("the embedded database", () => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openFresh("pglite");
  });
  afterAll(() => database.close());

  /** Counts the event loop turns during the work. */
  const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    let [turns, isOver] = [0, false];
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await work();
    isOver = true;
    return turns;
  };
  const ask = (): Promise<unknown> =>
    runInTransaction(database.db, (transaction) => sql`select 1`.execute(transaction));

  it("lets the event loop turn before each waiting statement", async () => {
    expect(await turnsDuring(() => Promise.all(Array.from({ length: 20 }, ask)))).toBeGreaterThanOrEqual(20);
  });

  it("lets the event loop turn also between statements that are sent one after another", async () => {
    const inTurn = async (): Promise<void> => {
      for (let asked = 0; asked < 20; asked += 1) await ask();
    };
    expect(await turnsDuring(inTurn)).toBeGreaterThanOrEqual(20);
  });
});

describe("an embedded database that cannot start", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "embedded-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("names its folder and the reason of PostgreSQL, for example the files of another version", async () => {
    const dataDir = join(folder, "database");
    await (await openPGlite({ dataDir })).close();
    writeFileSync(join(dataDir, "PG_VERSION"), "15\n");
    await expect(openPGlite({ dataDir })).rejects.toThrow(
      new DataFolderUnusableError(
        `The embedded database in ${dataDir} (DATA_DIR) cannot start: database files are incompatible with server`,
      ),
    );
  });

  it("names its folder and the reason of PostgreSQL if it cannot be recovered", async () => {
    const dataDir = join(folder, "damaged");
    await (await openPGlite({ dataDir })).close();
    const log = join(dataDir, "pg_wal", "000000010000000000000001");
    writeFileSync(log, Buffer.alloc(statSync(log).size));
    await expect(openPGlite({ dataDir })).rejects.toThrow(
      `The embedded database in ${dataDir} (DATA_DIR) cannot start: could not locate a valid checkpoint record`,
    );
  });

  it("names its folder and what to check if the files cannot be created", async () => {
    const dataDir = join(folder, "file");
    writeFileSync(dataDir, "no folder");
    await expect(openPGlite({ dataDir })).rejects.toThrow(
      new DataFolderUnusableError(
        `The embedded database in ${dataDir} (DATA_DIR) cannot start: its files cannot be created. Check the ` +
          "free disk space and the access rights of the folder.",
      ),
    );
  });
});
