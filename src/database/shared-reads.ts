/**
 * Reads of many requests that fall together go as one statement. Who asks waits for the end of this turn of the event loop, in which the requests that
 * arrived together have been looked at; while two statements are on their way already, what is asked for waits until one is back. Nothing is kept: each
 * answer was read after it was asked for. Whoever asks is authorised before, or by what it is given.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Span, tracedPart } from "#foundation/tracing.ts";
import { refuseInsideTransaction } from "./transaction-dialect.ts";
import { isDatabaseAway } from "./database-errors.ts";

export interface SharedReads<Key, Row> {
  /** Null: there is none. */
  readonly load: (key: Key) => Promise<Row | null>;
  readonly nameOf: (key: Key) => string;
}

export interface SharedReadsOptions<Key, Row> {
  /** Two keys of one name are the same. */
  readonly nameOf: (key: Key) => string;
  /** By name; what is not there is left out. */
  readonly find: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Row>>;
}

/** As many as a statement has a kept plan for. */
const togetherMax = 32;
const onTheirWayMax = 2;

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
  let onTheirWay = 0;
  let isCalled = false;

  // What is read for many is read in nobody's name: whoever happened to ask first may be in a transaction or in a trace of its own.
  const inNobodysName = AsyncLocalStorage.snapshot();
  const leave = (): void => {
    isCalled = false;
    while (waiting.size > 0 && onTheirWay < onTheirWayMax) {
      const leaving = takeSome();
      onTheirWay += 1;
      void ask(leaving).finally(() => {
        onTheirWay -= 1;
        leave();
      });
    }
  };
  const takeSome = (): ReadonlyMap<string, Waiting<Key, Row>> => {
    if (waiting.size <= togetherMax) {
      const all = waiting;
      waiting = new Map();
      return all;
    }
    const some = new Map([...waiting].slice(0, togetherMax));
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
    if (!isCalled && onTheirWay < onTheirWayMax) {
      isCalled = true;
      inNobodysName(() => setImmediate(leave));
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
