/** Many products at once: each item by itself, with a result of its own. */
import { catalogBounds as bounds } from "#commerce/catalog/catalog-fields.ts";
import { importProducts, type ProductImportResult } from "#commerce/catalog/import-products.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { merchantChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { AttributeInput, OptionInput, RatingInput, TranslationInput, VariantOptionInput } from "./inputs.ts";
import { RestrictionEnum } from "./products.ts";
import { ProductRef } from "#graph/refs.ts";

const ImportStatusEnum = defineEnum("ImportedStatus", {
  description: "The status an imported product shall have.",
  values: { draft: "Buyers do not see it.", published: "On sale." },
});

const ImportPriceInput = builder.inputType("ImportPriceInput", {
  description: "What a variant costs in a market from now on.",
  fields: (t) => ({
    marketHandle: t.string({ required: true, description: "The market's handle." }),
    amountMinor: t.field({ type: "MinorUnits", description: "The price; null ends the offer there." }),
    compareAtMinor: t.field({ type: "MinorUnits", description: "The price before a reduction." }),
    currency: t.field({ type: "CurrencyCode", description: "The market's; sent along it is checked." }),
  }),
});

const ImportVariantInput = builder.inputType("ImportVariantInput", {
  description: "A variant, found by its SKU or made.",
  fields: (t) => ({
    sku: t.string({
      required: true,
      description: `The merchant's own number for it. 1 to ${bounds.skuMax} characters.`,
    }),
    options: t.field({
      type: [VariantOptionInput],
      required: true,
      description: "One choice of each of the product's options.",
    }),
    gtin: t.string({ description: "Its global trade item number." }),
    restrictions: t.field({ type: [RestrictionEnum], description: "What limits its sale." }),
    requiresShipping: t.boolean({ description: "Whether it has to be delivered." }),
    weightGrams: t.int({ description: "Its weight in grams." }),
    maxOrderQuantity: t.int({ description: "How many one order may have." }),
    discontinued: t.boolean({ description: "Whether it is no longer sold." }),
    availableFrom: t.field({ type: "DateTime", description: "Sold before this time as a pre-order." }),
    position: t.int({ description: "Its place among the variants." }),
    backorderLimit: t.int({ description: "How many more than are there may be ordered." }),
    lowStockThreshold: t.int({ description: "From this many available downwards it counts as low." }),
    onHand: t.int({ description: "What was counted: the stock is set to it." }),
    prices: t.field({ type: [ImportPriceInput], description: "Its prices." }),
  }),
});

const ImportItem = builder.inputType("ProductImportItem", {
  description:
    "A product, found by any of its slugs or SKUs, else made. Translations, variants and prices that are not listed stay as they are.",
  fields: (t) => ({
    brand: t.string({ description: "The brand." }),
    rating: t.field({ type: RatingInput, description: "What buyers think." }),
    attributes: t.field({ type: [AttributeInput], description: "Facts about it." }),
    options: t.field({ type: [OptionInput], description: "What a buyer chooses." }),
    categorySlugs: t.field({
      type: ["Slug"],
      description: "The categories it stands in, the main one first.",
    }),
    translations: t.field({ type: [TranslationInput], required: true, description: "Its texts." }),
    variants: t.field({ type: [ImportVariantInput], required: true, description: "What it comes as." }),
    status: t.field({
      type: ImportStatusEnum,
      description: "The status it shall have; left out it keeps its own.",
    }),
  }),
});

const ProductsImportInput = builder.inputType("ProductsImportInput", {
  description: "Products to import.",
  fields: (t) => ({
    items: t.field({
      type: [ImportItem],
      required: true,
      description: "1 to 500 products.",
    }),
  }),
});

const OutcomeEnum = defineEnum("ImportOutcome", {
  description: "What became of an item.",
  values: {
    created: "A product was made.",
    updated: "A product was changed, or was so already.",
    failed: "Nothing of it was taken.",
  },
});

const ImportDetail = builder
  .objectRef<{ field: string; code: string; message: string }>("ImportErrorDetail")
  .implement({
    description: "A rule that an item breaks.",
    fields: (t) => ({
      field: t.exposeString("field", { description: "Where: a JSON Pointer into the item." }),
      code: t.exposeString("code", { description: "The rule." }),
      message: t.exposeString("message", { description: "For people." }),
    }),
  });

const ImportError = builder.objectRef<NonNullable<ProductImportResult["error"]>>("ImportError").implement({
  description: "Why an item was not taken.",
  fields: (t) => ({
    code: t.exposeString("code", { description: "The failure's code, as in errors." }),
    message: t.exposeString("message", { description: "For people." }),
    details: t.field({
      type: [ImportDetail],
      description: "The rules it breaks.",
      complexity: { multiplier: 2 },
      resolve: ({ details }) => [...details],
    }),
  }),
});

const ImportResult = builder.objectRef<ProductImportResult>("ProductImportResult").implement({
  description: "What became of an item.",
  fields: (t) => ({
    index: t.exposeInt("index", { description: "The item's place in the input, from 0." }),
    status: t.expose("status", { type: OutcomeEnum, description: "What became of it." }),
    product: t.field({
      type: ProductRef,
      nullable: true,
      description: "The product; null when the item failed.",
      resolve: ({ productId }, _args, { loaders }) =>
        productId === null ? null : loaders.products.load(productId),
    }),
    error: t.expose("error", { type: ImportError, nullable: true, description: "Why it was not taken." }),
  }),
});

const ImportResults = builder.objectRef<{ results: ProductImportResult[] }>("ProductsImported").implement({
  description: "What became of an import.",
  fields: (t) => ({
    results: t.expose("results", {
      type: [ImportResult],
      description: "One result for each item, in their order.",
    }),
  }),
});

changeMutation({
  ...merchantChange,
  name: "productsImport",
  description:
    "Imports up to 500 products in one transaction. An item that breaks a rule is left out and says why; the others are taken.",
  input: ProductsImportInput,
  type: ImportResults,
  run: (transaction, tenant, { items }) =>
    importProducts(transaction, tenant, {
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
