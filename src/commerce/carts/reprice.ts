/**
 * Computes the next stored state of a cart: all amounts, promotions, delivery options and warnings. The
 * inputs are the cart draft (the values that callers choose) and the current offer (prices, stock, taxes,
 * delivery methods and promotions). Pure. Every change of a cart uses this file, so that all amounts of a
 * cart are always calculated together.
 */
import { priceCart, type PricedCart } from "#commerce/pricing/price-cart.ts";
import {
  type ChosenPromotions,
  choosePromotionsAndPriceCart,
  type PromotionRefusal,
} from "#commerce/promotions/choose-promotions.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import {
  type CartAggregate,
  findPromotionAddedByCode,
  type StoredCartAddress,
  type StoredCartLine,
  type StoredDeliveryOption,
  type StoredCartPromotion,
  type StoredCartWarning,
  createCartWarning,
} from "./cart-aggregate.ts";
import {
  cartAddressLifetimeMs,
  type UnpricedCartDraft,
  type RepricedCart,
  pickCartMarketLocaleAndBuyer,
} from "./cart-draft.ts";
import { findCartTaxRatesAndRules } from "./cart-tax-terms.ts";
import type { CurrentCartPricingData, CartPricingMarket } from "./pricing-data.ts";
import { type CartLineWithCurrentPrice, applyCurrentPricingDataToCartLines } from "./price-lines.ts";

export interface CartRepriceResult {
  readonly next: RepricedCart;
  /**
   * The reason why the cart's promotion code does not apply now; null if the cart has no code or the code
   * applies.
   */
  readonly refusal: PromotionRefusal | null;
}

export interface RepriceCartInput {
  readonly draft: UnpricedCartDraft;
  /** The cart as it is stored before the change; undefined if the cart is new. */
  readonly before: CartAggregate | undefined;
  readonly offer: CurrentCartPricingData;
  readonly now: Date;
  /** True if a checkout session has locked the cart. The address of a locked cart does not expire. */
  readonly isInCheckout?: boolean;
  /**
   * True if the caller has named the current version of the stored cart, which shows that the caller has read
   * this cart.
   */
  readonly areWarningsSeen?: boolean;
}

export function repriceCart({
  draft,
  before,
  offer,
  now,
  isInCheckout = false,
  areWarningsSeen = false,
}: RepriceCartInput): CartRepriceResult {
  const { market } = offer;
  const isMarketNew = before !== undefined && before.marketId !== market.id;
  const offered = applyCurrentPricingDataToCartLines(draft, offer, { isMarketNew });
  const address = currentAddress(draft.address, market, { now, isInCheckout });
  const options = address === null ? null : offeredDeliveryOptions(offered.lines, draft, offer);
  const chosen = options?.find(({ id }) => id === draft.deliveryMethodId);
  const choice = chooseCartPromotions(draft, offer, {
    now,
    lines: offered.lines,
    shippingMinor: shippingPriceMinor(offered.lines, { address, chosen }),
    address,
    chosen,
  });
  const { lines: pricedLines, discounts: _discounts, ...sums } = choice.priced;
  const refusal = choice.code?.refusal ?? null;
  const next: RepricedCart = {
    ...pickCartMarketLocaleAndBuyer(draft),
    marketId: market.id,
    currency: market.currency,
    taxIncluded: market.taxIncluded,
    buyerEmailId: draft.buyerEmailId,
    priced: sums,
    lines: offered.lines.map((line, index) => toStoredLine(line, pricedLines[index], index)),
    promotions: toStoredPromotions(choice),
    deliveryMethodId: chosen?.id ?? null,
    deliveryOptions: options,
    address,
    addressTokenDigest: draft.addressTokenDigest,
    warnings: [
      ...draft.warnings,
      ...marketWarnings(draft, before, market),
      ...expiryWarnings(draft, before, address),
      ...offered.warnings,
      ...(refusal === null ? [] : [refusalWarning(refusal, before)]),
    ],
    unseenWarnings: areWarningsSeen ? [] : unseenReductions(before, draft, offered.warnings),
  };
  return { next, refusal };
}

/**
 * The reasons for which a refused promotion code is removed from the cart permanently. A code that is refused
 * for another reason stays in the cart with the state "suspended", and can apply again later.
 */
const permanentRefusals: ReadonlySet<PromotionRefusal["reason"]> = new Set([
  "ended",
  "usage_limit_reached",
  "customer_usage_limit_reached",
]);

const isPermanent = (refusal: PromotionRefusal | null): boolean =>
  refusal !== null && permanentRefusals.has(refusal.reason);

function refusalWarning(refusal: PromotionRefusal, before: CartAggregate | undefined): StoredCartWarning {
  const { reason } = refusal;
  if (!isPermanent(refusal)) return createCartWarning("promotion_suspended", null, { reason });
  const code = before === undefined ? undefined : findPromotionAddedByCode(before)?.code;
  return createCartWarning("promotion_removed", null, { code: code ?? null, reason });
}

/**
 * Returns the stored warnings about reduced quantities that must be repeated, because the quantity of the
 * line is still the reduced quantity. Without the repetition, a change by another caller could hide from the
 * buyer that the cart contains fewer units than the buyer wanted.
 */
function unseenReductions(
  before: CartAggregate | undefined,
  { lines }: UnpricedCartDraft,
  warnings: readonly StoredCartWarning[],
): readonly StoredCartWarning[] {
  if (before === undefined) return [];
  return before.warnings.filter(
    ({ code, lineId, data }) =>
      code === "quantity_reduced" &&
      lines.some((line) => line.id === lineId && line.quantity === data["quantity"]) &&
      !warnings.some((warning) => warning.lineId === lineId),
  );
}

/**
 * Returns a warning if the address of the cart has expired. The warning is repeated until the cart gets a new
 * address.
 */
function expiryWarnings(
  draft: UnpricedCartDraft,
  before: CartAggregate | undefined,
  address: StoredCartAddress | null,
): readonly StoredCartWarning[] {
  if (address !== null) return [];
  if (draft.address !== null) return [createCartWarning("address_expired", null, {})];
  return before?.warnings.filter(({ code }) => code === "address_expired") ?? [];
}

/**
 * Returns the cart's address with a new expiry time, which is never later than `expiresAtMax`. Returns null
 * if the address has expired, or if its country does not belong to the cart's market.
 */
function currentAddress(
  address: StoredCartAddress | null,
  market: CartPricingMarket,
  { now, isInCheckout }: { readonly now: Date; readonly isInCheckout: boolean },
): StoredCartAddress | null {
  if (address === null || !market.countries.includes(address.masked.countryCode)) return null;
  if (!isInCheckout && new Date(address.expiresAt) <= now) return null;
  const expiresAt = new Date(
    Math.min(now.getTime() + cartAddressLifetimeMs, Date.parse(address.expiresAtMax)),
  );
  return { ...address, expiresAt: expiresAt.toISOString() };
}

const needsShipping = (lines: readonly CartLineWithCurrentPrice[]): boolean =>
  lines.some(({ requiresShipping }) => requiresShipping);

/**
 * Returns the delivery options of a cart; an empty list if the cart has lines and none of them requires
 * shipping.
 */
function offeredDeliveryOptions(
  lines: readonly CartLineWithCurrentPrice[],
  draft: UnpricedCartDraft,
  { market, merchantLocale }: CurrentCartPricingData,
): StoredDeliveryOption[] {
  if (lines.length > 0 && !needsShipping(lines)) return [];
  const subtotalMinor = priceCart({
    taxIncluded: true,
    lines,
    shippingMinor: null,
    tax: null,
    discounts: [],
  }).subtotalMinor;
  return market.deliveries.map(
    ({ id, names, carrier, priceMinor, freeFromMinor, minDays, maxDays, pickup }) => ({
      id,
      name:
        names[
          chooseBestLocale(Object.keys(names), [draft.locale], [market.defaultLocale, merchantLocale]) ?? ""
        ] ?? "",
      carrier,
      priceMinor: freeFromMinor !== null && subtotalMinor >= freeFromMinor ? 0 : priceMinor,
      minDays,
      maxDays,
      pickup,
    }),
  );
}

/**
 * Returns the shipping price in minor units: 0 if no line of the cart requires shipping, null if the price is
 * not known yet.
 */
function shippingPriceMinor(
  lines: readonly CartLineWithCurrentPrice[],
  {
    address,
    chosen,
  }: { readonly address: StoredCartAddress | null; readonly chosen: StoredDeliveryOption | undefined },
): number | null {
  if (address === null || lines.length === 0) return null;
  return needsShipping(lines) ? (chosen?.priceMinor ?? null) : 0;
}

interface PromotionChoiceInput {
  readonly now: Date;
  readonly lines: readonly CartLineWithCurrentPrice[];
  readonly shippingMinor: number | null;
  readonly address: StoredCartAddress | null;
  /** The chosen delivery option; undefined if none is chosen. */
  readonly chosen: StoredDeliveryOption | undefined;
}

function chooseCartPromotions(
  draft: UnpricedCartDraft,
  { market, automatic, code }: CurrentCartPricingData,
  { now, lines, shippingMinor, address, chosen }: PromotionChoiceInput,
): ChosenPromotions {
  const pricing = {
    taxIncluded: market.taxIncluded,
    lines,
    shippingMinor,
    tax:
      address === null ? null : findCartTaxRatesAndRules(market, { address: address.masked, lines, chosen }),
  };
  const facts = {
    marketId: market.id,
    currency: market.currency,
    buyerReference: draft.buyerReference,
    now,
    pricing,
  };
  return choosePromotionsAndPriceCart(facts, {
    automatic,
    code: draft.promotionCodeId === null ? null : (code ?? null),
  });
}

function toStoredLine(
  line: CartLineWithCurrentPrice,
  priced: PricedCart["lines"][number] | undefined,
  position: number,
): StoredCartLine {
  if (priced === undefined) throw new Error(`Line ${line.id} was not priced.`);
  const { categoryIds: _categories, isAvailable: _available, taxClass: _class, ...stored } = line;
  const { allocations: _allocations, ...amounts } = priced;
  return { ...stored, ...amounts, position };
}

function toStoredPromotions({ automatic, code, priced }: ChosenPromotions): StoredCartPromotion[] {
  const discountOf = (promotionId: string): Pick<StoredCartPromotion, "discountMinor" | "allocations"> =>
    priced.discounts.find((discount) => discount.promotionId === promotionId) ?? {
      discountMinor: 0,
      allocations: [],
    };
  const stored: StoredCartPromotion[] = automatic.map((rule) => {
    const { discountMinor, allocations } = discountOf(rule.id);
    return {
      promotionId: rule.id,
      trigger: "automatic",
      promotionCodeId: null,
      state: "applied",
      suspendedReason: null,
      discountMinor,
      allocations,
    };
  });
  if (code === null || isPermanent(code.refusal)) return stored;
  const { discountMinor, allocations } =
    code.refusal === null ? discountOf(code.rule.id) : { discountMinor: 0, allocations: [] };
  return [
    ...stored,
    {
      promotionId: code.rule.id,
      trigger: "code",
      promotionCodeId: code.rule.code?.id ?? null,
      state: code.refusal === null ? "applied" : "suspended",
      suspendedReason: code.refusal?.reason ?? null,
      discountMinor,
      allocations,
    },
  ];
}

function marketWarnings(
  draft: UnpricedCartDraft,
  before: CartAggregate | undefined,
  market: CartPricingMarket,
): readonly StoredCartWarning[] {
  if (before === undefined) return [];
  return [
    ...(before.country === draft.country
      ? []
      : [createCartWarning("market_changed", null, { before: before.country, now: draft.country })]),
    ...(before.currency === market.currency
      ? []
      : [createCartWarning("currency_changed", null, { before: before.currency, now: market.currency })]),
  ];
}
