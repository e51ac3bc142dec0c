/**
 * Numbers that look random and are always the same for the same name, so that the demo is one catalogue and
 * not another one each time.
 */

/** FNV-1a, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Mulberry32: numbers in [0, 1), a whole sequence from one seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pickRandom<Item>(random: () => number, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError("There is nothing to pick from.");
  return item;
}

/**
 * A GTIN-13 in the range that GS1 leaves to a shop's own use (prefix 2), so that it can never be the code of
 * somebody's real product.
 */
export function createGtin(number: number): string {
  const body = `2${String(number % 100_000_000_000).padStart(11, "0")}`;
  return body + computeGtinCheckDigit(body);
}

/** GS1 modulo 10: weights 3 and 1 by turns, from the right. */
function computeGtinCheckDigit(body: string): string {
  let sum = 0;
  for (let index = 0; index < body.length; index += 1)
    sum += Number(body.at(-1 - index)) * (index % 2 === 0 ? 3 : 1);
  return String((10 - (sum % 10)) % 10);
}
