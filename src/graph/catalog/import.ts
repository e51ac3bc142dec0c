/**
 * The GraphQL mutation that imports many products at once. Every product succeeds or fails independently of
 * the others, and the answer has a result for each product.
 */
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { importProducts, type ProductImportResult } from "#commerce/catalog/import-products.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import {
  AttributeInputType,
  OptionInputType,
  RatingInputType,
  taxClassDescription,
  TranslationInputType,
} from "./inputs.ts";
import { VariantOptionInputType } from "./variant-inputs.ts";
import { RestrictionEnum } from "./products.ts";
import { ProductRef } from "#graph/refs.ts";

const ImportStatusEnum = defineGraphqlEnum("ImportedStatus", {
  description: "The status that a product import gives to a product.",
  values: { draft: "The product is a draft; buyers do not see it.", published: "The product is on sale." },
});

const ImportPriceInput = builder.inputType("ImportPriceInput", {
  description: "The price of a variant in one market from now on.",
  fields: (t) => ({
    marketHandle: t.string({
      required: true,
      description: "The handle of the market in which the price is valid.",
    }),
    amountMinor: t.field({
      type: "MinorUnits",
      description:
        "The price in minor units of the market's currency; null removes the variant from sale in the " +
        "market.",
    }),
    compareAtMinor: t.field({
      type: "MinorUnits",
      description:
        "The price before a reduction, in minor units of the market's currency; must be higher than the " +
        "price. Null if the price is not reduced.",
    }),
    currency: t.field({
      type: "CurrencyCode",
      description:
        "The currency of the price. Optional; a currency that is not the market's currency is refused.",
    }),
  }),
});

const ImportVariantInput = builder.inputType("ImportVariantInput", {
  description: "A variant to create or update. An existing variant is found by its SKU.",
  fields: (t) => ({
    sku: t.string({
      required: true,
      description: `The merchant's article number (SKU) of the variant, 1 to ${bounds.skuMax} characters.`,
    }),
    options: t.field({
      type: [VariantOptionInputType],
      required: true,
      description: "The variant's choices, exactly one for each of the product's options.",
    }),
    gtin: t.string({
      description:
        "The variant's global trade item number (GTIN-8, -12, -13 or -14); null removes the number.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description:
        "Restrictions on selling, shipping or returning the variant; the list replaces the current list.",
    }),
    requiresShipping: t.boolean({
      description: "Whether the variant has to be shipped; true for a new variant if left out.",
    }),
    weightGrams: t.int({
      description: "The weight of one unit of the variant in grams; null removes the weight.",
    }),
    maxOrderQuantity: t.int({
      description: "The maximum number of units of the variant in one order; null removes the limit.",
    }),
    discontinued: t.boolean({ description: "Whether the merchant no longer sells the variant." }),
    availableFrom: t.field({
      type: "DateTime",
      description:
        "The time from which the variant is available; before this time, the variant is sold as a " +
        "preorder. Null if the variant is available at once.",
    }),
    position: t.int({
      description: "The variant's position in the display order of the product's variants, counted from 0.",
    }),
    backorderLimit: t.int({ description: "The number of units that may be sold beyond the units on hand." }),
    lowStockThreshold: t.int({
      description:
        "The low-stock threshold: the variant has the availability LOW_STOCK if at most this many " +
        "unreserved units are left.",
    }),
    onHand: t.int({
      description: "The number of units counted in the warehouse; replaces the current stock on hand.",
    }),
    prices: t.field({
      type: [ImportPriceInput],
      description: "The variant's prices from now on, at most one for each market.",
    }),
  }),
});

const ImportItem = builder.inputType("ProductImportItem", {
  description:
    "A product to create or update. An existing product is found by any of its slugs or SKUs. " +
    "Translations, variants and prices that are not listed stay unchanged.",
  fields: (t) => ({
    brand: t.string({ description: "The product's brand; null removes the brand." }),
    rating: t.field({
      type: RatingInputType,
      description: "The product's average customer rating; null removes the rating.",
    }),
    taxClass: t.string({ description: taxClassDescription }),
    attributes: t.field({
      type: [AttributeInputType],
      description: "The product's attributes; the list replaces the current list.",
    }),
    options: t.field({
      type: [OptionInputType],
      description: "The options in which the product's variants differ; the list replaces the current list.",
    }),
    categorySlugs: t.field({
      type: ["Slug"],
      description:
        "The slugs of the product's categories, the main category first; the list replaces the current list.",
    }),
    translations: t.field({
      type: [TranslationInputType],
      required: true,
      description: "The product's texts, one entry for each locale.",
    }),
    variants: t.field({
      type: [ImportVariantInput],
      required: true,
      description: "The product's variants to create or update.",
    }),
    status: t.field({
      type: ImportStatusEnum,
      description:
        "The status of the product after the import; if left out, an existing product keeps its status.",
    }),
  }),
});

const ProductsImportInput = builder.inputType("ProductsImportInput", {
  description: "The products to create or update in one import.",
  fields: (t) => ({
    items: t.field({
      type: [ImportItem],
      required: true,
      description: "The products to import, 1 to 500 items.",
    }),
  }),
});

const OutcomeEnum = defineGraphqlEnum("ImportOutcome", {
  description: "The outcome of importing one product (an import item).",
  values: {
    created: "The item has created a product.",
    updated: "An existing product was updated, or already had the imported data.",
    failed: "The item was rejected, and no part of the item was saved.",
  },
});

const ImportDetail = builder
  .objectRef<{ field: string; code: string; message: string }>("ImportErrorDetail")
  .implement({
    description: "One validation rule that an item of a product import breaks.",
    fields: (t) => ({
      field: t.exposeString("field", {
        description: "The invalid field of the item, as a JSON Pointer that starts at the item.",
      }),
      code: t.exposeString("code", { description: "The code of the rule that the field breaks." }),
      message: t.exposeString("message", { description: "The error as a text for people." }),
    }),
  });

const ImportError = builder.objectRef<NonNullable<ProductImportResult["error"]>>("ImportError").implement({
  description: "The reason why an item of a product import was rejected.",
  fields: (t) => ({
    code: t.exposeString("code", { description: "The error code, as in the error responses of the API." }),
    message: t.exposeString("message", { description: "The error as a text for people." }),
    details: t.field({
      type: [ImportDetail],
      description: "The validation rules that the item breaks.",
      complexity: { multiplier: 2 },
      resolve: ({ details }) => [...details],
    }),
  }),
});

const ImportResult = builder.objectRef<ProductImportResult>("ProductImportResult").implement({
  description: "The result of importing one product (an import item).",
  fields: (t) => ({
    index: t.exposeInt("index", { description: "The index of the item in the input, counted from 0." }),
    status: t.expose("status", {
      type: OutcomeEnum,
      description: "Whether a product was created or updated, or the item failed.",
    }),
    product: t.field({
      type: ProductRef,
      nullable: true,
      description: "The imported product; null if the item failed.",
      resolve: ({ productId }, _args, { loaders }) =>
        productId === null ? null : loaders.products.load(productId),
    }),
    error: t.expose("error", {
      type: ImportError,
      nullable: true,
      description: "The reason why the item failed; null if the item was imported.",
    }),
  }),
});

const ImportResults = builder.objectRef<{ results: ProductImportResult[] }>("ProductsImported").implement({
  description: "The results of a product import.",
  fields: (t) => ({
    results: t.expose("results", {
      type: [ImportResult],
      description: "One result for each item, in the order of the input.",
    }),
  }),
});

defineMutation({
  ...merchantMutationKind,
  name: "productsImport",
  description:
    "Imports up to 500 products in one transaction. If an item breaks a rule, the service skips the item, " +
    "and the item's result names the error; the other items are saved.",
  input: ProductsImportInput,
  type: ImportResults,
  run: (transaction, context, { items }) =>
    importProducts(transaction, context, {
      items: items.map((item) =>
        Object.assign({}, item, {
          variants: item.variants.map((variant) =>
            Object.assign({}, variant, { prices: variant.prices?.map(endedOffers) }),
          ),
        }),
      ),
    }),
});

function endedOffers<Price extends { readonly amountMinor?: number | null | undefined }>(
  price: Price,
): Price & { readonly amountMinor: number | null } {
  return Object.assign({}, price, { amountMinor: price.amountMinor ?? null });
}
