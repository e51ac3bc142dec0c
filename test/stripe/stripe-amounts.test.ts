/** Amounts are converted with the exponents of Stripe, and back. */
import type Stripe from "stripe";
import { expect, it } from "vitest";
import {
  convertStripeAmountToMinorUnits,
  convertStripeAmountRoundingUp,
  canStripeChargeAmount,
  toStripeAmount,
} from "#commerce/payments/stripe/stripe-amounts.ts";
import { toPaymentLookupResult } from "#commerce/payments/stripe/stripe-payment-state.ts";
import { getCurrencyExponent } from "#foundation/money.ts";

/** A currency with an amount in its main unit, and the amount that Stripe must get. */
const amounts = [
  ["EUR", 12.34, 1_234],
  ["HUF", 50_000, 5_000_000],
  ["IDR", 150_000, 15_000_000],
  ["ISK", 4_990, 499_000],
  ["UGX", 20_000, 2_000_000],
  ["LBP", 90_000, 9_000_000],
  ["JPY", 4_990, 4_990],
  ["MGA", 10_000, 10_000],
  ["KWD", 1.5, 1_500],
] as const;

it.each(amounts)("converts %s %d to Stripe's amount and back", (currency, amount, stripeAmount) => {
  const amountMinor = Math.round(amount * 10 ** getCurrencyExponent(currency));
  expect(toStripeAmount(amountMinor, currency)).toBe(stripeAmount);
  expect(convertStripeAmountToMinorUnits(stripeAmount, currency)).toBe(amountMinor);
});

it("refuses amounts of currencies with three decimals that do not end in 0", () => {
  expect([1_500, 1_510, 1_505].map((amountMinor) => canStripeChargeAmount(amountMinor, "KWD"))).toEqual([
    true,
    true,
    false,
  ]);
  expect(() => toStripeAmount(1_505, "KWD")).toThrow("Stripe cannot charge 1505 minor units of KWD.");
  expect(canStripeChargeAmount(1_505, "EUR")).toBe(true);
});

it("counts a part of a minor unit that was refunded in the dashboard as a whole one", () => {
  expect(convertStripeAmountRoundingUp(50, "HUF")).toBe(1);
  expect(convertStripeAmountRoundingUp(500_000, "HUF")).toBe(5_000);
  expect(convertStripeAmountRoundingUp(1_234, "EUR")).toBe(1_234);
  const intent = {
    status: "succeeded",
    currency: "huf",
    amount: 500_000,
    amount_received: 500_000,
    latest_charge: null,
  } as unknown as Stripe.PaymentIntent;
  expect(
    toPaymentLookupResult({ session: { status: "complete" }, intent, refundedAmount: 1_050 }),
  ).toMatchObject({ outcome: "authorized", capturedMinor: 5_000, refundedMinor: 11 });
});

it("refuses amounts of Stripe that are no whole number of minor units", () => {
  expect(() => convertStripeAmountToMinorUnits(499_050, "ISK")).toThrow("no whole number");
});
