/** The GraphQL mutations of tax classes and tax rates, and the query of the rates that a new rate changes. */
import { deleteTaxRate, updateTaxRate } from "#commerce/tax/change-tax-rate.ts";
import type { TaxRateRow } from "#commerce/markets/read-markets.ts";
import { findTaxRateOverlaps, type OverlappedTaxRate, upsertTaxRate } from "#commerce/tax/tax-rates.ts";
import { upsertTaxClass } from "#commerce/tax/tax-classes.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { merchantReaders, resolveMerchantIdOfRequest } from "#graph/context.ts";
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
        "to the whole country. The region must exist in ISO 3166-2.",
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

const TaxRateUpdateInput = builder.inputType("TaxRateUpdateInput", {
  description:
    "The changed values of a tax rate. A field that is left out stays unchanged. Null in `validFrom` or `validTo` " +
    "removes the first or the last day.",
  fields: (t) => ({
    taxRateId: t.id({ required: true, description: "The tax rate's ID, `txr_…`." }),
    name: t.string({ description: "The name of the tax, for example `VAT`. 1 to 200 characters." }),
    basisPoints: t.int({
      description: "The tax rate in basis points (hundredths of a percent): 1900 means 19 %. 0 to 10 000.",
    }),
    appliesToShipping: t.boolean({ description: "Whether the tax also applies to shipping." }),
    validFrom: t.field({
      type: "Date",
      description:
        "The first day on which the rate is valid, in the market's time zone. The days before it then have no " +
        "rate, unless another rate has them.",
    }),
    validTo: t.field({
      type: "Date",
      description:
        "The last day on which the rate is valid, included. The days after it then have no rate, unless another " +
        "rate has them. Days are from 1900-01-01 to 2999-12-31.",
    }),
  }),
});

const TaxRateDeleteInput = builder.inputType("TaxRateDeleteInput", {
  description: "A tax rate to delete.",
  fields: (t) => ({
    taxRateId: t.id({ required: true, description: "The tax rate's ID, `txr_…`." }),
  }),
});

const TaxRateDeleted = builder.objectRef<{ taxRateId: string }>("TaxRateDeleted").implement({
  description: "The outcome of deleting a tax rate.",
  fields: (t) => ({
    taxRateId: t.exposeID("taxRateId", { description: "The ID of the deleted tax rate." }),
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
    "Adds the rate of a tax class in a country or region. A rate with the same first day is replaced, and an " +
    "earlier rate is shortened or split. The query `taxRateOverlaps` returns these rates before the mutation runs.",
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

defineMutation({
  ...merchantMutationKind,
  name: "taxRateUpdate",
  description:
    "Changes the name, percentage or days of a tax rate, and no other rate. Days on which another rate of the " +
    "class is valid in the same place are refused. Carts use the change from their next change on; placed orders " +
    "keep their taxes.",
  failures: ["resource_not_found", "already_exists"],
  input: TaxRateUpdateInput,
  type: TaxRateRef,
  run: updateTaxRate,
  answer: async ({ loaders }, { marketId, taxRateId }) => {
    const rates = await reloadChangedRow(loaders.taxRates, marketId);
    return requireFound(rates.find(({ id }) => id === taxRateId));
  },
});

defineMutation({
  ...merchantMutationKind,
  name: "taxRateDelete",
  description:
    "Deletes a tax rate. Its days then have no rate of the class, and other rates do not change. Carts lose the " +
    "rate at their next change; placed orders keep their taxes.",
  failures: ["resource_not_found"],
  input: TaxRateDeleteInput,
  type: TaxRateDeleted,
  run: deleteTaxRate,
});

interface OverlapOfTaxRate {
  readonly taxRate: TaxRateRow;
  readonly remainingPeriods: OverlappedTaxRate["remainingPeriods"];
}

const TaxRatePeriodType = builder
  .objectRef<OverlappedTaxRate["remainingPeriods"][number]>("TaxRatePeriod")
  .implement({
    description: "The days from the first to the last day of a tax rate.",
    fields: (t) => ({
      validFrom: t.expose("validFrom", {
        type: "Date",
        nullable: true,
        description: "The first day, in the market's time zone; null if there is none.",
      }),
      validTo: t.expose("validTo", {
        type: "Date",
        nullable: true,
        description: "The last day, included; null if there is none.",
      }),
    }),
  });

const TaxRateOverlap = builder.objectRef<OverlapOfTaxRate>("TaxRateOverlap").implement({
  description: "A saved tax rate that a new rate would change, because both are valid on the same days.",
  fields: (t) => ({
    taxRate: t.field({
      type: TaxRateRef,
      description: "The saved tax rate before the change.",
      resolve: ({ taxRate }) => taxRate,
    }),
    remainingPeriods: t.field({
      type: [TaxRatePeriodType],
      description:
        "The periods in which the saved rate stays valid: empty if the new rate replaces it, one if it is " +
        "shortened, and two if it is split.",
      complexity: { multiplier: 2 },
      resolve: ({ remainingPeriods }) => [...remainingPeriods],
    }),
  }),
});

builder.queryField("taxRateOverlaps", (t) =>
  t.field({
    type: [TaxRateOverlap],
    description:
      "The saved tax rates that `taxRateUpsert` would change with the same input. Changes nothing, and refuses " +
      "the input for the same reasons as `taxRateUpsert`.",
    authScopes: { callers: [...merchantReaders] },
    complexity: { multiplier: 3 },
    args: {
      merchantId: t.arg.id({ description: "The merchant's ID; required with a platform token." }),
      input: t.arg({
        type: TaxRateUpsertInput,
        required: true,
        description: "The tax rate that would be added.",
      }),
    },
    resolve: async (_root, { merchantId: argument, input }, context) => {
      const merchantId = resolveMerchantIdOfRequest(context, argument);
      const { marketId, overlaps } = await findTaxRateOverlaps(context.db, { merchantId }, input);
      const rates = await context.loaders.taxRates.load(marketId);
      return overlaps.map(({ taxRateId, remainingPeriods }) => ({
        taxRate: requireFound(rates.find(({ id }) => id === taxRateId)),
        remainingPeriods,
      }));
    },
  }),
);

function requireFound<Row>(row: Row | undefined): Row {
  if (row === undefined) throw createFailure("resource_not_found");
  return row;
}
