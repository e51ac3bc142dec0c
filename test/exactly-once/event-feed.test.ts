/** Readers of the event feed beside concurrent writers: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { runEventFeed } from "#soak/event-feed.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { openFresh } from "#test/support/databases.ts";

const plan = { writers: 8, subjects: 20, delayMsMax: 200 };

it("readers of the event feed miss no event and get subjects in order on postgres", async () => {
  const url = await createDatabase();
  const opened: OpenedDatabase[] = [];
  const open = async (name: string): Promise<OpenedDatabase> => {
    const database = await openDatabase({ url: `${url}?application_name=${name}`, poolSize: 16 });
    opened.push(database);
    return database;
  };
  const { violations, counts } = await runEventFeed({ ...plan, open, events: 3_000 });
  await Promise.all(opened.map((database) => database.close()));
  expect(violations).toEqual([]);
  expect(counts["events"]).toBeGreaterThanOrEqual(3_000);
  expect(counts["faults in plain insert order"]).toBeGreaterThan(0);
});

it("readers of the event feed miss no event and get subjects in order on pglite", async () => {
  const opened = await openFresh("pglite");
  const open = (): Promise<OpenedDatabase> => Promise.resolve(opened);
  const { violations, counts } = await runEventFeed({ ...plan, open, events: 500 });
  await opened.close();
  expect(violations).toEqual([]);
  expect(counts["events"]).toBeGreaterThanOrEqual(500);
});
