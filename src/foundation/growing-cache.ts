/**
 * The size limit of a large LRUCache that is usually far from full. With the option `max`, LRUCache allocates
 * the memory of all entries when it is created: 28 to 40 bytes for each. With the options of this file, the
 * memory grows with the number of stored entries.
 */
export interface GrowingCacheLimit {
  readonly maxSize: number;
  readonly sizeCalculation: () => number;
}

/** Limits an LRUCache to the given number of entries, each of which counts as the size 1. */
export const limitGrowingCache = (entriesMax: number): GrowingCacheLimit => ({
  maxSize: entriesMax,
  sizeCalculation: () => 1,
});
