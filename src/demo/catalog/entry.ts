/** How a product of the demo catalogue is written down: one entry, from which every row of the product follows. */
import type { Availability } from "#commerce/catalog/availability.ts";
import type { Motif } from "#demo/pictures/pictures.ts";
import type { AttributeCode, Colour, OptionCode, Words } from "./words.ts";

/** Minor units in EUR, USD and JPY: the order of the first merchant's markets DE, US, JP. Null: not sold there. */
export type Amounts = readonly [eur: number | null, usd: number | null, jpy: number | null];

type Restriction = "age_18" | "hazmat" | "no_returns" | "final_sale" | "custom_made" | "perishable" | "hygiene_sealed" | "digital" | "gift_card";

export interface EntryOption {
  readonly code: OptionCode;
  /** Keys of choiceLabels. */
  readonly choices: readonly string[];
}

export interface EntryAttribute {
  readonly code: AttributeCode;
  readonly value: string | number | boolean | readonly string[];
  readonly unit: string | null;
}

export interface CatalogEntry {
  /** Its variants' SKUs begin with it. */
  readonly sku: string;
  readonly motif: Motif;
  readonly brand: string | null;
  readonly categories: readonly [string, ...string[]];
  readonly title: Words;
  /** Japanese titles give no slug by themselves, so theirs is romanised by hand. */
  readonly slugJa?: string;
  /** Where the slug is not the one that the English title gives. */
  readonly slugEn?: string;
  /** A slug it had before, still leading to it. */
  readonly slugFormer?: string;
  readonly summary: Words;
  /** What speaks for it, a list per language, separated by " | ". */
  readonly points: Words;
  readonly price: Amounts;
  /** The price before the sale that is running. */
  readonly priceBefore?: Amounts;
  /** The price rose twelve days ago by a tenth. */
  readonly priceRose?: true;
  /** By choice, where a size costs something else. */
  readonly priceOf?: Readonly<Record<string, Amounts>>;
  readonly options?: readonly EntryOption[];
  /** Of its variants in turn; the last one holds for the rest. */
  readonly stock?: readonly Availability[];
  readonly attributes?: readonly EntryAttribute[];
  /** Null: nothing to weigh. */
  readonly grams: number | null;
  readonly maxOrderQuantity?: number;
  readonly restrictions?: readonly Restriction[];
  readonly status?: "draft" | "archived";
}

export interface Family {
  /** Closes the description of each of its products. */
  readonly care: Words;
  readonly entries: readonly CatalogEntry[];
}

export const colours = (...choices: readonly Colour[]): EntryOption => ({ code: "colour", choices });
export const sizes = (...choices: readonly string[]): EntryOption => ({ code: "size", choices });
export const option = (code: OptionCode, ...choices: readonly string[]): EntryOption => ({ code, choices });
export const attribute = (code: AttributeCode, value: EntryAttribute["value"], unit: string | null = null): EntryAttribute => ({ code, value, unit });
