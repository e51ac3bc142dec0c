/** Computes the amount of an order that can still be refunded, and parses an amount that staff have typed. */

interface MinorAmount {
  readonly amountMinor: number;
}

interface RefundableOrder {
  readonly payments: readonly {
    readonly capturedAmount: MinorAmount;
    readonly refundedAmount: MinorAmount;
  }[];
  readonly refunds: readonly { readonly status: string; readonly amount: MinorAmount }[];
}

/**
 * Returns the amount of an order that was captured and not refunded, in minor units. A refund to which the
 * payment provider has not yet answered counts as refunded, in the console as well as on the server.
 */
export function getRefundableAmount({ payments, refunds }: RefundableOrder): number {
  const captured = payments.map(
    ({ capturedAmount, refundedAmount }) => capturedAmount.amountMinor - refundedAmount.amountMinor,
  );
  const pending = refunds.map(({ status, amount }) => (status === "PENDING" ? -amount.amountMinor : 0));
  return [...captured, ...pending].reduce((sum, amount) => sum + amount, 0);
}

/**
 * Converts a typed amount such as “12.50” or “12,50” to minor units. Returns undefined if the text is not a
 * positive amount, or has more decimal digits than the currency allows.
 */
export function parseEnteredAmountAsMinorUnits(
  text: string,
  { exponent }: { readonly exponent: number },
): number | undefined {
  const match = /^(\d{1,12})(?:[.,](\d+))?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, whole = "0", digits = ""] = match;
  if (digits.length > exponent) return undefined;
  const minor = Number(`${whole}${digits.padEnd(exponent, "0")}`);
  return minor > 0 ? minor : undefined;
}
