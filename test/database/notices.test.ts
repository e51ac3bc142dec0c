/** Notices between processes: a missed notice is always reported, whatever happens to the connection. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { test, vi } from "vitest";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { type InterProcessNoticeListener, listenForInterProcessNotices } from "#database/notices.ts";
import { createDatabase, dropDatabase } from "#test/support/create-database.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";

const channel = "tried";

interface Recorder {
  readonly listening: InterProcessNoticeListener;
  /** The received notices, and whether the channel was current at each. */
  readonly notices: { payload: string; isCurrent: boolean }[];
  readonly payloads: () => string[];
  /** Returns how often the channel reported that no notices arrive. */
  readonly deaf: () => number;
}

/** The database of one test, on which the test's processes listen and send. */
interface NoticeSetup {
  readonly url: string;
  readonly database: OpenedDatabase;
  /** Listens on a connection of its own, through the proxy if one is given. */
  readonly startRecorder: (proxy?: CuttingProxy) => Promise<Recorder>;
  readonly startProxy: () => Promise<CuttingProxy>;
  readonly sendNotice: (payload: string) => Promise<unknown>;
  /** Closes all listening connections of this database. */
  readonly cut: () => Promise<unknown>;
  /** Registers work for the end of the test. */
  readonly end: (work: () => Promise<void>) => void;
}

function createNoticeSetup(url: string, database: OpenedDatabase, end: NoticeSetup["end"]): NoticeSetup {
  return {
    url,
    database,
    startRecorder: async (proxy) => {
      const directUrl = new URL(url);
      if (proxy !== undefined) directUrl.port = String(proxy.port);
      const other = await openDatabase({ url, directUrl: directUrl.href });
      const notices: Recorder["notices"] = [];
      let deaf = 0;
      const listening: InterProcessNoticeListener = other.listen(channel, {
        onNotice: (payload) => notices.push({ payload, isCurrent: listening.isCurrent() }),
        onNoticesLost: () => (deaf += 1),
      });
      end(async () => {
        await listening.stop();
        await other.close();
      });
      return { listening, notices, deaf: () => deaf, payloads: () => notices.map(({ payload }) => payload) };
    },
    startProxy: async () => {
      const proxy = await startCuttingProxy(Number(new URL(url).port));
      end(() => proxy.stop());
      return proxy;
    },
    sendNotice: (payload) => sql`select pg_notify(${channel}, ${payload})`.execute(database.db),
    cut: () =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
        and query like 'listen %'`.execute(database.db),
    end,
  };
}

const alone = test.extend<{ setup: NoticeSetup }>({
  // eslint-disable-next-line no-empty-pattern -- vitest reads the fixture's dependencies from the pattern.
  setup: async ({}, use) => {
    const url = await createDatabase();
    const database = await openDatabase({ url });
    const ends: (() => Promise<void>)[] = [];
    await use(createNoticeSetup(url, database, (work) => void ends.push(work)));
    try {
      for (const end of ends.toReversed()) await end();
    } finally {
      await database.close();
      await dropDatabase(url);
    }
  },
});

/** Tests that run at the same time, because they mostly wait. Tests that must see a short gap run alone. */
const it = alone.concurrent;

const becomes = (isCurrent: boolean, { listening }: Recorder): Promise<unknown> =>
  vi.waitUntil(() => listening.isCurrent() === isCurrent, { timeout: 45_000 });

it("the channel of notices is current only after it reported that notices may have been missed", async ({
  expect,
  setup,
}) => {
  const { startRecorder } = setup;
  const recorder = await startRecorder();
  expect(recorder.listening.isCurrent()).toBe(false);
  await becomes(true, recorder);
  expect(recorder.notices).toEqual([{ payload: "", isCurrent: false }]);
});

it("the channel of notices receives a transaction's notices after its commit only", async ({
  expect,
  setup,
}) => {
  const { database, startRecorder, sendNotice } = setup;
  const recorder = await startRecorder();
  await becomes(true, recorder);
  await database.script(async (run) => {
    await run(`begin; notify ${channel}, 'kept'`);
    await sendNotice("at once");
    await expect.poll(recorder.payloads).toEqual(["", "at once"]);
    await run("commit");
    await run(`begin; notify ${channel}, 'undone'; rollback`);
  });
  await sendNotice("last");
  await expect.poll(recorder.payloads).toEqual(["", "at once", "kept", "last"]);
});

alone(
  "the channel of notices is not current while disconnected, and first reports a possible gap",
  async ({ expect, setup }) => {
    const { startRecorder, startProxy, sendNotice, cut } = setup;
    const proxy = await startProxy();
    const recorder = await startRecorder(proxy);
    await becomes(true, recorder);
    await cut();
    await becomes(false, recorder);
    // The next connection listens only after the notice was sent.
    proxy.hold();
    await sendNotice("missed");
    proxy.goOn();
    await becomes(true, recorder);
    expect(recorder.notices).toEqual([
      { payload: "", isCurrent: false },
      { payload: "", isCurrent: false },
    ]);
    await sendNotice("heard");
    await expect.poll(recorder.payloads).toEqual(["", "", "heard"]);
  },
);

it("the channel of notices is not current while silent, and then receives all delayed notices", async ({
  expect,
  setup,
}) => {
  const { startRecorder, startProxy, sendNotice } = setup;
  const proxy = await startProxy();
  const recorder = await startRecorder(proxy);
  await becomes(true, recorder);
  proxy.hold();
  await sendNotice("in silence");
  await becomes(false, recorder);
  expect(recorder.payloads()).toEqual([""]);
  proxy.goOn();
  await becomes(true, recorder);
  expect(recorder.payloads()).toEqual(["", "in silence"]);
});

it("the channel of notices confirms that every earlier notice has arrived", async ({ expect, setup }) => {
  const { startRecorder, sendNotice } = setup;
  const recorder = await startRecorder();
  await becomes(true, recorder);
  let confirmed = 0;
  for (let index = 0; index < 50; index += 1) {
    await sendNotice(`notice ${index}`);
    // Several callers at the same time share checks.
    const answers = await Promise.all([recorder.listening.confirm(), recorder.listening.confirm()]);
    // A slow answer of the connection is not waited for, and confirms nothing.
    if (!answers.includes(true)) continue;
    confirmed += 1;
    expect(recorder.payloads()).toContain(`notice ${index}`);
  }
  expect(confirmed).toBeGreaterThan(0);
});

alone("the channel of notices confirms nothing while silent or disconnected", async ({ expect, setup }) => {
  const { startRecorder, startProxy, sendNotice, cut } = setup;
  const proxy = await startProxy();
  const recorder = await startRecorder(proxy);
  expect(await recorder.listening.confirm()).toBe(false);
  await becomes(true, recorder);
  await expect.poll(() => recorder.listening.confirm()).toBe(true);
  proxy.hold();
  await sendNotice("in silence");
  for (let time = 0; time < 3; time += 1) expect(await recorder.listening.confirm()).toBe(false);
  proxy.goOn();
  await expect.poll(() => recorder.listening.confirm()).toBe(true);
  expect(recorder.payloads()).toContain("in silence");
  await cut();
  await becomes(false, recorder);
  expect(await recorder.listening.confirm()).toBe(false);
});

it("the channel of notices closes a connection that stays silent, and opens another", async ({
  expect,
  setup,
}) => {
  const { startRecorder, startProxy } = setup;
  const proxy = await startProxy();
  const recorder = await startRecorder(proxy);
  await becomes(true, recorder);
  proxy.hold();
  await becomes(false, recorder);
  await expect.poll(proxy.opened).toBeGreaterThanOrEqual(3);
  proxy.goOn();
  await becomes(true, recorder);
  expect(recorder.payloads()).toEqual(["", ""]);
});

it("the channel of notices is not current if notices get lost, reports it, and recovers", async ({
  expect,
  setup,
}) => {
  const { startRecorder, startProxy, sendNotice } = setup;
  const proxy = await startProxy();
  proxy.mute();
  const recorder = await startRecorder(proxy);
  await expect.poll(recorder.deaf).toBe(1);
  expect(recorder.notices).toEqual([{ payload: "", isCurrent: false }]);
  await sendNotice("lost");
  await expect.poll(proxy.muted).toBe(2);
  expect([recorder.listening.isCurrent(), recorder.deaf()]).toEqual([false, 1]);
  proxy.unmute();
  await becomes(true, recorder);
  // The gap is reported before the channel becomes current again.
  expect(recorder.notices).toEqual([
    { payload: "", isCurrent: false },
    { payload: "", isCurrent: false },
  ]);
  await sendNotice("heard");
  await expect.poll(recorder.payloads).toEqual(["", "", "heard"]);
  expect(proxy.opened()).toBe(1);
}, 90_000);

it("the channel of notices hides the monitoring notices of processes", async ({ expect, setup }) => {
  const { startRecorder } = setup;
  const [one, other] = [await startRecorder(), await startRecorder()];
  await becomes(true, one);
  await becomes(true, other);
  expect([one.payloads(), other.payloads()]).toEqual([[""], [""]]);
});

it("the channel of notices is not current after it is closed", async ({ expect, setup }) => {
  const { startRecorder } = setup;
  const recorder = await startRecorder();
  await becomes(true, recorder);
  await recorder.listening.stop();
  expect(recorder.listening.isCurrent()).toBe(false);
});

it("the connection is checked rarely while nobody asks, and at once when somebody asks again", async ({
  expect,
  setup,
}) => {
  const { url, database, sendNotice, end } = setup;
  const notices: string[] = [];
  const listening = listenForInterProcessNotices(
    { connection: { connectionString: url }, channel, db: database.db, idleAfterMs: 300 },
    { onNotice: (payload) => notices.push(payload) },
  );
  end(() => listening.stop());
  await expect.poll(() => listening.isCurrent()).toBe(true);
  // Without a question, the checks become rare, and the last one becomes older than 700 ms.
  await sleep(3_500);
  expect(listening.isReceiving()).toBe(true);
  expect(listening.isCurrent()).toBe(false);
  await expect.poll(() => listening.isCurrent(), { interval: 10, timeout: 20_000 }).toBe(true);
  await sendNotice("work");
  await expect.poll(() => notices).toContain("work");
});
