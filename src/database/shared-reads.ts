/**
 * Reads of different requests at the same time share one statement: one DataLoader for each kind of row, for
 * all requests of the process. A read waits for the end of this turn of the event loop, in which all requests
 * that arrived together have been started; while two statements are running, it waits until one has returned.
 * No answer is cached: a key leaves the loader's cache before its statement starts, so each answer was read
 * after the request for it. Callers are authorised before, or check what they get.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Semaphore } from "async-mutex";
import DataLoader from "dataloader";
import { type Span, runInChildSpan } from "#foundation/tracing.ts";
import { refuseInsideTransaction } from "./transaction-dialect.ts";
import { isDatabaseUnreachable } from "./database-errors.ts";

export interface SharedReads<Key, Row> {
  /** `null` if there is no row. */
  readonly load: (key: Key) => Promise<Row | null>;
  readonly nameOf: (key: Key) => string;
}

export interface SharedReadsOptions<Key, Row> {
  /** Keys with the same name are equal. */
  readonly nameOf: (key: Key) => string;
  /** Reads rows by the names of their keys; keys without a row are omitted. */
  readonly find: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Row>>;
}

/** The longest list of keys for which statements are prepared. */
const keysMax = 32;
const runningMax = 2;

interface Waiting<Key> {
  readonly key: Key;
  readonly name: string;
  readonly span: Span | undefined;
}

export function createSharedReads<Key, Row>({
  nameOf,
  find,
}: SharedReadsOptions<Key, Row>): SharedReads<Key, Row> {
  /** The span of the first waiting caller whose trace is recorded, by the name of the key. */
  const spans = new Map<string, Span>();
  /** DataLoader itself has no bound on the batches that run at the same time. */
  const running = new Semaphore(runningMax);
  // A shared read runs in a detached async context: the first caller may be inside a transaction or a trace
  // of its own.
  const inDetachedContext = AsyncLocalStorage.snapshot();

  const read = async (waiting: readonly Waiting<Key>[]): Promise<(Row | null | Error)[]> => {
    const look = (): ReturnType<typeof find> => find(waiting.map(({ key }) => key));
    // In a trace, the statement is a part of the first recorded span that waits for it.
    const span = waiting.find((one) => one.span !== undefined)?.span;
    span?.set({ "commerce.read_together": waiting.length });
    try {
      const found = await (span === undefined ? look() : span.run(look));
      return waiting.map(({ name }) => found.get(name) ?? null);
    } catch (error) {
      // A key that fails must not fail the others. While the database is away, all fail alike and are not
      // read again.
      if (waiting.length > 1 && !isDatabaseUnreachable(error))
        return (await Promise.all(waiting.map((one) => read([one])))).flat();
      return waiting.map(() => (error instanceof Error ? error : new Error(String(error))));
    }
  };
  const begin = (key: Key): Waiting<Key> => {
    const name = nameOf(key);
    const span = spans.get(name);
    spans.delete(name);
    loader.clear(key);
    return { key, name, span };
  };
  let statement: Promise<(Row | null | Error)[]> | undefined;
  const schedule = (dispatch: () => void): void => {
    const run = (): typeof statement => {
      statement = undefined;
      // Calls the loader's batch function at once, unless all keys of the batch were in the cache.
      dispatch();
      return statement;
    };
    inDetachedContext(() => setImmediate(() => void running.runExclusive(run)));
  };
  const loader: DataLoader<Key, Row | null, string> = new DataLoader(
    (keys) => (statement = read(keys.map(begin))),
    {
      cacheKeyFn: nameOf,
      maxBatchSize: keysMax,
      batchScheduleFn: schedule,
    },
  );

  return {
    nameOf,
    load: (key) => {
      refuseInsideTransaction();
      return runInChildSpan({ name: "read together" }, (span) => {
        const name = nameOf(key);
        if (span !== undefined && !spans.has(name)) spans.set(name, span);
        return loader.load(key);
      });
    },
  };
}

/** The part of a DataLoader that the GraphQL layer uses. */
export interface RowLoader<Key, Row> {
  load(key: Key): Promise<Row>;
  /** Loads several rows; a failed key does not make the others fail. */
  loadMany(keys: ArrayLike<Key>): Promise<(Row | Error)[]>;
  /** Adds a row to the cache, so that it is not read again. */
  prime(key: Key, row: Row): unknown;
}

/**
 * Keeps the rows of a request over reads that requests share. A DataLoader with `batch: false` would do the
 * same, but defers each load to a later tick, which the shared reads wait for anyway.
 */
export class SharedRowLoader<Key, Row> implements RowLoader<Key, Row | null> {
  readonly #reads: SharedReads<Key, Row>;
  readonly #kept = new Map<string, Promise<Row | null>>();

  constructor(reads: SharedReads<Key, Row>) {
    this.#reads = reads;
  }

  load(key: Key): Promise<Row | null> {
    const name = this.#reads.nameOf(key);
    let row = this.#kept.get(name);
    if (row === undefined) {
      row = this.#reads.load(key);
      this.#kept.set(name, row);
    }
    return row;
  }

  prime(key: Key, row: Row | null): void {
    const name = this.#reads.nameOf(key);
    if (!this.#kept.has(name)) this.#kept.set(name, Promise.resolve(row));
  }

  loadMany(keys: ArrayLike<Key>): Promise<(Row | null | Error)[]> {
    const load = (key: Key): Promise<Row | null | Error> =>
      this.load(key).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    return Promise.all(Array.from(keys, load));
  }
}
