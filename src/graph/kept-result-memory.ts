/**
 * The memory for the results of queries. `graph/kept-results.ts` decides together with
 * `mesh/keepable-query.ts` which results are kept, and `mesh/plugins/reuse.ts` keeps and reuses them.
 */
import type { ExecutionResult } from "graphql";
import type { LimitedMemory, MemorySection } from "#foundation/limited-memory.ts";

/** A result that is kept in memory. */
export interface KeptGraphqlResult {
  readonly result: ExecutionResult;
  /** The member `data` of the result as JSON text. */
  readonly text: string;
  /**
   * The cart or order from which the result was rendered, as the same object that the loader has returned.
   * The reference is weak, so that a result keeps no cart or order in memory that has changed since.
   */
  readonly object: WeakRef<object>;
  readonly validFrom: Date;
  /** The time at which the result changes by itself, for example because an address expires; null if never. */
  readonly validUntil: Date | null;
}

/** The section of a memory that keeps results, by document, object and caller. */
export type KeptGraphqlResults = MemorySection<KeptGraphqlResult>;

/** Estimated memory in bytes of a kept result, without its data, its text and its key. */
const resultBytes = 500;
/**
 * Estimated memory of a result's data, text and bytes together, in multiples of the length of the text;
 * measured were 2.1 to 3.2.
 */
const bytesPerCharacter = 4;

/** Creates the section of a memory that keeps results. */
export const createKeptGraphqlResults = ({ createSection }: LimitedMemory): KeptGraphqlResults =>
  createSection({
    estimateBytes: ({ text }, key) => resultBytes + bytesPerCharacter * text.length + 4 * key.length,
  });
