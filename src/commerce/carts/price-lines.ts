/**
 * Gives each line of a cart draft its current price and texts, reduces the quantity to the available stock,
 * and returns warnings about the changed lines, for example about a new price.
 */
import { standardTaxClass } from "#commerce/tax/tax-provider.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import { createMoney } from "#foundation/money.ts";
import { type CartLineDisplayFields, type StoredCartWarning, createCartWarning } from "./cart-aggregate.ts";
import type { UnpricedCartDraft, UnpricedCartDraftLine } from "./cart-draft.ts";
import type { CurrentCartPricingData, CartPricingVariant } from "./pricing-data.ts";

export const cartLineQuantityMax = 9999;

/** A cart line with its current unit price, before the total, discounts and taxes of the line are calculated. */
export interface CartLineWithCurrentPrice {
  readonly id: string;
  readonly productId: string;
  readonly variantId: string;
  readonly categoryIds: readonly string[];
  readonly quantity: number;
  readonly unitPriceMinor: number;
  readonly compareAtMinor: number | null;
  readonly display: CartLineDisplayFields;
  readonly requiresShipping: boolean;
  /** Code of the product's tax class. */
  readonly taxClass: string;
  readonly restrictions: readonly string[];
  /** True if a buyer can buy at least one item of the variant now. */
  readonly isAvailable: boolean;
}

export interface CartLinesWithCurrentPrices {
  readonly lines: readonly CartLineWithCurrentPrice[];
  readonly warnings: readonly StoredCartWarning[];
}

/**
 * Gives all lines of a cart draft their current price, texts and available quantity. `isMarketNew` is true if
 * the cart moves to another market. In this case, no warning about changed prices is added.
 */
export function applyCurrentPricingDataToCartLines(
  draft: UnpricedCartDraft,
  offer: CurrentCartPricingData,
  { isMarketNew }: { readonly isMarketNew: boolean },
): CartLinesWithCurrentPrices {
  const lines: CartLineWithCurrentPrice[] = [];
  const warnings: StoredCartWarning[] = [];
  for (const line of draft.lines) {
    const variant = offer.variants.get(line.variantId);
    const result =
      variant === undefined || !isVariantForSale(variant)
        ? keepUnsoldLine(line, variant, isMarketNew)
        : offerSoldLine(line, variant, { draft, offer, isMarketNew });
    if (result.line !== null) lines.push(result.line);
    warnings.push(...result.warnings);
  }
  return { lines, warnings };
}

interface OfferedLineResult {
  /** The cart line with its current price; null if the line must be removed from the cart. */
  readonly line: CartLineWithCurrentPrice | null;
  readonly warnings: readonly StoredCartWarning[];
}

export const isVariantForSale = (
  variant: CartPricingVariant,
): variant is CartPricingVariant & { readonly priceMinor: number } =>
  variant.isPublished && !variant.discontinued && variant.priceMinor !== null;

/**
 * Returns how many items of the variant a buyer can order now: the free stock plus the backorder limit, but
 * at most the maximum order quantity; 0 if the variant is out of stock.
 */
export function countOrderableVariantUnits({
  onHand,
  reserved,
  backorderLimit,
  maxOrderQuantity,
}: CartPricingVariant): number {
  return Math.max(
    0,
    Math.min(
      onHand - reserved + backorderLimit,
      maxOrderQuantity ?? cartLineQuantityMax,
      cartLineQuantityMax,
    ),
  );
}

/**
 * Keeps a line whose variant is no longer sold, with its last price, so that the buyer sees which line can no
 * longer be bought. A new line is removed instead, and so is every such line if the cart moves to another
 * market, because the line has no price there.
 */
function keepUnsoldLine(
  line: UnpricedCartDraftLine,
  variant: CartPricingVariant | undefined,
  isMarketNew: boolean,
): OfferedLineResult {
  const { before, id } = line;
  if (before === null || isMarketNew) return removeUnsoldLine(line, variant);
  return {
    line: {
      ...before,
      categoryIds: variant?.categoryIds ?? [],
      taxClass: variant?.taxClass ?? before.taxRate?.taxClass ?? standardTaxClass,
      quantity: line.quantity,
      isAvailable: false,
    },
    warnings: [createCartWarning("line_unavailable", id, { isRemoved: false, sku: before.display.sku })],
  };
}

function removeUnsoldLine(
  { before, id }: UnpricedCartDraftLine,
  variant: CartPricingVariant | undefined,
): OfferedLineResult {
  const sku = before?.display.sku ?? variant?.sku ?? null;
  // A warning about a new cart line has no line id, because the line is not stored and the caller cannot know
  // its id.
  const lineId = before === null ? null : id;
  return {
    line: null,
    warnings: [createCartWarning("line_unavailable", lineId, { isRemoved: true, sku })],
  };
}

interface LineOfferContext {
  readonly draft: UnpricedCartDraft;
  readonly offer: CurrentCartPricingData;
  readonly isMarketNew: boolean;
}

function offerSoldLine(
  line: UnpricedCartDraftLine,
  variant: CartPricingVariant & { readonly priceMinor: number },
  context: LineOfferContext,
): OfferedLineResult {
  const { id, before } = line;
  const { draft, offer, isMarketNew } = context;
  const orderable = countOrderableVariantUnits(variant);
  const quantity = orderable === 0 ? line.quantity : Math.min(line.quantity, orderable);
  const warnings: StoredCartWarning[] = [];
  if (orderable === 0) warnings.push(createCartWarning("out_of_stock", id, {}));
  const wanted = line.wantedQuantity ?? line.quantity;
  if (quantity < wanted) warnings.push(createCartWarning("quantity_reduced", id, { wanted, quantity }));
  if (before !== null && !isMarketNew && before.unitPriceMinor !== variant.priceMinor) {
    const { currency } = offer.market;
    warnings.push(
      createCartWarning("price_changed", id, {
        before: createMoney(before.unitPriceMinor, currency),
        now: createMoney(variant.priceMinor, currency),
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
      display: renderLineDisplay(variant, draft, offer),
      requiresShipping: variant.requiresShipping,
      taxClass: variant.taxClass,
      restrictions: variant.restrictions,
      isAvailable: orderable > 0,
    },
    warnings,
  };
}

function renderLineDisplay(
  variant: CartPricingVariant,
  draft: UnpricedCartDraft,
  offer: CurrentCartPricingData,
): CartLineDisplayFields {
  const fallbacks = [offer.market.defaultLocale, offer.merchantLocale];
  const locale = chooseBestLocale(
    variant.translations.map((translation) => translation.locale),
    [draft.locale],
    fallbacks,
  );
  const translation = variant.translations.find((candidate) => candidate.locale === locale);
  if (translation === undefined) throw new Error(`Product ${variant.productId} has no translation.`);
  const named = (names: Readonly<Record<string, string>>): string | null =>
    names[chooseBestLocale(Object.keys(names), [draft.locale], fallbacks) ?? ""] ?? null;
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
