/**
 * Polls the states of watched objects, with one statement for all of them. DatabasePoller stops while no
 * object is watched. Unlike triggers with NOTIFY, polling does not slow down writers, works through every
 * connection pooler, and sees the commits of all processes.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface DatabasePoller<State> {
  /**
   * Starts to watch an object. `onState` is called after every poll with the state of the object, or with
   * null if the object does not exist. Returns the function that ends the watch.
   */
  readonly watch: (id: string, onState: (state: State | null) => void) => () => void;
  readonly isWatched: (id: string) => boolean;
  /**
   * Starts a poll immediately, without waiting for the interval. Called when this process has changed an
   * object.
   */
  readonly wake: () => void;
  /** Returns how many watches of objects have started and not yet ended. */
  readonly watchers: () => number;
  readonly close: () => void;
}

export interface DatabasePollerOptions<State> {
  /**
   * Reads the current states of the watched objects, by id. The result has no entry for an object that does
   * not exist.
   */
  readonly readStates: (ids: readonly string[]) => Promise<ReadonlyMap<string, State>>;
  readonly everyMs: number;
  /**
   * Minimum pause between two polls in milliseconds. A slow poll is followed by a longer pause: four times
   * its duration.
   */
  readonly pauseMsMin: number;
  /** Called when a poll fails; after that, not called again until a poll has succeeded. */
  readonly onError: (error: unknown) => void;
}

/**
 * Minimum pause after a poll, as a multiple of the poll's duration, so that polling uses at most a fifth of a
 * connection's time.
 */
const pausePerPoll = 4;

export function createDatabasePoller<State>({
  readStates,
  everyMs,
  pauseMsMin,
  onError,
}: DatabasePollerOptions<State>): DatabasePoller<State> {
  const watchers = new Map<string, Set<(state: State | null) => void>>();
  // A poll serves all watchers. It therefore runs in a detached async context, and not in the trace of one
  // watcher.
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
    const states = await readStates(watchedIds);
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
      if (!state.isFaulty && !state.isClosed) onError(error);
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
      // No polls run while no object is watched, so the stored failure of an earlier poll is forgotten when
      // the first watch begins.
      if (watchers.size === 0) state.isFaulty = false;
      const callbacks = watchers.get(id);
      if (callbacks === undefined) watchers.set(id, new Set([onState]));
      else callbacks.add(onState);
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
