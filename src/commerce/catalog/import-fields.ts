/** Defines the input of a product import and checks its items. */
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getDuplicateEntryErrors,
} from "#foundation/faults.ts";
import {
  catalogBounds,
  findSlugFaults,
  findVariantFaults,
  type VariantInputFields,
} from "./catalog-fields.ts";
import { findProductCategoriesFaults, findProductFaults, type ProductInputFields } from "./change-product.ts";
import { type ProductTranslationInput, findProductTranslationsFaults } from "./product-texts.ts";
import { type PriceAndCompareAtPriceInput, findPriceFaults } from "./set-prices.ts";

interface ImportPriceInput extends PriceAndCompareAtPriceInput {
  readonly marketHandle: string;
}

export interface ImportedVariantInput extends VariantInputFields {
  readonly prices?: readonly ImportPriceInput[] | null | undefined;
  /** The number of units of the variant that were counted; replaces the stock on hand. */
  readonly onHand?: number | null | undefined;
}

/**
 * A product to create or update. If a product of the merchant has one of the item's slugs or SKUs, this
 * product is updated. Its translations, variants and prices that the item does not list stay unchanged.
 * Otherwise, a new product is created.
 */
export interface ProductImportItem extends ProductInputFields {
  readonly categorySlugs?: readonly string[] | null | undefined;
  readonly translations: readonly ProductTranslationInput[];
  readonly variants: readonly ImportedVariantInput[];
  readonly status?: "draft" | "published" | null | undefined;
}

export function findProductImportItemFaults(item: ProductImportItem): InputFieldErrors {
  return [
    ...(item.translations.length + item.variants.length > 0
      ? []
      : [
          createRequestBodyErrorDetail(
            "",
            "too_short",
            "The item must have at least one translation or variant.",
          ),
        ]),
    ...findProductFaults("", item),
    ...findProductCategoriesFaults("/categorySlugs", item.categorySlugs),
    ...(item.categorySlugs ?? []).flatMap((slug, index) => findSlugFaults(`/categorySlugs/${index}`, slug)),
    ...findProductTranslationsFaults("/translations", item.translations, 0),
    ...getListLengthErrors("/variants", item.variants, { min: 0, max: catalogBounds.variantsMax }),
    ...item.variants.flatMap((variant, index) => importVariantFaults(`/variants/${index}`, variant)),
    ...getDuplicateEntryErrors(
      item.variants.map(({ sku }) => sku.toLowerCase()),
      (index) => `/variants/${index}/sku`,
    ),
  ];
}

function importVariantFaults(at: string, variant: ImportedVariantInput): InputFieldErrors {
  const prices = variant.prices ?? [];
  return [
    ...findVariantFaults(at, variant),
    ...getIntegerFieldErrors(`${at}/onHand`, variant.onHand, { min: 0, max: catalogBounds.onHandMax }),
    ...getListLengthErrors(`${at}/prices`, prices, { min: 0, max: catalogBounds.pricesMax }),
    ...prices.flatMap((price, place) => findPriceFaults(`${at}/prices/${place}`, price)),
    ...getDuplicateEntryErrors(
      prices.map(({ marketHandle }) => marketHandle),
      (place) => `${at}/prices/${place}/marketHandle`,
    ),
  ];
}
