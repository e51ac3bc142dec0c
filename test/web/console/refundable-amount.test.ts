/** The console's refunds: how much of an order can be refunded, and how a typed amount is read. */
import { expect, it } from "vitest";
import {
  getRefundableAmount,
  parseEnteredAmountAsMinorUnits,
} from "#pages/console/browser/orders/refundable-amount.ts";

it("the refundable amount is what was captured, less what was refunded or is being refunded", () => {
  const payment = { capturedAmount: { amountMinor: 5000 }, refundedAmount: { amountMinor: 1200 } };
  const refund = (status: string, amountMinor: number) => ({ status, amount: { amountMinor } });
  const refunds = [refund("SUCCEEDED", 1200), refund("PENDING", 800), refund("FAILED", 300)];
  expect(getRefundableAmount({ payments: [payment], refunds })).toBe(3000);
  expect(getRefundableAmount({ payments: [], refunds: [] })).toBe(0);
});

it.each([
  ["12.50", 2, 1250],
  [" 12,5 ", 2, 1250],
  ["7", 2, 700],
  ["1700", 0, 1700],
  ["1.234", 3, 1234],
  ["1.234", 2, undefined],
  ["1.5", 0, undefined],
  ["1,234.00", 2, undefined],
  ["0", 2, undefined],
  ["-1", 2, undefined],
  ["", 2, undefined],
  ["9999999999999", 2, undefined],
])("the typed amount %j with %i digits is %j in minor units", (text, exponent, minor) => {
  expect(parseEnteredAmountAsMinorUnits(text, { exponent })).toBe(minor);
});
