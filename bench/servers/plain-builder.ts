/**
 * The builder of the plain schema (see `plain-schema.ts`), and the types that products and carts share. Enum
 * values are returned as texts, as they are stored.
 */
import SchemaBuilder from "@pothos/core";
import type { PlainLoaders } from "./plain-loaders.ts";
import type { FindHits } from "./yardstick-search.ts";
import type { Money as MoneyValue } from "./yardstick-parts.ts";

export interface PlainViewer {
  readonly merchantId: string | null;
}

export interface PlainContext {
  readonly viewer: PlainViewer | null;
  readonly buyerReference: string | null;
  /** The requested locales, each with its fallbacks. */
  readonly chain: readonly string[];
  readonly loaders: PlainLoaders;
  readonly findProduct: (merchantSlug: string, productSlug: string) => Promise<string | undefined>;
  readonly find: FindHits;
  readonly publicUrl: string;
}

interface Scalar<Value> {
  Input: Value;
  Output: Value;
}

export const builder = new SchemaBuilder<{
  Context: PlainContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: Scalar<string>;
    MinorUnits: Scalar<number>;
    SearchText: Scalar<string>;
    LocaleCode: Scalar<string>;
    CountryCode: Scalar<string>;
    Slug: Scalar<string>;
    JSON: Scalar<unknown>;
  };
}>({
  defaultFieldNullability: false,
  // The service's authorization plugin, which is not used here, adds this type globally.
  scopeAuth: { authScopes: () => ({}) },
});

for (const name of ["MinorUnits", "SearchText", "LocaleCode", "CountryCode", "Slug", "JSON"] as const)
  builder.scalarType(name, { serialize: (value) => value as never });

export const MoneyType = builder.objectRef<MoneyValue>("Money").implement({
  fields: (t) => ({
    amountMinor: t.expose("amountMinor", { type: "MinorUnits" }),
    currency: t.exposeString("currency"),
    exponent: t.exposeInt("exponent"),
  }),
});

export interface ImageValue {
  readonly url: string;
  readonly alt: string | null;
  readonly width: number;
  readonly height: number;
}

export const ImageType = builder.objectRef<ImageValue>("Image").implement({
  fields: (t) => ({
    url: t.exposeString("url"),
    alt: t.exposeString("alt", { nullable: true }),
    width: t.exposeInt("width"),
    height: t.exposeInt("height"),
  }),
});

export const MerchantType = builder
  .objectRef<{ readonly id: string; readonly slug: string; readonly name: string }>("MerchantSummary")
  .implement({
    fields: (t) => ({ id: t.exposeID("id"), slug: t.exposeString("slug"), name: t.exposeString("name") }),
  });

export const PriceRangeType = builder
  .objectRef<{ readonly min: MoneyValue; readonly max: MoneyValue }>("PriceRange")
  .implement({
    fields: (t) => ({ min: t.expose("min", { type: MoneyType }), max: t.expose("max", { type: MoneyType }) }),
  });

export const absoluteUrl = (url: string, publicUrl: string): string =>
  url.startsWith("/") ? publicUrl + url : url;

/** Returns the rank of a variant's availability; 1 is the best. */
export function availabilityRank(
  { discontinued, availableFrom }: { readonly discontinued: boolean; readonly availableFrom: Date | null },
  stock: {
    readonly onHand: number;
    readonly reserved: number;
    readonly backorderLimit: number;
    readonly lowStockThreshold: number;
  } | null,
): number {
  const onShelf = stock === null ? 0 : stock.onHand - stock.reserved;
  if (discontinued) return 6;
  if (stock === null || onShelf + stock.backorderLimit <= 0) return 5;
  if (availableFrom !== null && availableFrom > new Date()) return 4;
  if (onShelf <= 0) return 3;
  return onShelf <= stock.lowStockThreshold ? 2 : 1;
}
