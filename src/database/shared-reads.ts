/**
 * Reads of different requests at the same time share one statement. A read waits for the end of this turn of the event loop, in which all requests that
 * arrived together have been started; while two statements are running, it waits until one has returned. Nothing is cached: each answer was read after it
 * was asked for. Callers are authorised before, or check what they get. DataLoader does not do this: it has no bound on running statements, joins equal
 * keys only by caching answers, and fails all keys of a batch if one fails.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Span, tracedPart } from "#foundation/tracing.ts";
import { refuseInsideTransaction } from "./transaction-dialect.ts";
import { isDatabaseAway } from "./database-errors.ts";

export interface SharedReads<Key, Row> {
  /** `null` if there is no row. */
  readonly load: (key: Key) => Promise<Row | null>;
  readonly nameOf: (key: Key) => string;
}

export interface SharedReadsOptions<Key, Row> {
  /** Keys with the same name are equal. */
  readonly nameOf: (key: Key) => string;
  /** By name; keys without a row are left out. */
  readonly find: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Row>>;
}

/** The longest list of keys for which statements are prepared. */
const keysMax = 32;
const runningMax = 2;

interface Waiting<Key, Row> {
  readonly key: Key;
  readonly row: Promise<Row | null>;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
  /** Of the first who waits for it and whose trace is recorded. */
  span: Span | undefined;
}

export function createSharedReads<Key, Row>({ nameOf, find }: SharedReadsOptions<Key, Row>): SharedReads<Key, Row> {
  let waiting = new Map<string, Waiting<Key, Row>>();
  let running = 0;
  let isCalled = false;

  // A shared read runs in a detached async context: the first caller may be inside a transaction or a trace of its own.
  const inDetachedContext = AsyncLocalStorage.snapshot();
  const leave = (): void => {
    isCalled = false;
    while (waiting.size > 0 && running < runningMax) {
      const leaving = takeSome();
      running += 1;
      void ask(leaving).finally(() => {
        running -= 1;
        leave();
      });
    }
  };
  const takeSome = (): ReadonlyMap<string, Waiting<Key, Row>> => {
    if (waiting.size <= keysMax) {
      const all = waiting;
      waiting = new Map();
      return all;
    }
    const some = new Map([...waiting].slice(0, keysMax));
    for (const name of some.keys()) waiting.delete(name);
    return some;
  };
  const ask = async (asked: ReadonlyMap<string, Waiting<Key, Row>>): Promise<void> => {
    try {
      const look = (): ReturnType<typeof find> => find([...asked.values()].map(({ key }) => key));
      // In a trace it stands where the first waits whose trace is recorded.
      const span = [...asked.values()].find((one) => one.span !== undefined)?.span;
      span?.set({ "commerce.read_together": asked.size });
      const found = await (span === undefined ? look() : span.run(look));
      for (const [name, { resolve }] of asked) resolve(found.get(name) ?? null);
    } catch (error) {
      // One that fails must not fail its neighbours; where the database is away, all fail alike.
      if (asked.size > 1 && !isDatabaseAway(error)) await Promise.all([...asked].map((one) => ask(new Map([one]))));
      else for (const { reject } of asked.values()) reject(error);
    }
  };

  const join = (key: Key, span: Span | undefined): Promise<Row | null> => {
    const { promise, resolve, reject } = Promise.withResolvers<Row | null>();
    waiting.set(nameOf(key), { key, row: promise, resolve, reject, span });
    if (!isCalled && running < runningMax) {
      isCalled = true;
      inDetachedContext(() => setImmediate(leave));
    }
    return promise;
  };

  return {
    nameOf,
    load: (key) => {
      refuseInsideTransaction();
      const known = waiting.get(nameOf(key));
      return tracedPart({ name: "read together" }, (span) => {
        if (known === undefined) return join(key, span);
        known.span ??= span;
        return known.row;
      });
    },
  };
}
