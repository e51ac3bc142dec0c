/**
 * A cart and what there is for sale become the cart as it is stored: every amount, promotion, delivery option
 * and warning of it. Pure: every change of a cart goes through here, so that it is never half re-priced.
 */
import { priceCart, type PricedCart } from "#commerce/pricing/price-cart.ts";
import { type Choice, choosePromotions, type Refusal } from "#commerce/promotions/choose-promotions.ts";
import { chooseLocale } from "#foundation/text.ts";
import {
  type CartAggregate,
  codeOf,
  type StoredAddress,
  type StoredLine,
  type StoredOption,
  type StoredPromotion,
  type StoredWarning,
  warning,
} from "./cart-aggregate.ts";
import { addressLifeMs, type CartDraft, type NextCart, settingsOf } from "./cart-draft.ts";
import type { Offer, OfferedMarket } from "./offer.ts";
import { type OfferedLine, offerLines } from "./price-lines.ts";

export interface Repriced {
  readonly next: NextCart;
  /** Why its code does not apply now; null where it has none, or it does. */
  readonly refusal: Refusal | null;
}

export interface Basis {
  readonly draft: CartDraft;
  /** Undefined: it is new. */
  readonly before: CartAggregate | undefined;
  readonly offer: Offer;
  readonly now: Date;
  /** A checkout under way keeps its address, however long it takes. */
  readonly isHeld?: boolean;
}

export function reprice({ draft, before, offer, now, isHeld = false }: Basis): Repriced {
  const { market } = offer;
  const isMarketNew = before !== undefined && before.marketId !== market.id;
  const offered = offerLines(draft, offer, { isMarketNew });
  const address = addressAt(draft.address, market, { now, isHeld });
  const options = address === null ? null : optionsFor(offered.lines, draft, offer);
  const chosen = options?.find(({ id }) => id === draft.deliveryMethodId);
  const choice = choose(draft, offer, {
    now,
    lines: offered.lines,
    shippingMinor: shippingOf(offered.lines, { address, chosen }),
    address,
  });
  const { lines: pricedLines, discounts: _discounts, ...sums } = choice.priced;
  const refusal = choice.code?.refusal ?? null;
  const next: NextCart = {
    ...settingsOf(draft),
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
      ...(draft.address !== null && address === null
        ? [warning("address_expired", null, {})]
        : keptExpiry(before, address)),
      ...offered.warnings,
      ...(refusal === null ? [] : [refusalWarning(refusal, before)]),
    ],
  };
  return { next, refusal };
}

/** What does not come back by itself leaves the cart; anything else stays suspended. */
const overForGood: ReadonlySet<Refusal["reason"]> = new Set([
  "ended",
  "usage_limit_reached",
  "customer_usage_limit_reached",
]);

const isOver = (refusal: Refusal | null): boolean => refusal !== null && overForGood.has(refusal.reason);

function refusalWarning(refusal: Refusal, before: CartAggregate | undefined): StoredWarning {
  const { reason } = refusal;
  if (!isOver(refusal)) return warning("promotion_suspended", null, { reason });
  const code = before === undefined ? undefined : codeOf(before)?.code;
  return warning("promotion_removed", null, { code: code ?? null, reason });
}

/** That an address ended is told until there is another. */
function keptExpiry(
  before: CartAggregate | undefined,
  address: StoredAddress | null,
): readonly StoredWarning[] {
  if (address !== null || before === undefined) return [];
  return before.warnings.filter(({ code }) => code === "address_expired");
}

/** Its life begins anew with each change, up to its latest end. One outside of the market is of no use. */
function addressAt(
  address: StoredAddress | null,
  market: OfferedMarket,
  { now, isHeld }: { readonly now: Date; readonly isHeld: boolean },
): StoredAddress | null {
  if (address === null || !market.countries.includes(address.masked.countryCode)) return null;
  if (!isHeld && new Date(address.expiresAt) <= now) return null;
  const expiresAt = new Date(Math.min(now.getTime() + addressLifeMs, Date.parse(address.expiresAtMax)));
  return { ...address, expiresAt: expiresAt.toISOString() };
}

const needShipping = (lines: readonly OfferedLine[]): boolean =>
  lines.some(({ requiresShipping }) => requiresShipping);

/** What need not be shipped is not offered a way to. */
function optionsFor(
  lines: readonly OfferedLine[],
  draft: CartDraft,
  { market, merchantLocale }: Offer,
): StoredOption[] {
  if (lines.length > 0 && !needShipping(lines)) return [];
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
          chooseLocale(Object.keys(names), [draft.locale], [market.defaultLocale, merchantLocale]) ?? ""
        ] ?? "",
      carrier,
      priceMinor: freeFromMinor !== null && subtotalMinor >= freeFromMinor ? 0 : priceMinor,
      minDays,
      maxDays,
      pickup,
    }),
  );
}

/** Null while it is not known; nothing where nothing is shipped. */
function shippingOf(
  lines: readonly OfferedLine[],
  { address, chosen }: { readonly address: StoredAddress | null; readonly chosen: StoredOption | undefined },
): number | null {
  if (address === null || lines.length === 0) return null;
  return needShipping(lines) ? (chosen?.priceMinor ?? null) : 0;
}

interface Chosen {
  readonly now: Date;
  readonly lines: readonly OfferedLine[];
  readonly shippingMinor: number | null;
  readonly address: StoredAddress | null;
}

function choose(
  draft: CartDraft,
  { market, automatic, code }: Offer,
  { now, lines, shippingMinor, address }: Chosen,
): Choice {
  const pricing = {
    taxIncluded: market.taxIncluded,
    lines,
    shippingMinor,
    tax: address === null ? null : taxOf(market, address),
  };
  const facts = {
    marketId: market.id,
    currency: market.currency,
    buyerReference: draft.buyerReference,
    now,
    pricing,
  };
  return choosePromotions(facts, { automatic, code: draft.promotionCodeId === null ? null : (code ?? null) });
}

/** The region's own rate, else the country's, else none. */
function taxOf(
  { taxes }: OfferedMarket,
  { masked }: StoredAddress,
): { basisPoints: number; appliesToShipping: boolean } {
  const inCountry = taxes.filter(({ country }) => country === masked.countryCode);
  const rate =
    inCountry.find(({ regionCode }) => regionCode !== null && regionCode === masked.regionCode) ??
    inCountry.find(({ regionCode }) => regionCode === null);
  return rate ?? { basisPoints: 0, appliesToShipping: false };
}

function toStoredLine(
  line: OfferedLine,
  priced: PricedCart["lines"][number] | undefined,
  position: number,
): StoredLine {
  if (priced === undefined) throw new Error(`Line ${line.id} was not priced.`);
  const { categoryIds: _categories, isAvailable: _available, ...stored } = line;
  const { allocations: _allocations, ...amounts } = priced;
  return { ...stored, ...amounts, position };
}

function toStoredPromotions({ automatic, code, priced }: Choice): StoredPromotion[] {
  const taken = (promotionId: string): Pick<StoredPromotion, "discountMinor" | "allocations"> =>
    priced.discounts.find((discount) => discount.promotionId === promotionId) ?? {
      discountMinor: 0,
      allocations: [],
    };
  const stored: StoredPromotion[] = automatic.map((rule) => {
    const { discountMinor, allocations } = taken(rule.id);
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
  if (code === null || isOver(code.refusal)) return stored;
  const { discountMinor, allocations } =
    code.refusal === null ? taken(code.rule.id) : { discountMinor: 0, allocations: [] };
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
  draft: CartDraft,
  before: CartAggregate | undefined,
  market: OfferedMarket,
): readonly StoredWarning[] {
  if (before === undefined) return [];
  return [
    ...(before.country === draft.country
      ? []
      : [warning("market_changed", null, { before: before.country, now: draft.country })]),
    ...(before.currency === market.currency
      ? []
      : [warning("currency_changed", null, { before: before.currency, now: market.currency })]),
  ];
}
