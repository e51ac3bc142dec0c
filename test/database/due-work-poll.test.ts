/** How often a process looks for due work: often while it has work, rarely while it has none. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDueWorkPoller, type DueWorkPoller } from "#database/due-work-poll.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Polled extends DueWorkPoller {
  /** Lets the time pass, and returns how many searches ran meanwhile. */
  readonly searchesIn: (ms: number) => number;
  readonly notices: { areReceived: boolean };
  /** The times until the next search, as the searches got them. */
  readonly told: number[];
}

function createPoll(): Polled {
  const notices = { areReceived: true };
  const told: number[] = [];
  const poll = createDueWorkPoller({
    search: (withinMs) => void told.push(withinMs),
    everyMs: 1_000,
    areNoticesReceived: () => notices.areReceived,
  });
  const searchesIn = (ms: number): number => {
    const before = told.length;
    vi.advanceTimersByTime(ms);
    return told.length - before;
  };
  return { ...poll, searchesIn, notices, told };
}

describe("a process", () => {
  it("searches at once and then every second for the first minute, and after that every ten seconds", () => {
    const poll = createPoll();
    poll.start();
    expect(poll.told).toEqual([1_000]);
    expect(poll.searchesIn(60_000)).toBe(60);
    expect(poll.searchesIn(60_000)).toBe(6);
    expect(poll.told.at(-1)).toBe(10_000);
    poll.stop();
    expect(poll.searchesIn(60_000)).toBe(0);
  });

  it("searches every second again for a minute after work was noted", () => {
    const poll = createPoll();
    poll.start();
    poll.searchesIn(75_000);
    poll.noteWork();
    expect(poll.searchesIn(1_000)).toBe(1);
    expect(poll.searchesIn(55_000)).toBe(55);
    poll.noteWork();
    expect(poll.searchesIn(50_000)).toBe(50);
    poll.stop();
  });

  it("searches every second if notices do not reach it", () => {
    const poll = createPoll();
    poll.notices.areReceived = false;
    poll.start();
    poll.searchesIn(120_000);
    expect(poll.searchesIn(60_000)).toBe(60);
    poll.notices.areReceived = true;
    poll.searchesIn(1_000);
    expect(poll.searchesIn(60_000)).toBe(6);
    poll.stop();
  });

  it("does not begin to search if work is noted before it starts or after it stops", () => {
    const poll = createPoll();
    poll.noteWork();
    expect(poll.searchesIn(10_000)).toBe(0);
    poll.start();
    poll.stop();
    poll.noteWork();
    expect(poll.searchesIn(10_000)).toBe(0);
  });
});
