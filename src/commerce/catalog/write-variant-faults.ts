/** What a variant may say of itself, apart from the product it belongs to. */
import { catalogBounds } from "./write-bounds.ts";
import { countFaults, faultAt, type Faults, integerFaults, repeatFaults, textFaults } from "#foundation/faults.ts";

export const restrictions = [
  "age_18",
  "hazmat",
  "no_returns",
  "final_sale",
  "custom_made",
  "perishable",
  "hygiene_sealed",
  "digital",
  "gift_card",
] as const;
export type Restriction = (typeof restrictions)[number];

export interface VariantOptionInput {
  /** The option's code. */
  readonly option: string;
  /** The choice's code. */
  readonly choice: string;
}

/** Left out: stays as it is, or takes its default where the variant is new. */
export interface VariantFields {
  /** Unique in the merchant's catalog, whatever its case. */
  readonly sku: string;
  readonly options: readonly VariantOptionInput[];
  readonly gtin?: string | null | undefined;
  readonly restrictions?: readonly Restriction[] | null | undefined;
  readonly requiresShipping?: boolean | null | undefined;
  readonly weightGrams?: number | null | undefined;
  readonly maxOrderQuantity?: number | null | undefined;
  readonly discontinued?: boolean | null | undefined;
  readonly availableFrom?: Date | null | undefined;
  readonly position?: number | null | undefined;
  /** How many may be sold beyond what is on hand. */
  readonly backorderLimit?: number | null | undefined;
  readonly lowStockThreshold?: number | null | undefined;
}

/** What can be typed and read out: no spaces at the ends, nothing outside of ASCII, so that case means the same everywhere. */
const skuPattern = /^[!-~](?:[ -~]*[!-~])?$/;

export function variantFaults(at: string, variant: VariantFields): Faults {
  return [
    ...textFaults(`${at}/sku`, variant.sku, { max: catalogBounds.skuMax }),
    ...(skuPattern.test(variant.sku)
      ? []
      : [faultAt(`${at}/sku`, "pattern_mismatch", "A SKU has printable ASCII characters, no space at its ends.")]),
    ...gtinFaults(`${at}/gtin`, variant.gtin),
    ...restrictionFaults(`${at}/restrictions`, variant.restrictions ?? []),
    ...countFaults(`${at}/options`, variant.options, { min: 0, max: catalogBounds.optionsMax }),
    ...repeatFaults(
      variant.options.map(({ option }) => option),
      (index) => `${at}/options/${index}/option`,
    ),
    ...integerFaults(`${at}/weightGrams`, variant.weightGrams, { min: 0, max: catalogBounds.weightGramsMax }),
    ...integerFaults(`${at}/maxOrderQuantity`, variant.maxOrderQuantity, { min: 1, max: 9999 }),
    ...integerFaults(`${at}/position`, variant.position, { min: 0, max: catalogBounds.positionMax }),
    ...integerFaults(`${at}/backorderLimit`, variant.backorderLimit, { min: 0, max: catalogBounds.onHandMax }),
    ...integerFaults(`${at}/lowStockThreshold`, variant.lowStockThreshold, { min: 0, max: catalogBounds.onHandMax }),
    ...dateFaults(`${at}/availableFrom`, variant.availableFrom),
  ];
}

function restrictionFaults(field: string, given: readonly string[]): Faults {
  const known: readonly string[] = restrictions;
  return [
    ...given.flatMap((restriction, index) =>
      known.includes(restriction) ? [] : [{ ...faultAt(`${field}/${index}`, "not_allowed", "There is no such restriction."), allowed: known }],
    ),
    ...repeatFaults(given, (index) => `${field}/${index}`),
  ];
}

function dateFaults(field: string, date: Date | null | undefined): Faults {
  if (date === null || date === undefined || !Number.isNaN(date.getTime())) return [];
  return [faultAt(field, "wrong_type", "It is not a time.")];
}

function gtinFaults(field: string, gtin: string | null | undefined): Faults {
  if (gtin === null || gtin === undefined || isGtin(gtin)) return [];
  return [faultAt(field, "pattern_mismatch", "A GTIN has 8, 12, 13 or 14 digits, the last of which checks the others.")];
}

/** GS1 General Specifications 7.9: from the right, digits weigh 1, 3, 1, 3 …; the sum is a multiple of ten. */
export function isGtin(text: string): boolean {
  if (!/^(?:\d{8}|\d{12,14})$/.test(text)) return false;
  const sum = Array.from(text).reduce((total, digit, index) => total + Number(digit) * ((text.length - index) % 2 === 0 ? 3 : 1), 0);
  return sum % 10 === 0;
}
