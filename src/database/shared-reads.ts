/**
 * Shares statements between requests: reads that different requests make at the same time run as one
 * statement. Each kind of row has one DataLoader for all requests of the process. A read waits for the end of
 * the event loop turn, because requests that arrived together start in the same turn. While two statements
 * run, a read waits until one of them has returned. No row is cached: a key leaves the loader's cache before
 * its statement starts, so every row was read after it was requested. Callers must check permissions before
 * or after the read.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Semaphore } from "async-mutex";
import DataLoader from "dataloader";
import { type Span, runInChildSpan } from "#foundation/tracing.ts";
import { refuseInsideTransaction } from "./transaction-dialect.ts";
import { isDatabaseUnreachable } from "./database-errors.ts";

export interface SharedReads<Key, Row> {
  /** Returns the row; null if the row does not exist. */
  readonly load: (key: Key) => Promise<Row | null>;
  readonly nameOf: (key: Key) => string;
}

export interface SharedReadsOptions<Key, Row> {
  /** Keys with the same name are equal. */
  readonly nameOf: (key: Key) => string;
  /** Returns the rows by the names of their keys; keys without a row are omitted. */
  readonly find: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Row>>;
}

/** Maximum number of keys that one statement reads. */
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
  /** By the name of a key: the recorded span of the first caller that waits for this key. */
  const spans = new Map<string, Span>();
  /** Limits the statements that run at the same time. DataLoader has no such limit. */
  const running = new Semaphore(runningMax);
  // A shared read serves several callers, so it runs in a detached async context and not in the transaction
  // or trace of the first caller.
  const inDetachedContext = AsyncLocalStorage.snapshot();

  const read = async (waiting: readonly Waiting<Key>[]): Promise<(Row | null | Error)[]> => {
    const findRows = (): ReturnType<typeof find> => find(waiting.map(({ key }) => key));
    // The statement belongs to the first recorded span that waits for it.
    const span = waiting.find((one) => one.span !== undefined)?.span;
    span?.set({ "commerce.read_together": waiting.length });
    try {
      const found = await (span === undefined ? findRows() : span.run(findRows));
      return waiting.map(({ name }) => found.get(name) ?? null);
    } catch (error) {
      // One failing key must not fail the others, so each key is read again separately. If the database is
      // unreachable, all keys would fail again, so they are not read again.
      if (waiting.length > 1 && !isDatabaseUnreachable(error))
        return (await Promise.all(waiting.map((one) => read([one])))).flat();
      return waiting.map(() => (error instanceof Error ? error : new Error(String(error))));
    }
  };
  const startRead = (key: Key): Waiting<Key> => {
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
      // Runs the loader's batch function synchronously, unless the loader's cache has all keys of the batch.
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
  /** Loads several rows. The result has an error for each key that failed. */
  loadMany(keys: ArrayLike<Key>): Promise<(Row | Error)[]>;
  /** Adds a row to the cache, so that it is not read again. */
  prime(key: Key, row: Row): unknown;
}

/**
 * Caches the rows of one request and reads missing rows through `SharedReads`, together with other requests.
 * A DataLoader with `batch: false` would do the same, but would delay each load needlessly to a later tick:
 * `SharedReads` already waits for the end of the event loop turn.
 */
export class SharedRowLoader<Key, Row> implements RowLoader<Key, Row | null> {
  readonly #reads: SharedReads<Key, Row>;
  readonly #cached = new Map<string, Promise<Row | null>>();

  constructor(reads: SharedReads<Key, Row>) {
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
