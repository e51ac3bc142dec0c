/**
 * Polls the state of watched objects with one statement for all of them, and stops while no object is
 * watched. Polling costs writers nothing, works through every connection pooler, and sees the commits of all
 * processes.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface Polling<Mark> {
  /**
   * Watches an object. Calls `onLook` after every poll with the object's state, or null if it does not exist.
   * Returns a function that ends the watch.
   */
  readonly watch: (id: string, onLook: (mark: Mark | null) => void) => () => void;
  readonly isWatched: (id: string) => boolean;
  /** Polls soon, because this process has changed an object. */
  readonly wake: () => void;
  readonly watchers: () => number;
  readonly close: () => void;
}

export interface PollingOptions<Mark> {
  /** Reads the states by id; objects that do not exist are omitted. */
  readonly look: (ids: readonly string[]) => Promise<ReadonlyMap<string, Mark>>;
  readonly everyMs: number;
  /** Minimum pause between polls in milliseconds. After a slow poll, the pause is four times its duration. */
  readonly pauseMsMin: number;
  /** Called at the first failed poll, and again only after a successful one. */
  readonly onFault: (error: unknown) => void;
}

/** Pause after a poll as a multiple of its duration, so that the database has time for other work. */
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
  const notifyWatchers = async (): Promise<void> => {
    const watchedIds = [...watchers.keys()];
    const found = await look(watchedIds);
    for (const id of watchedIds) for (const onLook of watchers.get(id) ?? []) onLook(found.get(id) ?? null);
  };
  const go = async (): Promise<void> => {
    const beganAtMs = performance.now();
    Object.assign(state, { isLooking: true, isCalled: false });
    try {
      await notifyWatchers();
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
      // Without watchers there is no poll that could clear the fault.
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
