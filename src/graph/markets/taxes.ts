/**
 * The GraphQL types of taxes: tax classes, tax rates, the enums of tax rules, and the tax lines of carts and
 * orders.
 */
import type { TaxRateRow } from "#commerce/markets/read-markets.ts";
import { computeOrderTaxLines, type OrderTaxLine } from "#commerce/orders/order-tax-lines.ts";
import { omitExpiredCartAddress } from "#commerce/carts/cart-status.ts";
import type { TaxClassRow } from "#commerce/tax/tax-classes.ts";
import { listCartOrOrderTaxLines, type TaxLine } from "#commerce/tax/tax-lines.ts";
import { createMoney } from "#foundation/money.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { merchantReaders, resolveMerchantIdOfRequest } from "#graph/context.ts";
import { CartRef, MoneyRef, OrderRef } from "#graph/refs.ts";

export const TaxRoundingEnum = defineGraphqlEnum("TaxRounding", {
  description:
    "How taxes are rounded to whole minor units. A tax that is halfway between two units is rounded to the " +
    "even one.",
  values: {
    line: "The tax of each line is rounded separately.",
    order:
      "The taxes of all lines with the same rate are added up, and the sum is rounded. The rounded sum is " +
      "then divided among the lines in proportion to their amounts.",
  },
});

export const DeliveryTaxRuleEnum = defineGraphqlEnum("DeliveryTaxRule", {
  description: "How a shipping price is taxed.",
  values: {
    own_class: "The shipping price is taxed by the tax class of the delivery method.",
    goods:
      "The shipping price is divided among the tax classes of the delivered goods, in proportion to the " +
      "goods' amounts after discounts, and each part is taxed by its class. If all goods are free, the tax " +
      "class of the delivery method decides.",
  },
});

export const TaxClassRef = builder.objectRef<TaxClassRow>("TaxClass").implement({
  description:
    "A group of products or delivery methods that are taxed by the same rates, for example reduced rates. Every " +
    "merchant has the class `standard`.",
  fields: (t) => ({
    code: t.exposeString("code", {
      description: "The stable code of the tax class, unique within the merchant.",
    }),
    name: t.exposeString("name", { description: "The name of the tax class for the merchant's staff." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the tax class was created." }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the tax class was last changed.",
    }),
  }),
});

export const TaxRateRef = builder.objectRef<TaxRateRow>("TaxRate").implement({
  description: "The rate of a tax class in a country or in one of its regions.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The tax rate's ID, `txr_…`." }),
    country: t.expose("country", {
      type: "CountryCode",
      description: "The country in which the tax rate applies.",
    }),
    regionCode: t.exposeString("regionCode", {
      nullable: true,
      description:
        "The ISO 3166-2 code of the region in which the tax rate applies; null if the rate applies to the " +
        "whole country.",
    }),
    taxClass: t.exposeString("taxClass", {
      description: "The code of the tax class to which the rate applies.",
    }),
    name: t.exposeString("name", { description: "The name of the tax, for example `VAT`." }),
    basisPoints: t.exposeInt("basisPoints", {
      description: "The tax rate in basis points (hundredths of a percent): 1900 means 19 %.",
    }),
    appliesToShipping: t.exposeBoolean("appliesToShipping", {
      description: "Whether the tax also applies to shipping.",
    }),
    validFrom: t.expose("validFrom", {
      type: "Date",
      nullable: true,
      description:
        "The first day on which the rate is valid, in the market's time zone; null if the rate has no " +
        "first day.",
    }),
    validTo: t.expose("validTo", {
      type: "Date",
      nullable: true,
      description: "The last day on which the rate is valid; null if the rate has no last day.",
    }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the tax rate was last changed.",
    }),
  }),
});

interface InCurrency {
  readonly currency: string;
}

const TaxLineType = builder.interfaceRef<TaxLine & InCurrency>("TaxLine").implement({
  description: "The tax of a cart or an order by one rate.",
  fields: (t) => ({
    taxClass: t.exposeString("taxClass", {
      nullable: true,
      description:
        "The code of the tax class of the rate; null if the rate was not recorded, which is possible only " +
        "for old orders.",
    }),
    name: t.exposeString("name", {
      nullable: true,
      description: "The name of the tax, for example `VAT`; null if no tax applies.",
    }),
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description:
        "The tax rate in basis points: 1900 means 19 %; null if the rate was not recorded, which is possible " +
        "only for old orders.",
    }),
    taxable: t.field({
      type: MoneyRef,
      description: "The taxed amount, after discounts and without the tax.",
      resolve: ({ taxableMinor, currency }) => createMoney(taxableMinor, currency),
    }),
    tax: t.field({
      type: MoneyRef,
      description:
        "The tax by the rate. The taxes of all tax lines add up to the tax of the cart or the order.",
      resolve: ({ taxMinor, currency }) => createMoney(taxMinor, currency),
    }),
    lineIds: t.field({
      type: ["ID"],
      description: "The IDs of the lines that are taxed by the rate. Shipping has no ID.",
      complexity: { multiplier: 1 },
      resolve: ({ lineIds }) => [...lineIds],
    }),
  }),
});

const CartTaxLine = builder.objectRef<TaxLine & InCurrency>("CartTaxLine").implement({
  description: "The tax of a cart by one rate.",
  interfaces: [TaxLineType],
});

const OrderTaxLineType = builder.objectRef<OrderTaxLine & InCurrency>("OrderTaxLine").implement({
  description:
    "The tax of an order by one rate at the time of purchase, and the part of this tax that the buyer no " +
    "longer owes.",
  interfaces: [TaxLineType],
  fields: (t) => ({
    reducedTax: t.field({
      type: MoneyRef,
      description:
        "The part of `tax` that the buyer no longer owes, because of cancellations, returns and refunds. Equal to " +
        "`tax` if nothing of the order is left to pay.",
      resolve: ({ reducedTaxMinor, currency }) => createMoney(reducedTaxMinor, currency),
    }),
  }),
});

builder.objectField(CartRef, "taxLines", (t) =>
  t.field({
    type: [CartTaxLine],
    description:
      "The taxes of the cart, one entry for each rate, with the highest rate first; empty if the cart has " +
      "no address.",
    complexity: { multiplier: 3 },
    resolve: ({ stored }, _args, { services: { clock } }) => {
      const cart = omitExpiredCartAddress(stored, clock.now());
      return listCartOrOrderTaxLines(cart).map((line) => Object.assign({ currency: cart.currency }, line));
    },
  }),
);

builder.objectField(OrderRef, "taxLines", (t) =>
  t.field({
    type: [OrderTaxLineType],
    description: "The taxes of the order, one entry for each rate, with the highest rate first.",
    complexity: { multiplier: 3 },
    resolve: ({ stored }) =>
      computeOrderTaxLines(stored).map((line) => Object.assign({ currency: stored.currency }, line)),
  }),
);

builder.queryField("taxClasses", (t) =>
  t.field({
    type: [TaxClassRef],
    description: "The tax classes of a merchant, sorted by their code.",
    authScopes: { callers: [...merchantReaders] },
    complexity: { multiplier: 10 },
    args: { merchantId: t.arg.id({ description: "The merchant's ID; required with a platform token." }) },
    resolve: (_root, { merchantId }, context) =>
      context.loaders.taxClasses.load(resolveMerchantIdOfRequest(context, merchantId)),
  }),
);
