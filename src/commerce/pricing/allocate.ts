/**
 * Arithmetic on money: every result is exact, or rounded half to even where a division leaves a rest, and never beyond what a number holds
 * exactly. Products are made of BigInt, since two safe integers seldom have a safe product.
 */
import { amountMinorMax } from "#foundation/money.ts";

/** Prices and quantities were allowed one by one, and their result is too large: the caller refuses what made it so. */
export class AmountOutOfRange extends Error {
  constructor() {
    super(`An amount is beyond ±${amountMinorMax} minor units.`);
    this.name = "AmountOutOfRange";
  }
}

/** value × numerator ÷ denominator, a half to the even neighbour. */
export function mulDivHalfEven(value: number, numerator: number, denominator: number): number {
  if (denominator <= 0) throw new RangeError("The denominator must be positive.");
  const product = BigInt(value) * BigInt(numerator);
  const divisor = BigInt(denominator);
  // BigInt cuts towards zero; a rest that is never negative lets one rule round both signs.
  const rest = ((product % divisor) + divisor) % divisor;
  const below = (product - rest) / divisor;
  const isUp = rest * 2n > divisor || (rest * 2n === divisor && below % 2n !== 0n);
  return toAmount(isUp ? below + 1n : below);
}

/**
 * Splits a total in proportion to weights: each share is rounded down, and the units left go one each to the largest rests, the earlier
 * position first. So no share is above its weight while the total is not above all weights together.
 */
export function allocate(totalMinor: number, weights: readonly number[]): number[] {
  if (totalMinor < 0 || weights.some((weight) => weight < 0)) throw new RangeError("Neither a total nor a weight may be negative.");
  if (totalMinor === 0) return weights.map(() => 0);
  const total = BigInt(totalMinor);
  const weighed = weights.map(BigInt);
  const sum = weighed.reduce((left, right) => left + right, 0n);
  if (sum === 0n) throw new RangeError("There is nothing to split the total over.");
  const parts = weighed.map((weight, position) => ({ position, share: Number((total * weight) / sum), rest: (total * weight) % sum }));
  const left = totalMinor - parts.reduce((shared, { share }) => shared + share, 0);
  const byRest = parts.toSorted((a, b) => compare(b.rest, a.rest) || a.position - b.position);
  const raised = new Set(byRest.slice(0, left).map(({ position }) => position));
  return parts.map(({ position, share }) => share + (raised.has(position) ? 1 : 0));
}

export function multiplyMinor(amountMinor: number, quantity: number): number {
  return toAmount(BigInt(amountMinor) * BigInt(quantity));
}

export function sumMinor(amounts: readonly number[]): number {
  return toAmount(amounts.reduce((sum, amount) => sum + BigInt(amount), 0n));
}

function toAmount(exact: bigint): number {
  if (exact > amountMinorMax || exact < -amountMinorMax) throw new AmountOutOfRange();
  return Number(exact);
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
