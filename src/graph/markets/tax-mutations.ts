/** The GraphQL mutations of tax classes and tax rates. */
import { upsertTaxRate } from "#commerce/tax/tax-rates.ts";
import { upsertTaxClass } from "#commerce/tax/tax-classes.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { TaxClassRef, TaxRateRef } from "./taxes.ts";

const TaxClassUpsertInput = builder.inputType("TaxClassUpsertInput", {
  description: "A tax class to create or rename. An existing class is found by its code.",
  fields: (t) => ({
    code: t.string({
      required: true,
      description:
        "The stable code of the tax class, unique within the merchant: 1 to 96 lower-case letters, digits " +
        "and single hyphens.",
    }),
    name: t.string({
      required: true,
      description: "The name of the tax class for the merchant's staff, 1 to 200 characters.",
    }),
  }),
});

const TaxRateUpsertInput = builder.inputType("TaxRateUpsertInput", {
  description:
    "The rate of a tax class in a country or in one of its regions. An existing rate is found by its country, " +
    "region, tax class and first day.",
  fields: (t) => ({
    marketId: t.id({ required: true, description: "The market's ID." }),
    country: t.field({
      type: "CountryCode",
      required: true,
      description: "The country in which the tax rate applies; must be one of the market's countries.",
    }),
    regionCode: t.string({
      description:
        "The ISO 3166-2 code of the region in which the tax rate applies; if left out, the rate applies " +
        "to the whole country.",
    }),
    taxClass: t.string({
      description: "The code of the tax class to which the rate applies; `standard` by default.",
    }),
    name: t.string({
      required: true,
      description: "The name of the tax, for example `VAT`, 1 to 200 characters.",
    }),
    basisPoints: t.int({
      required: true,
      description: "The tax rate in basis points (hundredths of a percent), 0 to 10 000: 1900 means 19 %.",
    }),
    appliesToShipping: t.boolean({
      required: true,
      description: "Whether the tax also applies to shipping.",
    }),
    validFrom: t.field({
      type: "Date",
      description:
        "The first day on which the rate is valid, in the market's time zone. If left out, the rate has no first " +
        "day. An earlier rate that would still be valid on this day ends on the day before.",
    }),
    validTo: t.field({
      type: "Date",
      description:
        "The last day on which the rate is valid, from 1900-01-01 to 2999-12-31. The days after the last " +
        "day keep the rate that was valid before this change. If left out, the rate is valid until the " +
        "next rate of the class begins.",
    }),
  }),
});

defineMutation({
  ...merchantMutationKind,
  name: "taxClassUpsert",
  description: "Creates or renames a tax class. A merchant can have 50 classes; a class cannot be deleted.",
  input: TaxClassUpsertInput,
  type: TaxClassRef,
  run: async (transaction, context, input) => ({
    merchantId: context.merchantId,
    ...(await upsertTaxClass(transaction, context, input)),
  }),
  answer: async ({ loaders }, { merchantId, taxClass }) => {
    const classes = await reloadChangedRow(loaders.taxClasses, merchantId);
    return requireFound(classes.find(({ code }) => code === taxClass));
  },
});

defineMutation({
  ...merchantMutationKind,
  name: "taxRateUpsert",
  description:
    "Creates or replaces the rate of a tax class in a country or region, from now on or from a later day.",
  failures: ["resource_not_found", "already_exists"],
  input: TaxRateUpsertInput,
  type: TaxRateRef,
  run: async (transaction, context, input) => ({
    marketId: input.marketId,
    ...(await upsertTaxRate(transaction, context, input)),
  }),
  answer: async ({ loaders }, { marketId, taxRateId }) => {
    const rates = await reloadChangedRow(loaders.taxRates, marketId);
    return requireFound(rates.find(({ id }) => id === taxRateId));
  },
});

function requireFound<Row>(row: Row | undefined): Row {
  if (row === undefined) throw createFailure("resource_not_found");
  return row;
}
