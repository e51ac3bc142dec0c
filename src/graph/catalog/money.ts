/** Amounts of money. */
import { MoneyRef, PriceRangeRef } from "#graph/refs.ts";

MoneyRef.implement({
  description: "An amount of money: an integer of minor units, so that nothing is ever rounded on the way.",
  fields: (t) => ({
    amountMinor: t.expose("amountMinor", { type: "MinorUnits", description: "The amount in minor units: 1999 is 19.99 EUR, 1999 JPY or 1.999 KWD." }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency, ISO 4217." }),
    exponent: t.exposeInt("exponent", { description: "Digits after the decimal point in this currency, as ISO 4217 gives them: 0, 2 or 3." }),
  }),
});

PriceRangeRef.implement({
  description: "The lowest and the highest of several prices in one currency.",
  fields: (t) => ({
    min: t.expose("min", { type: MoneyRef, description: "The lowest price." }),
    max: t.expose("max", { type: MoneyRef, description: "The highest price." }),
  }),
});
