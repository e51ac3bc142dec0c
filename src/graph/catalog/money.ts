/** The GraphQL types of money: an amount and a price range. */
import { MoneyRef, PriceRangeRef } from "#graph/refs.ts";

MoneyRef.implement({
  description:
    "An amount of money: an integer number of minor units of a currency (for example cents), so that no " +
    "amount is rounded.",
  fields: (t) => ({
    amountMinor: t.expose("amountMinor", {
      type: "MinorUnits",
      description: "The amount in minor units of the currency: 1999 means 19.99 EUR, 1999 JPY or 1.999 KWD.",
    }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency's ISO 4217 code." }),
    exponent: t.exposeInt("exponent", {
      description: "The number of decimal digits of the currency by ISO 4217: 0, 2 or 3.",
    }),
  }),
});

PriceRangeRef.implement({
  description: "The lowest and the highest of several prices in one currency.",
  fields: (t) => ({
    min: t.expose("min", { type: MoneyRef, description: "The lowest of the prices." }),
    max: t.expose("max", { type: MoneyRef, description: "The highest of the prices." }),
  }),
});
