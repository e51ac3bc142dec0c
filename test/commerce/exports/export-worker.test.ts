/**
 * Exports are written completely and once: compared with direct counts, across several workers, killed
 * workers, cancellations and failed reads.
 */
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { cancelExportJob, deleteExpiredExportJobs } from "#commerce/exports/export-jobs.ts";
import { type ExportKind, exportSources, listExportColumns } from "#commerce/exports/export-kinds.ts";
import { createExportWorker, type ExportWorker } from "#commerce/exports/export-worker.ts";
import { claimDueExportJob, exportLeaseMs, writeNextExportChunk } from "#commerce/exports/write-export.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { createLog } from "#foundation/log.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeExport, readExport, readStoredRows } from "./export-calls.ts";

const hourMs = 3_600_000;

describe("an export", () => {
  const world = useWorld();
  const services = () => ({ ...world().app.services, chunkRowsMax: 3 });
  const createWorker = (options: { rowsMax?: number; chunkRowsMax?: number } = {}): ExportWorker =>
    createExportWorker({ ...services(), log: createLog("silent"), ...options });
  const merchantId = (): string => world().demo.merchants.first.id;

  beforeEach(async () => {
    await world().database.db.deleteFrom("exportJob").execute();
    // Exports end a minute before their creation by default. After this time they contain the whole demo.
    world().clock.advance(60_001);
  });

  /** The ids of all rows of a kind, read without the code of exports. */
  const idsOf = async (table: string, where = sql`true`): Promise<string[]> => {
    const { rows } = await sql<{ id: string }>`select t.id::text as id from ${sql.table(table)} t
      where t.merchant_id = ${merchantId()} and ${where}`.execute(world().database.db);
    return rows.map(({ id }) => id).toSorted();
  };

  const kinds: readonly [ExportKind, string][] = [
    ["orders", "sales_order"],
    ["order_lines", "order_line"],
    ["payments", "payment"],
    ["refunds", "refund"],
    ["returns", "order_return"],
    ["fulfillments", "fulfillment"],
    ["products", "product"],
    ["stock_movements", "stock_movement"],
  ];

  it.each(kinds)("of %s has each row of the merchant once, with the listed columns", async (kind, table) => {
    const { id } = await makeExport(world(), { kind });
    await createWorker({ chunkRowsMax: 7 }).drain();
    const { rows } = await readStoredRows(world(), id);
    const idColumn = Object.keys(exportSources[kind].columns)[0] ?? "";
    const expected = await idsOf(table);
    expect(rows.map((row) => String(row[idColumn])).toSorted()).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
    for (const row of rows) expect(Object.keys(row)).toEqual(listExportColumns(kind));
    expect(await readExport(world(), id)).toMatchObject({
      status: "completed",
      totalRows: expected.length,
      exportedRows: expected.length,
    });
  });

  it("contains the rows of its period: the start is included, the end is excluded", async () => {
    const { db } = world().database;
    for (const kind of ["orders", "payments"] as const) {
      const [table, column] = kind === "orders" ? ["sales_order", "placed_at"] : ["payment", "created_at"];
      const { rows: times } = await sql<{ at: Date }>`select distinct ${sql.ref(column)} as at
        from ${sql.table(table)} where merchant_id = ${merchantId()} order by at`.execute(db);
      const [from, to] = [times[1]?.at, times.at(-1)?.at];
      if (from === undefined || to === undefined) throw new Error("The demo has too few rows.");
      const { id } = await makeExport(world(), { kind, from, to });
      await createWorker().drain();
      const { rows } = await readStoredRows(world(), id);
      const inPeriod = sql`t.${sql.ref(column)} >= ${from} and t.${sql.ref(column)} < ${to}`;
      const idColumn = kind === "orders" ? "orderId" : "paymentId";
      expect(rows.map((row) => row[idColumn])).toEqual(await idsOf(table, inPeriod));
      expect(rows.length).toBeGreaterThan(1);
    }
  });

  it("is continued after a worker was killed, without losing or doubling a row", async () => {
    const { id } = await makeExport(world());
    const { db } = world().database;
    const orders = await idsOf("sales_order");
    // The first worker stores two chunks and then stops without releasing the job.
    const claimed = await claimDueExportJob(db, world().clock.now());
    const first = claimed && (await writeNextExportChunk(services(), claimed));
    const second = first && (await writeNextExportChunk(services(), first));
    expect(second).toMatchObject({ id, exportedRows: 6, status: "running" });
    // The lease keeps other workers away until it ends.
    await createWorker().drain();
    expect((await readStoredRows(world(), id)).chunks).toEqual([3, 3]);
    world().clock.advance(exportLeaseMs);
    await createWorker().drain();
    const { rows, chunks } = await readStoredRows(world(), id);
    expect(rows.map(({ orderId }) => String(orderId)).toSorted()).toEqual(orders);
    expect(chunks.length).toBe(Math.ceil(orders.length / 3));
    // The first worker was only slow. It has its next chunk ready, and must not store it.
    expect(second && (await writeNextExportChunk(services(), second))).toBeUndefined();
    expect((await readStoredRows(world(), id)).rows).toEqual(rows);
  });

  it("stores a chunk once if two workers write the same one at the same time", async () => {
    const { id } = await makeExport(world());
    const claimed = await claimDueExportJob(world().database.db, world().clock.now());
    if (claimed === undefined) throw new Error("The export is not due.");
    const outcomes = await Promise.all([1, 2].map(() => writeNextExportChunk(services(), claimed)));
    expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(1);
    expect((await readStoredRows(world(), id)).chunks).toEqual([3]);
  });

  it("gives way to other exports after its turn", async () => {
    const large = await makeExport(world(), { kind: "stock_movements" });
    const small = await makeExport(world(), { kind: "refunds" });
    const { readOnly } = services();
    const worker = createExportWorker({
      ...services(),
      chunkRowsMax: 1,
      log: createLog("silent"),
      readOnly: (read) => {
        world().clock.advance(1);
        return readOnly(read);
      },
    });
    await worker.drain();
    const [first, second] = [await readExport(world(), large.id), await readExport(world(), small.id)];
    expect([first?.status, second?.status]).toEqual(["completed", "completed"]);
    // A turn has 20 chunks, here of one row each.
    expect(first?.exportedRows).toBeGreaterThan(20);
    expect(Number(second?.finishedAt)).toBeLessThan(Number(first?.finishedAt));
  });

  it("stores no further rows after its cancellation", async () => {
    const { id } = await makeExport(world());
    const { db } = world().database;
    const claimed = await claimDueExportJob(db, world().clock.now());
    const job = claimed && (await writeNextExportChunk(services(), claimed));
    const context = {
      merchantId: merchantId(),
      now: world().clock.now(),
      events: createInProcessEventEmitter(),
    };
    await runInTransaction(db, (transaction) => cancelExportJob(transaction, context, id));
    expect(job && (await writeNextExportChunk(services(), job))).toBeUndefined();
    expect(await readStoredRows(world(), id)).toEqual({ rows: [], chunks: [] });
    expect(await readExport(world(), id)).toMatchObject({ status: "canceled" });
  });

  it("fails without a file if its period has more rows than allowed", async () => {
    const { id } = await makeExport(world());
    const orders = await idsOf("sales_order");
    await createWorker({ rowsMax: orders.length - 1 }).drain();
    expect(await readExport(world(), id)).toMatchObject({ status: "failed", failure: "too_many_rows" });
    const exact = await makeExport(world());
    await createWorker({ rowsMax: orders.length }).drain();
    expect(await readExport(world(), exact.id)).toMatchObject({ status: "completed" });
  });

  it("is attempted again after a failed read, and fails after the last attempt", async () => {
    const { id } = await makeExport(world());
    const broken = createExportWorker({
      ...services(),
      log: createLog("silent"),
      readOnly: () => Promise.reject(new Error("The database is away.")),
    });
    await broken.drain();
    expect(await readExport(world(), id)).toMatchObject({ status: "running", failedAttempts: 1 });
    world().clock.advance(5_000);
    await createWorker().drain();
    expect(await readExport(world(), id)).toMatchObject({ status: "completed", failedAttempts: 0 });
    const other = await makeExport(world());
    for (let attempt = 0; attempt < 7; attempt += 1) {
      await broken.drain();
      world().clock.advance(hourMs / 4);
    }
    expect(await readExport(world(), other.id)).toMatchObject({ status: "failed", failure: "read_failed" });
  });

  it("of a period that has just ended begins a minute after the end", async () => {
    const { id } = await makeExport(world(), { to: world().clock.now() });
    await createWorker().drain();
    expect(await readExport(world(), id)).toMatchObject({ status: "queued" });
    world().clock.advance(60_000);
    await createWorker().drain();
    expect(await readExport(world(), id)).toMatchObject({ status: "completed" });
  });

  it("is not found from 24 hours after its end, and is deleted with its chunks", async () => {
    const { id } = await makeExport(world());
    await createWorker().drain();
    const { db } = world().database;
    world().clock.advance(24 * hourMs - 1);
    expect(await deleteExpiredExportJobs(db, world().clock.now())).toBe(0);
    expect(await readExport(world(), id)).toMatchObject({ status: "completed" });
    world().clock.advance(1);
    expect(await readExport(world(), id)).toBeNull();
    expect(await deleteExpiredExportJobs(db, world().clock.now())).toBe(1);
    expect((await readStoredRows(world(), id)).chunks).toEqual([]);
  });
});
