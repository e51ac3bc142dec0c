/**
 * Answers from the response caches of two services on one database, beside writers: a short version of `npm
 * run soak`, in one process.
 */
import { expect, inject, it } from "vitest";
import { sql } from "kysely";
import { openDatabase } from "#database/connect.ts";
import { runUnchanged } from "#soak/unchanged.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { createWorld } from "#test/support/world.ts";
import { askOf, environment, startBeside } from "./ask.ts";

it("no answer from two caches is older than its request, also while connections are cut, on postgres", async () => {
  await using world = await createWorld("postgres", { environment: { ...environment, PORT: "0" } });
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(world.database.db);
  const database = await openDatabase({ url: databaseUrl(inject("postgresUrl"), rows[0]?.name ?? "") });
  const second = await startBeside(world, database, { PORT: "0" });
  const apps = [world.app, second];
  let hits = 0;
  for (const app of apps) {
    app.services.events.on("responseCacheUsed", (_operation, isHit) => (hits += Number(isHit)));
    await app.listen();
  }
  try {
    const { violations, counts } = await runUnchanged({
      engine: "postgres",
      senders: apps.map(askOf),
      access: world.demo,
      countHits: () => Promise.resolve(hits),
      database,
      cutEveryMs: 500,
      readers: 8,
      writers: 2,
      readsPerChange: 100,
      isOver: ({ reads, cuts }) => (reads >= 5_000 && cuts > 4) || reads >= 100_000,
    });
    expect(violations).toEqual([]);
    expect(counts["reads"]).toBeGreaterThanOrEqual(5_000);
    expect(counts["hits"]).toBeGreaterThan(0);
    expect(counts["changes"]).toBeGreaterThan(10);
    expect(counts["cuts"]).toBeGreaterThan(0);
  } finally {
    await second.close();
    await database.close();
  }
}, 600_000);
