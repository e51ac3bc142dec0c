/**
 * Keeps what the database says of credentials for a moment, so that most requests are let in without a statement. Kept is the row, never a verdict
 * about time; and only while every notice is heard, so that what was changed is gone from here when its notice comes.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "#foundation/clock.ts";

export interface CacheParts<Row> {
  readonly clock: Clock;
  /** Whether all notices up to a moment ago have been heard; while not, nothing is kept and nothing kept is believed. */
  readonly isCurrent: () => boolean;
  /** The ids of all whose change changes the row: the credential, its installation, its merchant. */
  readonly ownersOf: (row: Row) => readonly (string | null)[];
}

export interface CredentialCache<Row> {
  /** What is kept under that name, or what the look-up finds. */
  readonly find: (name: string, lookUp: () => Promise<Row | undefined>) => Promise<Row | undefined>;
  /** Forgets what belongs to the owner. */
  readonly drop: (ownerId: string) => void;
  /** Forgets everything: something may have been missed. */
  readonly clear: () => void;
}

const rowsMax = 10_000;
const rowMsMax = 30_000;
const missingMsMax = 5_000;
/** A look-up that began longer ago may have read what was changed since. */
const sharedMsMax = 250;

interface LookUp<Row> {
  readonly begunAtMs: number;
  readonly row: Promise<Row | undefined>;
}

export function createCredentialCache<Row extends object>({ clock, isCurrent, ownersOf }: CacheParts<Row>): CredentialCache<Row> {
  const time = { perf: { now: () => clock.now().getTime() }, ttlResolution: 0 };
  const rows = new LRUCache<string, Row>({ ...time, max: rowsMax, ttl: rowMsMax });
  // Apart from the rows: whoever makes up names pushes out other made-up names only.
  const missing = new LRUCache<string, true>({ ...time, max: rowsMax, ttl: missingMsMax });
  const underWay = new Map<string, LookUp<Row>>();
  /** Rises with every notice: what was asked for before it is not kept after it. */
  let generation = 0;

  const keep = (name: string, row: Row | undefined): void => {
    if (row === undefined) missing.set(name, true);
    else rows.set(name, row);
  };
  const begin = (name: string, lookUp: () => Promise<Row | undefined>): Promise<Row | undefined> => {
    const begunIn = generation;
    const found = lookUp().then((row) => {
      if (generation === begunIn && isCurrent()) keep(name, row);
      return row;
    });
    const begun = { begunAtMs: performance.now(), row: found };
    underWay.set(name, begun);
    const end = (): void => {
      if (underWay.get(name) === begun) underWay.delete(name);
    };
    found.then(end, end);
    return found;
  };
  const forget = (): void => {
    generation += 1;
    underWay.clear();
  };

  return {
    find: (name, lookUp) => {
      if (isCurrent()) {
        const row = rows.get(name);
        if (row !== undefined || missing.has(name)) return Promise.resolve(row);
      }
      const shared = underWay.get(name);
      return shared !== undefined && performance.now() - shared.begunAtMs <= sharedMsMax ? shared.row : begin(name, lookUp);
    },
    drop: (ownerId) => {
      forget();
      for (const [name, row] of rows.entries()) if (ownersOf(row).includes(ownerId)) rows.delete(name);
    },
    clear: () => {
      forget();
      rows.clear();
      missing.clear();
    },
  };
}
