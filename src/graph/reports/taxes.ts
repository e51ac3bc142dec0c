/** The GraphQL type of a row in the report on taxes by country and rate, which is a part of the sales report. */
import type { TaxOfOrdersToCountry } from "#commerce/reports/tax-report.ts";
import { builder } from "#graph/builder.ts";

export const CountryTaxType = builder.objectRef<TaxOfOrdersToCountry>("TaxOfCountry").implement({
  description: "The tax of orders to one country by one tax rate, in one currency.",
  fields: (t) => ({
    country: t.expose("country", {
      type: "CountryCode",
      description: "The country to which the orders were sold.",
    }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of the amounts." }),
    taxClass: t.exposeString("taxClass", {
      nullable: true,
      description:
        "The code of the tax class of the rate; null if the orders were placed before rates were recorded.",
    }),
    name: t.exposeString("name", {
      nullable: true,
      description: "The name of the tax, for example `VAT`; null if no tax applies.",
    }),
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description:
        "The tax rate in basis points: 1900 means 19 %; null if the orders were placed before rates were recorded.",
    }),
    orders: t.exposeInt("orders", {
      description: "The number of orders that contain an amount taxed by the rate.",
    }),
    taxableMinor: t.expose("taxableMinor", {
      type: "MinorUnits",
      description:
        "The amount that was taxed when the orders were placed, after discounts and without the tax, in " +
        "minor units.",
    }),
    taxMinor: t.expose("taxMinor", {
      type: "MinorUnits",
      description: "The tax when the orders were placed, in minor units.",
    }),
    netTaxMinor: t.expose("netTaxMinor", {
      type: "MinorUnits",
      description:
        "The part of `taxMinor` that is left after cancellations, returns and refunds, in minor units.",
    }),
  }),
});
