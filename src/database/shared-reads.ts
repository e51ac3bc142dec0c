/**
 * Combines the reads of several requests: reads of the same kind of row that start at the same time run as
 * one SQL statement. The process has one DataLoader for each kind of row. A read waits until the event loop
 * turn ends, because requests that arrive together start their reads in the same turn. While two statements
 * run, further reads wait until one of them has returned. No row is cached: a key is removed from the
 * DataLoader's cache before its statement starts, so a caller never gets a row that was read before the
 * caller asked. This file checks no permissions; callers must check them before or after the read.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Semaphore } from "async-mutex";
import DataLoader from "dataloader";
import {
  getCurrentRequestIdAndRoute,
  type RequestIdAndRoute,
  runWithRequestIdAndRoute,
} from "#foundation/request-origin.ts";
import { type Span, runInChildSpan } from "#foundation/tracing.ts";
import { requireNoOpenTransaction } from "./transaction-dialect.ts";
import { isDatabaseUnreachableError } from "./database-errors.ts";

export interface ReadCoalescer<Key, Row> {
  /** Returns the row that belongs to a key; null if the key has no row. */
  readonly load: (key: Key) => Promise<Row | null>;
  readonly nameOf: (key: Key) => string;
}

export interface ReadCoalescerOptions<Key, Row> {
  /** Returns a text that identifies the row of a key. Two keys with the same text select the same row. */
  readonly nameOf: (key: Key) => string;
  /**
   * Reads the rows of several keys with one SQL statement. Returns a map of the rows by the texts of their
   * keys; the map has no entry for a key without a row.
   */
  readonly find: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Row>>;
}

/** Maximum number of keys whose rows one SQL statement reads. */
const keysMax = 32;
const runningMax = 2;

interface Waiting<Key> {
  readonly key: Key;
  readonly name: string;
  readonly span: Span | undefined;
  readonly origin: RequestIdAndRoute | undefined;
}

export function createReadCoalescer<Key, Row>({
  nameOf,
  find,
}: ReadCoalescerOptions<Key, Row>): ReadCoalescer<Key, Row> {
  /**
   * The trace span of the first caller that waits for a key, by the name of the key. The map has no entry if
   * this caller's span is not recorded.
   */
  const spans = new Map<string, Span>();
  /** For each key that waits to be read: the request of the first caller. The map is indexed like `spans`. */
  const origins = new Map<string, RequestIdAndRoute>();
  /** Limits how many statements run at the same time. DataLoader has no such limit. */
  const running = new Semaphore(runningMax);
  // A shared read serves several callers. It therefore runs in a detached async context, and not in the
  // transaction or the trace of the first caller.
  const inDetachedContext = AsyncLocalStorage.snapshot();

  const read = async (waiting: readonly Waiting<Key>[]): Promise<(Row | null | Error)[]> => {
    // One statement serves several callers, but is logged with the id of only one request.
    const origin = waiting.find((entry) => entry.origin !== undefined)?.origin;
    const findRows = (): ReturnType<typeof find> =>
      runWithRequestIdAndRoute(origin, () => find(waiting.map(({ key }) => key)));
    // One statement serves several callers, but its span can have only one parent: the first recorded span of
    // a caller that waits for the statement.
    const span = waiting.find((entry) => entry.span !== undefined)?.span;
    span?.set({ "commerce.read_together": waiting.length });
    try {
      const found = await (span === undefined ? findRows() : span.run(findRows));
      return waiting.map(({ name }) => found.get(name) ?? null);
    } catch (error) {
      // If a shared statement fails, each key is read again in a statement of its own, so that one faulty key
      // does not fail the others. Nothing is read again if the database is unreachable, because these
      // statements would fail too.
      if (waiting.length > 1 && !isDatabaseUnreachableError(error))
        return (await Promise.all(waiting.map((entry) => read([entry])))).flat();
      return waiting.map(() => (error instanceof Error ? error : new Error(String(error))));
    }
  };
  const startRead = (key: Key): Waiting<Key> => {
    const name = nameOf(key);
    const span = spans.get(name);
    const origin = origins.get(name);
    spans.delete(name);
    origins.delete(name);
    loader.clear(key);
    return { key, name, span, origin };
  };
  let statement: Promise<(Row | null | Error)[]> | undefined;
  const schedule = (dispatch: () => void): void => {
    const run = (): typeof statement => {
      statement = undefined;
      // `dispatch` makes DataLoader call its batch function at once, which sets `statement`. DataLoader does
      // not call it if all keys are cached; `statement` then stays undefined.
      dispatch();
      return statement;
    };
    inDetachedContext(() => setImmediate(() => void running.runExclusive(run)));
  };
  const loader: DataLoader<Key, Row | null, string> = new DataLoader(
    (keys) => (statement = read(keys.map(startRead))),
    {
      cacheKeyFn: nameOf,
      maxBatchSize: keysMax,
      batchScheduleFn: schedule,
    },
  );

  return {
    nameOf,
    load: (key) => {
      requireNoOpenTransaction();
      return runInChildSpan({ name: "read together" }, (span) => {
        const name = nameOf(key);
        if (span !== undefined && !spans.has(name)) spans.set(name, span);
        const origin = getCurrentRequestIdAndRoute();
        if (origin !== undefined && !origins.has(name)) origins.set(name, origin);
        return loader.load(key);
      });
    },
  };
}

/** The methods of a DataLoader that the GraphQL layer calls. */
export interface DataLoaderFunctions<Key, Row> {
  load(key: Key): Promise<Row>;
  /** Loads several rows. The result has an error instead of a row for each key that failed. */
  loadMany(keys: ArrayLike<Key>): Promise<(Row | Error)[]>;
  /**
   * Adds a row that the caller has already loaded to the cache, so that `load` does not read the row from the
   * database.
   */
  prime(key: Key, row: Row): unknown;
}

/**
 * Caches the rows of one request. Rows that are not cached are read through `ReadCoalescer`, together with
 * the reads of other requests. A second DataLoader with `batch: false` is not used as the cache, because it
 * would delay each read by a further tick.
 */
export class CoalescingRequestDataLoader<Key, Row> implements DataLoaderFunctions<Key, Row | null> {
  readonly #reads: ReadCoalescer<Key, Row>;
  readonly #cached = new Map<string, Promise<Row | null>>();

  constructor(reads: ReadCoalescer<Key, Row>) {
    this.#reads = reads;
  }

  load(key: Key): Promise<Row | null> {
    const name = this.#reads.nameOf(key);
    let row = this.#cached.get(name);
    if (row === undefined) {
      row = this.#reads.load(key);
      this.#cached.set(name, row);
    }
    return row;
  }

  prime(key: Key, row: Row | null): void {
    const name = this.#reads.nameOf(key);
    if (!this.#cached.has(name)) this.#cached.set(name, Promise.resolve(row));
  }

  loadMany(keys: ArrayLike<Key>): Promise<(Row | null | Error)[]> {
    const load = (key: Key): Promise<Row | null | Error> =>
      this.load(key).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    return Promise.all(Array.from(keys, load));
  }
}
