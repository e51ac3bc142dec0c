/** What an item of an import looks like, and what it may break by itself. */
import { catalogBounds } from "./write-bounds.ts";
import { slugFaults } from "./write-faults.ts";
import { countFaults, faultAt, type Faults, integerFaults, repeatFaults } from "#foundation/faults.ts";
import { priceFaults, type PriceAmounts } from "./write-prices.ts";
import { categoryFaults, productFaults, type ProductFields } from "./write-product.ts";
import { type TranslationInput, translationsFaults } from "./write-translations.ts";
import { variantFaults, type VariantFields } from "./write-variant-faults.ts";

export interface ImportPriceInput extends PriceAmounts {
  readonly marketHandle: string;
}

export interface ImportVariantInput extends VariantFields {
  readonly prices?: readonly ImportPriceInput[] | null | undefined;
  /** What was counted, not a difference. */
  readonly onHand?: number | null | undefined;
}

/** Found by any of its slugs or SKUs, else made. Translations, variants and prices that are not listed stay as they are. */
export interface ProductImportItem extends ProductFields {
  readonly categorySlugs?: readonly string[] | null | undefined;
  readonly translations: readonly TranslationInput[];
  readonly variants: readonly ImportVariantInput[];
  readonly status?: "draft" | "published" | null | undefined;
}

export function importItemFaults(item: ProductImportItem): Faults {
  return [
    ...(item.translations.length + item.variants.length > 0 ? [] : [faultAt("", "too_short", "It has neither a slug nor a SKU to be known by.")]),
    ...productFaults("", item),
    ...categoryFaults("/categorySlugs", item.categorySlugs),
    ...(item.categorySlugs ?? []).flatMap((slug, index) => slugFaults(`/categorySlugs/${index}`, slug)),
    ...translationsFaults("/translations", item.translations, 0),
    ...countFaults("/variants", item.variants, { min: 0, max: catalogBounds.variantsMax }),
    ...item.variants.flatMap((variant, index) => importVariantFaults(`/variants/${index}`, variant)),
    ...repeatFaults(
      item.variants.map(({ sku }) => sku.toLowerCase()),
      (index) => `/variants/${index}/sku`,
    ),
  ];
}

function importVariantFaults(at: string, variant: ImportVariantInput): Faults {
  const prices = variant.prices ?? [];
  return [
    ...variantFaults(at, variant),
    ...integerFaults(`${at}/onHand`, variant.onHand, { min: 0, max: catalogBounds.onHandMax }),
    ...countFaults(`${at}/prices`, prices, { min: 0, max: catalogBounds.pricesMax }),
    ...prices.flatMap((price, place) => priceFaults(`${at}/prices/${place}`, price)),
    ...repeatFaults(
      prices.map(({ marketHandle }) => marketHandle),
      (place) => `${at}/prices/${place}/marketHandle`,
    ),
  ];
}
