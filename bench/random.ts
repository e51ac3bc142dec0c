/** Random numbers with a fixed seed, so that every run of the benchmark sends the same requests. */

/** Returns a random number from 0 to below 1. */
type Random = () => number;

/** Creates the random number generator Mulberry32. Equal seeds give equal numbers. */
export function createSeededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/**
 * Creates a function that draws an index below `count` by Zipf's law with the exponent 1: the index 0 is
 * drawn twice as often as the index 1, three times as often as the index 2, and so on. Visits of products in
 * shops are distributed in about this way.
 */
export function createZipfDraw(count: number, random: Random): () => number {
  if (count < 1) throw new Error("A draw needs at least one item.");
  const sums = new Float64Array(count);
  let sum = 0;
  for (let index = 0; index < count; index += 1) sums[index] = sum += 1 / (index + 1);
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? sum) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
