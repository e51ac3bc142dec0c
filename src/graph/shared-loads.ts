/** What a request has read together with others (shared-reads.ts), kept for the request: it sees one thing once. What falls together is gathered there. */
import type { SharedReads } from "#database/shared-reads.ts";

/** As much of a DataLoader as is used of these. */
export interface Loads<Key, Row> {
  load(key: Key): Promise<Row>;
  /** One that fails does not fail those it was asked for with. */
  loadMany(keys: ArrayLike<Key>): Promise<(Row | Error)[]>;
  /** What is at hand need not be read again. */
  prime(key: Key, row: Row): unknown;
}

export class SharedLoads<Key, Row> implements Loads<Key, Row | null> {
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
