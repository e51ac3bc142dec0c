/**
 * What a browse counts is the same for everybody who browses, and dear to count: 10 000 products for a page of 20. So it is kept, with the snapshot it
 * was taken in, and each page asks in its own statement whether anything has changed that this snapshot did not see. What is shown is never older
 * than the page.
 */
import { LRUCache } from "lru-cache";
import type { Reader } from "#database/transaction.ts";
import type { RawFacets } from "./facet-statement.ts";

export interface KnownPlace {
  readonly product_id: string;
  readonly locale: string;
}

/** What stays the same on every page. */
export interface Counted {
  readonly total: number;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly facets: RawFacets;
}

export interface Frame {
  readonly counted: Counted;
  /** The first products of the order. */
  readonly first: readonly KnownPlace[];
  readonly snapshot: string;
}

export const firstMax = 200;

const framesMax = 500;

interface Frames {
  readonly kept: LRUCache<string, Frame>;
  /** Being counted: who wants the same waits for it. */
  readonly pending: Map<string, Promise<unknown>>;
}

const framesBy = new WeakMap<Reader, Frames>();

/** Inside of a transaction nothing is kept: it sees what nobody else does yet. */
export function framesOf(reader: Reader): Frames | undefined {
  if (reader.isTransaction) return undefined;
  const known = framesBy.get(reader);
  if (known !== undefined) return known;
  const frames: Frames = { kept: new LRUCache({ max: framesMax }), pending: new Map() };
  framesBy.set(reader, frames);
  return frames;
}

export async function findFrame({ kept, pending }: Frames, key: string): Promise<Frame | undefined> {
  await pending.get(key)?.catch(() => undefined);
  return kept.get(key);
}

/** Counts, and keeps what was counted. */
export async function keepFrame<Row>(
  { kept, pending }: Frames,
  key: string,
  { count, toFrame }: { readonly count: () => Promise<Row>; readonly toFrame: (row: Row) => Frame },
): Promise<Row> {
  const counting = count();
  pending.set(key, counting);
  try {
    const row = await counting;
    kept.set(key, toFrame(row));
    return row;
  } finally {
    if (pending.get(key) === counting) pending.delete(key);
  }
}
