/**
 * What some units of a line are worth. A line's amount is cut at each unit by rounding down what all units up to it are worth together, so that the
 * shares of all its units, in whatever portions they go, add up to the line exactly.
 */
export interface Portion {
  readonly amountMinor: number;
  readonly ordered: number;
  /** Units that went before. */
  readonly gone: number;
  readonly quantity: number;
}

export function unitShare({ amountMinor, ordered, gone, quantity }: Portion): number {
  const upTo = (units: number): bigint => (BigInt(amountMinor) * BigInt(units)) / BigInt(ordered);
  return Number(upTo(gone + quantity) - upTo(gone));
}
