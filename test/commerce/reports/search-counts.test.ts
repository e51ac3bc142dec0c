/**
 * Search queries are counted for reports by day, only if three clients sent them, without slowing or failing
 * searches.
 */
import { describe, expect, it } from "vitest";
import {
  clientsPerQueryMin,
  type SearchRequestToCount,
  createSearchQueryCounter,
  type SearchQueryCounter,
  deleteOldSearchQueryCounts,
} from "#commerce/search/search-counts.ts";
import { createLog } from "#foundation/log.ts";
import { useWorld } from "#test/support/use-world.ts";
import { TestClock } from "#test/support/test-clock.ts";

describe("searches", () => {
  const world = useWorld();
  const quiet = createLog("error", { write: () => undefined });
  const startedAt = "2034-01-01T12:00:00Z";

  const setUp = async (): Promise<{ counts: SearchQueryCounter; clock: TestClock }> => {
    const { db } = world().database;
    await db.deleteFrom("searchQueryDay").execute();
    const clock = new TestClock(new Date(startedAt));
    return { counts: createSearchQueryCounter({ db, clock, log: quiet }), clock };
  };
  const search = (client: string, over: Partial<SearchRequestToCount> = {}): SearchRequestToCount => ({
    client,
    merchant: undefined,
    country: "DE",
    query: "zelt",
    hasResults: true,
    ...over,
  });
  const kept = async (): Promise<unknown> =>
    world()
      .database.db.selectFrom("searchQueryDay")
      .select(["merchantId", "country", "query", "searches", "empty"])
      .orderBy("query")
      .orderBy("country")
      .execute();

  it("are written after the third client, with the earlier counts, and never for two clients", async () => {
    const { counts } = await setUp();
    for (const client of ["a", "b", "a", "b", "a"]) counts.note(search(client));
    await counts.flush();
    expect(await kept()).toEqual([]);
    counts.note(search("c", { hasResults: false }));
    await counts.flush();
    expect(await kept()).toEqual([{ merchantId: null, country: "DE", query: "zelt", searches: 6, empty: 1 }]);
    counts.note(search("a"));
    await counts.flush();
    await counts.flush();
    expect(await kept()).toEqual([{ merchantId: null, country: "DE", query: "zelt", searches: 7, empty: 1 }]);
    expect(clientsPerQueryMin).toBe(3);
  });

  it("are counted by country, shop and day: clients of two countries are not added up", async () => {
    const { counts, clock } = await setUp();
    const { first } = world().demo.merchants;
    counts.note(search("a"));
    counts.note(search("b", { country: "AT" }));
    counts.note(search("c", { merchant: first.slug }));
    clock.advance(86_400_000);
    for (const client of ["a", "b"]) counts.note(search(client));
    await counts.flush();
    expect(await kept()).toEqual([]);
    for (const client of ["a", "b", "c"]) counts.note(search(client, { merchant: first.slug }));
    // A shop that does not exist has no searches.
    for (const client of ["a", "b", "c"]) counts.note(search(client, { merchant: "no-such-shop" }));
    await counts.flush();
    expect(await kept()).toEqual([
      { merchantId: first.id, country: "DE", query: "zelt", searches: 3, empty: 0 },
    ]);
  });

  it("are written at shutdown; counts of fewer than three clients are lost", async () => {
    const { counts } = await setUp();
    for (const client of ["a", "b", "c"]) counts.note(search(client));
    for (const client of ["a", "b"]) counts.note(search(client, { query: "kocher" }));
    counts.start();
    await counts.stop();
    const { counts: next } = {
      counts: createSearchQueryCounter({
        db: world().database.db,
        clock: new TestClock(new Date(startedAt)),
        log: quiet,
      }),
    };
    next.note(search("c", { query: "kocher" }));
    await next.flush();
    expect(await kept()).toEqual([{ merchantId: null, country: "DE", query: "zelt", searches: 3, empty: 0 }]);
  });

  it("that the database refuses are written the next time, without an error for the caller", async () => {
    const { counts } = await setUp();
    for (const client of ["a", "b", "c"]) counts.note(search(client));
    await world().database.script((run) => run("alter table search_query_day rename to away"));
    await expect(counts.flush()).resolves.toBeUndefined();
    counts.note(search("d", { hasResults: false }));
    await world().database.script((run) => run("alter table away rename to search_query_day"));
    await counts.flush();
    expect(await kept()).toEqual([{ merchantId: null, country: "DE", query: "zelt", searches: 4, empty: 1 }]);
  });

  it("never fail, neither for a broken clock nor for an extreme query", async () => {
    const { counts } = await setUp();
    const broken = createSearchQueryCounter({
      db: world().database.db,
      clock: {
        now: () => {
          throw new Error("No time.");
        },
      },
      log: quiet,
    });
    expect(() => broken.note(search("a"))).not.toThrow();
    for (const client of ["a", "b", "c"]) counts.note(search(client, { query: "x".repeat(101) }));
    for (const client of ["a", "b", "c"]) counts.note(search(client, { query: "" }));
    await counts.flush();
    expect(await kept()).toEqual([]);
  });

  it("keep at most 10 000 queries in memory: the least recently used query is dropped", async () => {
    const { counts } = await setUp();
    for (const client of ["a", "b", "c"]) counts.note(search(client, { query: "first" }));
    for (const client of ["a", "b", "c"]) counts.note(search(client, { query: "second" }));
    for (let number = 0; number < 9999; number += 1) counts.note(search("a", { query: `q${number}` }));
    await counts.flush();
    expect(await kept()).toMatchObject([{ query: "second" }]);
  });

  it("are kept for as long as a report can look back", async () => {
    await setUp();
    const { db } = world().database;
    const now = new Date(startedAt);
    const dayOf = (ago: number): string =>
      new Date(now.getTime() - ago * 86_400_000).toISOString().slice(0, 10);
    for (const ago of [0, 732, 733])
      await db
        .insertInto("searchQueryDay")
        .values({
          day: dayOf(ago),
          merchantId: null,
          country: "DE",
          query: `ago${ago}`,
          searches: 3,
          empty: 0,
        })
        .execute();
    await deleteOldSearchQueryCounts(db, now);
    expect(await kept()).toMatchObject([{ query: "ago0" }, { query: "ago732" }]);
  });
});
