/**
 * Takes each wanted line to what is for sale now: today's price and texts, no more than there is; and says
 * what changed by that.
 */
import { chooseLocale } from "#foundation/text.ts";
import { money } from "#foundation/money.ts";
import { type LineDisplay, type StoredWarning, warning } from "./cart-aggregate.ts";
import type { CartDraft, DraftLine } from "./cart-draft.ts";
import type { Offer, OfferedVariant } from "./offer.ts";

export const quantityMax = 9999;

/** A line with today's price, not yet added up. */
export interface OfferedLine {
  readonly id: string;
  readonly productId: string;
  readonly variantId: string;
  readonly categoryIds: readonly string[];
  readonly quantity: number;
  readonly unitPriceMinor: number;
  readonly compareAtMinor: number | null;
  readonly display: LineDisplay;
  readonly requiresShipping: boolean;
  readonly restrictions: readonly string[];
  /** Whether it could be bought now. */
  readonly isAvailable: boolean;
}

export interface OfferedLines {
  readonly lines: readonly OfferedLine[];
  readonly warnings: readonly StoredWarning[];
}

/** `isMarketNew`: what the lines cost before was in another market. */
export function offerLines(
  draft: CartDraft,
  offer: Offer,
  { isMarketNew }: { readonly isMarketNew: boolean },
): OfferedLines {
  const lines: OfferedLine[] = [];
  const warnings: StoredWarning[] = [];
  for (const line of draft.lines) {
    const variant = offer.variants.get(line.variantId);
    const taken =
      variant === undefined || !isSold(variant)
        ? keepUnsold(line, variant, isMarketNew)
        : takeSold(line, variant, { draft, offer, isMarketNew });
    if (taken.line !== null) lines.push(taken.line);
    warnings.push(...taken.warnings);
  }
  return { lines, warnings };
}

interface Taken {
  /** Null: it cannot stay. */
  readonly line: OfferedLine | null;
  readonly warnings: readonly StoredWarning[];
}

export const isSold = (
  variant: OfferedVariant,
): variant is OfferedVariant & { readonly priceMinor: number } =>
  variant.isPublished && !variant.discontinued && variant.priceMinor !== null;

/** How many of it can be ordered: 0 when it is sold out. */
export function orderableQuantity({
  onHand,
  reserved,
  backorderLimit,
  maxOrderQuantity,
}: OfferedVariant): number {
  return Math.max(
    0,
    Math.min(onHand - reserved + backorderLimit, maxOrderQuantity ?? quantityMax, quantityMax),
  );
}

/**
 * What is no longer sold stays at its last price, so that the buyer sees what is gone; in another market it
 * has none.
 */
function keepUnsold(line: DraftLine, variant: OfferedVariant | undefined, isMarketNew: boolean): Taken {
  const { before, id } = line;
  if (before === null || isMarketNew) {
    const sku = before?.display.sku ?? variant?.sku ?? null;
    // A line that never stood in this cart has no id that anybody knows.
    return {
      line: null,
      warnings: [warning("line_unavailable", before === null ? null : id, { isRemoved: true, sku })],
    };
  }
  return {
    line: { ...before, categoryIds: variant?.categoryIds ?? [], quantity: line.quantity, isAvailable: false },
    warnings: [warning("line_unavailable", id, { isRemoved: false, sku: before.display.sku })],
  };
}

interface Circumstances {
  readonly draft: CartDraft;
  readonly offer: Offer;
  readonly isMarketNew: boolean;
}

function takeSold(
  line: DraftLine,
  variant: OfferedVariant & { readonly priceMinor: number },
  circumstances: Circumstances,
): Taken {
  const { id, before } = line;
  const { draft, offer, isMarketNew } = circumstances;
  const orderable = orderableQuantity(variant);
  const quantity = orderable === 0 ? line.quantity : Math.min(line.quantity, orderable);
  const warnings: StoredWarning[] = [];
  if (orderable === 0) warnings.push(warning("out_of_stock", id, {}));
  if (quantity < line.quantity)
    warnings.push(warning("quantity_reduced", id, { wanted: line.quantity, quantity }));
  if (before !== null && !isMarketNew && before.unitPriceMinor !== variant.priceMinor) {
    const { currency } = offer.market;
    warnings.push(
      warning("price_changed", id, {
        before: money(before.unitPriceMinor, currency),
        now: money(variant.priceMinor, currency),
      }),
    );
  }
  return {
    line: {
      id,
      productId: variant.productId,
      variantId: variant.id,
      categoryIds: variant.categoryIds,
      quantity,
      unitPriceMinor: variant.priceMinor,
      compareAtMinor: variant.compareAtMinor,
      display: displayOf(variant, draft, offer),
      requiresShipping: variant.requiresShipping,
      restrictions: variant.restrictions,
      isAvailable: orderable > 0,
    },
    warnings,
  };
}

function displayOf(variant: OfferedVariant, draft: CartDraft, offer: Offer): LineDisplay {
  const fallbacks = [offer.market.defaultLocale, offer.merchantLocale];
  const locale = chooseLocale(
    variant.translations.map((translation) => translation.locale),
    [draft.locale],
    fallbacks,
  );
  const translation = variant.translations.find((candidate) => candidate.locale === locale);
  if (translation === undefined) throw new Error(`Product ${variant.productId} has no translation.`);
  const named = (names: Readonly<Record<string, string>>): string | null =>
    names[chooseLocale(Object.keys(names), [draft.locale], fallbacks) ?? ""] ?? null;
  const labels = variant.choices.flatMap((option) => {
    const choice = option.choices.find(({ code }) => code === variant.options[option.code]);
    return choice === undefined ? [] : [named(choice.labels) ?? choice.code];
  });
  const { image } = variant;
  return {
    productSlug: translation.slug,
    sku: variant.sku,
    title: translation.title,
    variantTitle: labels.length > 0 ? labels.join(" / ") : null,
    image:
      image === null
        ? null
        : { url: image.url, alt: named(image.alts), width: image.width, height: image.height },
  };
}
