/**
 * How often a process looks for due work: often while it has work; while it has none, rarely and when known
 * work becomes due.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDueWorkPoller, type DueWorkPoller, idlePollMs } from "#database/due-work-poll.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Polled extends DueWorkPoller {
  /** Lets the time pass, and returns how many searches ran meanwhile. */
  readonly searchesIn: (ms: number) => Promise<number>;
  readonly notices: { areReceived: boolean };
  /** The results of the next searches: the milliseconds until work becomes due. */
  readonly dueInMs: number[];
  /** The times until the next search, as the searches got them. */
  readonly told: number[];
}

function createPoll(): Polled {
  const notices = { areReceived: true };
  const told: number[] = [];
  const dueInMs: number[] = [];
  const poll = createDueWorkPoller({
    search: (withinMs) => {
      told.push(withinMs);
      return Promise.resolve(dueInMs.shift());
    },
    everyMs: 1_000,
    areNoticesReceived: () => notices.areReceived,
  });
  const searchesIn = async (ms: number): Promise<number> => {
    const before = told.length;
    await vi.advanceTimersByTimeAsync(ms);
    return told.length - before;
  };
  return { ...poll, searchesIn, notices, told, dueInMs };
}

describe("a process", () => {
  it("searches at once and then every second for the first minute, and after that twice a minute", async () => {
    const poll = createPoll();
    poll.start();
    expect(poll.told).toEqual([1_000]);
    expect(await poll.searchesIn(60_000)).toBe(60);
    expect(await poll.searchesIn(60_000)).toBe(2);
    expect(poll.told.at(-1)).toBe(idlePollMs);
    await poll.stop();
    expect(await poll.searchesIn(60_000)).toBe(0);
  });

  it("searches every second again for a minute after work was noted", async () => {
    const poll = createPoll();
    poll.start();
    await poll.searchesIn(75_000);
    poll.noteWork();
    expect(await poll.searchesIn(1_000)).toBe(1);
    expect(await poll.searchesIn(55_000)).toBe(55);
    poll.noteWork();
    expect(await poll.searchesIn(50_000)).toBe(50);
    await poll.stop();
  });

  it("searches when known work becomes due, if that is before the next regular search", async () => {
    const poll = createPoll();
    poll.start();
    await poll.searchesIn(60_000);
    poll.dueInMs.push(7_000, 45_000);
    // The search after half a minute learns of work in 7 s, and the search at that time of work in 45 s.
    expect(await poll.searchesIn(30_000)).toBe(1);
    expect(await poll.searchesIn(6_999)).toBe(0);
    expect(await poll.searchesIn(1)).toBe(1);
    expect(await poll.searchesIn(29_999)).toBe(0);
    expect(await poll.searchesIn(1)).toBe(1);
    await poll.stop();
  });

  it("searches every second if notices do not reach it", async () => {
    const poll = createPoll();
    poll.notices.areReceived = false;
    poll.start();
    await poll.searchesIn(120_000);
    expect(await poll.searchesIn(60_000)).toBe(60);
    poll.notices.areReceived = true;
    await poll.searchesIn(1_000);
    expect(await poll.searchesIn(60_000)).toBe(2);
    await poll.stop();
  });

  it("does not begin to search if work is noted before it starts or after it stops", async () => {
    const poll = createPoll();
    poll.noteWork();
    expect(await poll.searchesIn(10_000)).toBe(0);
    poll.start();
    await poll.stop();
    poll.noteWork();
    expect(await poll.searchesIn(10_000)).toBe(0);
  });

  it("searches for one kind of work after the other while it has none", async () => {
    const running = { now: 0, most: 0 };
    const polls = Array.from({ length: 3 }, () =>
      createDueWorkPoller({
        search: async () => {
          running.now += 1;
          running.most = Math.max(running.most, running.now);
          await new Promise((done) => setTimeout(done, 10));
          running.now -= 1;
          return undefined;
        },
        everyMs: 1_000,
        areNoticesReceived: () => true,
      }),
    );
    for (const poll of polls) poll.start();
    await vi.advanceTimersByTimeAsync(61_000);
    expect(running).toEqual({ now: 0, most: 3 });
    running.most = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(running).toEqual({ now: 0, most: 1 });
    await Promise.all(polls.map((poll) => poll.stop()));
  });
});
