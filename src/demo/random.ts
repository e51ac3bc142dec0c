/**
 * Creates pseudo-random numbers for the demo. The same seed always gives the same numbers, so the demo data
 * is the same in every new database.
 */

/** Computes the 32-bit FNV-1a hash of a text. */
export function hashTextToNumber(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Returns a generator of numbers from 0 (included) to 1 (excluded), with the Mulberry32 algorithm. */
export function createRandomNumberGenerator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pickRandomItem<Item>(random: () => number, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError("The list to pick from must not be empty.");
  return item;
}

/**
 * Creates a GTIN-13 with the prefix 2, which GS1 reserves for internal use by shops, so that no real product
 * has the same GTIN.
 */
export function createDemoGtin(number: number): string {
  const body = `2${String(number % 100_000_000_000).padStart(11, "0")}`;
  return body + computeGtinCheckDigit(body);
}

/**
 * Computes the check digit of a GTIN by the rule of GS1. The digits are multiplied by 3 and 1 in turn, from
 * the right, and summed up. The check digit completes this sum to a multiple of 10.
 */
function computeGtinCheckDigit(body: string): string {
  let sum = 0;
  for (let index = 0; index < body.length; index += 1)
    sum += Number(body.at(-1 - index)) * (index % 2 === 0 ? 3 : 1);
  return String((10 - (sum % 10)) % 10);
}
