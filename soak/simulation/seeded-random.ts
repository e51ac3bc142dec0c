/** A random generator with a seed: the same seed gives the same numbers on every machine. */

export interface SeededRandom {
  /** Returns a number from 0 to below 1. */
  readonly next: () => number;
  /** Returns true with the given probability. */
  readonly chance: (probability: number) => boolean;
  /** Returns an integer from 0 to `count` - 1. */
  readonly below: (count: number) => number;
  readonly pick: <Item>(items: readonly [Item, ...Item[]]) => Item;
  readonly fillBytes: (bytes: Uint8Array) => void;
}

/** Creates a generator (sfc32 of PractRand). Different streams of one seed are independent of each other. */
export function createSeededRandom(seed: number, stream: number): SeededRandom {
  let [a, b, c, counter] = [seed | 0, Math.floor(seed / 2 ** 32) | 0, stream | 0, 1];
  const nextUint32 = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // The first numbers of similar seeds resemble each other, so they are not used.
  for (let skipped = 0; skipped < 12; skipped += 1) nextUint32();
  const next = (): number => nextUint32() / 2 ** 32;
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    chance: (probability) => next() < probability,
    below,
    pick: (items) => items[below(items.length)] ?? items[0],
    fillBytes: (bytes) => {
      for (let index = 0; index < bytes.length; index += 1) bytes[index] = nextUint32() >>> 24;
    },
  };
}
