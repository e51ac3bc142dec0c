/** Answers from the response caches of two processes beside writers: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { startService } from "#soak/service.ts";
import { countResponseCacheHits, runUnchanged } from "#soak/unchanged.ts";
import { createDatabase } from "#test/support/create-database.ts";

it("no answer of two processes is older than its request, also while notices are lost, on postgres", async () => {
  const databaseUrl = await createDatabase();
  await using service = await startService({ databaseUrl });
  await using second = await startService({ databaseUrl, folder: service.folder });
  const database = await openDatabase({ url: databaseUrl, poolSize: 1 });
  const senders = [service.ask, second.ask];
  const { violations, counts } = await runUnchanged({
    engine: "postgres",
    senders,
    access: service.access,
    countHits: () => countResponseCacheHits(senders),
    database,
    cutEveryMs: 8_000,
    readers: 8,
    writers: 2,
    readsPerChange: 100,
    isOver: ({ reads }) => reads >= 20_000,
  }).finally(() => database.close());
  expect(violations).toEqual([]);
  expect(counts["reads"]).toBeGreaterThanOrEqual(20_000);
  expect(counts["changes"]).toBeGreaterThan(100);
});
