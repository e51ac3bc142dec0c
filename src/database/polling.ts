/**
 * Looks again and again at what somebody waits for, all of it in one statement, and at nothing while nobody
 * waits. It costs writers nothing, works through every pooler, and sees what any process has committed.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface Polling<Mark> {
  /** Calls back after every look, with what was found; null: it is not there. Gives what ends it. */
  readonly watch: (id: string, onLook: (mark: Mark | null) => void) => () => void;
  readonly isWatched: (id: string) => boolean;
  /** Something has happened here: it need not wait for the next look. */
  readonly wake: () => void;
  readonly watchers: () => number;
  readonly close: () => void;
}

export interface PollingOptions<Mark> {
  /** By id; what is not there is left out. */
  readonly look: (ids: readonly string[]) => Promise<ReadonlyMap<string, Mark>>;
  readonly everyMs: number;
  /**
   * However much happens here, it does not look more often than this; and where a look takes long, it rests
   * for four times as long.
   */
  readonly pauseMsMin: number;
  /** Told once until it looks well again. */
  readonly onFault: (error: unknown) => void;
}

/** So much of the time the database has for others. */
const restPerLook = 4;

export function createPolling<Mark>({
  look,
  everyMs,
  pauseMsMin,
  onFault,
}: PollingOptions<Mark>): Polling<Mark> {
  const watchers = new Map<string, Set<(mark: Mark | null) => void>>();
  // A shared query runs in a detached async context: the first watcher may be in a trace of its own.
  const inDetachedContext = AsyncLocalStorage.snapshot();
  const state = { isLooking: false, isCalled: false, isFaulty: false, isOver: false, nextAtMs: 0 };
  let timer: NodeJS.Timeout | undefined;

  const plan = (inMs: number): void => {
    clearTimeout(timer);
    if (!state.isOver && watchers.size > 0)
      timer = inDetachedContext(() => setTimeout(() => void go(), inMs).unref());
  };
  const tellAll = async (): Promise<void> => {
    const asked = [...watchers.keys()];
    const found = await look(asked);
    for (const id of asked) for (const onLook of watchers.get(id) ?? []) onLook(found.get(id) ?? null);
  };
  const go = async (): Promise<void> => {
    const beganAtMs = performance.now();
    Object.assign(state, { isLooking: true, isCalled: false });
    try {
      await tellAll();
      state.isFaulty = false;
    } catch (error) {
      if (!state.isFaulty && !state.isOver) onFault(error);
      state.isFaulty = true;
    }
    const now = performance.now();
    state.isLooking = false;
    state.nextAtMs = now + Math.max(pauseMsMin, restPerLook * (now - beganAtMs));
    plan(Math.max(state.nextAtMs - now, state.isCalled && !state.isFaulty ? 0 : everyMs));
  };
  const wake = (): void => {
    state.isCalled = true;
    if (!state.isLooking && !state.isFaulty) plan(Math.max(state.nextAtMs - performance.now(), 0));
  };
  return {
    watch: (id, onLook) => {
      // With the last watcher went the timer that would have found it mended.
      if (watchers.size === 0) state.isFaulty = false;
      const known = watchers.get(id);
      if (known === undefined) watchers.set(id, new Set([onLook]));
      else known.add(onLook);
      wake();
      return () => {
        const left = watchers.get(id);
        left?.delete(onLook);
        if (left?.size === 0) watchers.delete(id);
        if (watchers.size === 0) clearTimeout(timer);
      };
    },
    isWatched: (id) => watchers.has(id),
    wake,
    watchers: () => [...watchers.values()].reduce((sum, { size }) => sum + size, 0),
    close: () => {
      state.isOver = true;
      clearTimeout(timer);
    },
  };
}
