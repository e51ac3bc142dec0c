/**
 * Polls the states of watched objects with one statement for all of them, and stops while no object is
 * watched. Unlike triggers and NOTIFY, polling does not slow down writers, works through every connection
 * pooler, and sees the commits of all processes.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface Polling<State> {
  /**
   * Watches an object. Calls `onState` after every poll with the object's state, or with null if the object
   * does not exist. Returns a function that ends the watch.
   */
  readonly watch: (id: string, onState: (state: State | null) => void) => () => void;
  readonly isWatched: (id: string) => boolean;
  /** Polls soon. Called when this process has changed an object. */
  readonly wake: () => void;
  /** Returns the number of watches. */
  readonly watchers: () => number;
  readonly close: () => void;
}

export interface PollingOptions<State> {
  /** Reads the states by id; objects that do not exist are omitted. */
  readonly look: (ids: readonly string[]) => Promise<ReadonlyMap<string, State>>;
  readonly everyMs: number;
  /** Minimum pause between polls in milliseconds. After a slow poll, the pause is four times its duration. */
  readonly pauseMsMin: number;
  /** Called at the first failed poll, and again only after a successful one. */
  readonly onFault: (error: unknown) => void;
}

/** Pause after a poll as a multiple of its duration, so that the database has time for other work. */
const pausePerPoll = 4;

export function createPolling<State>({
  look,
  everyMs,
  pauseMsMin,
  onFault,
}: PollingOptions<State>): Polling<State> {
  const watchers = new Map<string, Set<(state: State | null) => void>>();
  // The query serves all watchers, so it runs in a detached async context and not in one watcher's trace.
  const inDetachedContext = AsyncLocalStorage.snapshot();
  const state = { isPolling: false, isPollRequested: false, isFaulty: false, isClosed: false, nextAtMs: 0 };
  let timer: NodeJS.Timeout | undefined;

  const schedulePoll = (inMs: number): void => {
    clearTimeout(timer);
    if (!state.isClosed && watchers.size > 0)
      timer = inDetachedContext(() => setTimeout(() => void poll(), inMs).unref());
  };
  const notifyWatchers = async (): Promise<void> => {
    const watchedIds = [...watchers.keys()];
    const states = await look(watchedIds);
    for (const id of watchedIds)
      for (const onState of watchers.get(id) ?? []) onState(states.get(id) ?? null);
  };
  const poll = async (): Promise<void> => {
    const beganAtMs = performance.now();
    Object.assign(state, { isPolling: true, isPollRequested: false });
    try {
      await notifyWatchers();
      state.isFaulty = false;
    } catch (error) {
      if (!state.isFaulty && !state.isClosed) onFault(error);
      state.isFaulty = true;
    }
    const now = performance.now();
    state.isPolling = false;
    state.nextAtMs = now + Math.max(pauseMsMin, pausePerPoll * (now - beganAtMs));
    schedulePoll(Math.max(state.nextAtMs - now, state.isPollRequested && !state.isFaulty ? 0 : everyMs));
  };
  const wake = (): void => {
    state.isPollRequested = true;
    if (!state.isPolling && !state.isFaulty) schedulePoll(Math.max(state.nextAtMs - performance.now(), 0));
  };
  return {
    watch: (id, onState) => {
      // `isFaulty` is reset here, because without watchers no poll has run that could have reset it.
      if (watchers.size === 0) state.isFaulty = false;
      const known = watchers.get(id);
      if (known === undefined) watchers.set(id, new Set([onState]));
      else known.add(onState);
      wake();
      return () => {
        const remaining = watchers.get(id);
        remaining?.delete(onState);
        if (remaining?.size === 0) watchers.delete(id);
        if (watchers.size === 0) clearTimeout(timer);
      };
    },
    isWatched: (id) => watchers.has(id),
    wake,
    watchers: () => [...watchers.values()].reduce((sum, { size }) => sum + size, 0),
    close: () => {
      state.isClosed = true;
      clearTimeout(timer);
    },
  };
}
