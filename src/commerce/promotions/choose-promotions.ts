/**
 * Chooses the promotions of a cart: the automatic ones whose conditions it meets, then its code, or the
 * reason why the code is refused. A rule with a broken condition is never applied, and a refused one is never
 * counted. Also how codes are compared, and which lines of an order a promotion was given for. Pure.
 */
import {
  priceCart,
  type PricedCart,
  type PricingInput,
  type PricingLine,
} from "#commerce/pricing/price-cart.ts";
import {
  createBoughtCheck,
  type EntitledLine,
  createEntitlementCheck,
  countMissingUnits,
  multiplyMinor,
  totalQuantity,
  sumMinor,
} from "#commerce/pricing/discounts.ts";
import type { PromotionRule, PromotionRefusalReason } from "./promotion-rule.ts";

export interface PromotionCartFacts {
  readonly marketId: string;
  readonly currency: string;
  readonly buyerReference: string | null;
  readonly now: Date;
  readonly pricing: Omit<PricingInput, "discounts">;
}

export interface PromotionRefusal {
  readonly reason: PromotionRefusalReason;
  /** What a minimum asks, and how far the cart is from it. */
  readonly data: {
    readonly requiredAmountMinor?: number;
    readonly missingAmountMinor?: number;
    readonly requiredQuantity?: number;
    readonly missingQuantity?: number;
  };
}

export interface PromotionChoice {
  /** Those that take something off, in order of application. */
  readonly automatic: readonly PromotionRule[];
  /** Applied after them where its refusal is null, even while it takes nothing off. */
  readonly code: { readonly rule: PromotionRule; readonly refusal: PromotionRefusal | null } | null;
  readonly priced: PricedCart;
}

export interface CandidatePromotions {
  readonly automatic: readonly PromotionRule[];
  readonly code: PromotionRule | null;
}

export function choosePromotions(facts: PromotionCartFacts, offered: CandidatePromotions): PromotionChoice {
  const automatic = chooseAutomatic(facts, offered.automatic);
  if (offered.code === null) return toPromotionChoice(facts, automatic, null);
  const rule = offered.code;
  const refusal = findRefusal(rule, facts);
  if (refusal !== null) return toPromotionChoice(facts, automatic, { rule, refusal });
  const rivalry = resolveCombination(rule, automatic, facts);
  if (rivalry === "together") return toPromotionChoice(facts, automatic, { rule, refusal: null });
  if (rivalry === "code_alone") return toPromotionChoice(facts, [], { rule, refusal: null });
  return toPromotionChoice(facts, automatic, { rule, refusal: { reason: rivalry, data: {} } });
}

function toPromotionChoice(
  facts: PromotionCartFacts,
  automatic: readonly PromotionRule[],
  code: PromotionChoice["code"],
): PromotionChoice {
  return {
    automatic,
    code,
    priced: priceWith(facts, code?.refusal === null ? [...automatic, code.rule] : automatic),
  };
}

/** An exclusive one takes part only as the first that takes something off, and then alone. */
function chooseAutomatic(
  facts: PromotionCartFacts,
  offered: readonly PromotionRule[],
): readonly PromotionRule[] {
  const eligible = offered.filter((rule) => findRefusal(rule, facts) === null).toSorted(byPrecedence);
  const first = eligible.find((rule) => priceWith(facts, [rule]).discountMinor > 0);
  if (first === undefined) return [];
  if (first.isExclusive) return [first];
  const combining = eligible.filter((rule) => !rule.isExclusive);
  const { discounts } = priceWith(facts, combining);
  return combining.filter((_, turn) => (discounts[turn]?.discountMinor ?? 0) > 0);
}

function byPrecedence(a: PromotionRule, b: PromotionRule): number {
  return b.priority - a.priority || (a.id < b.id ? -1 : 1);
}

/** How a code that would apply by itself stands to the automatic ones that were taken. */
function resolveCombination(
  code: PromotionRule,
  automatic: readonly PromotionRule[],
  facts: PromotionCartFacts,
): "together" | "code_alone" | "superseded_by_better_deal" | "combination_disallowed" {
  const [first] = automatic;
  if (first === undefined) return "together";
  if (code.isExclusive) {
    const isBetter = priceWith(facts, [code]).discountMinor >= priceWith(facts, automatic).discountMinor;
    return isBetter ? "code_alone" : "superseded_by_better_deal";
  }
  if (!first.isExclusive) return "together";
  return code.priority > first.priority ? "code_alone" : "combination_disallowed";
}

function priceWith(facts: PromotionCartFacts, rules: readonly PromotionRule[]): PricedCart {
  return priceCart({ ...facts.pricing, discounts: rules.map(({ discount }) => discount) });
}

type Condition = (rule: PromotionRule, facts: PromotionCartFacts) => PromotionRefusal | null;

const refuseIf = (
  isBroken: (rule: PromotionRule, facts: PromotionCartFacts) => boolean,
  reason: PromotionRefusalReason,
): Condition => {
  return (rule, facts) => (isBroken(rule, facts) ? { reason, data: {} } : null);
};

/**
 * The first that is broken is the reason. What has ended is over, whatever else is wrong: no waiting brings
 * it back, as it may for a pause.
 */
const conditions: readonly Condition[] = [
  refuseIf(
    (rule, { now }) => rule.status === "ended" || (rule.endsAt !== null && rule.endsAt <= now),
    "ended",
  ),
  refuseIf((rule) => rule.status === "paused", "paused"),
  refuseIf(
    (rule, { now }) => rule.status === "draft" || (rule.startsAt !== null && rule.startsAt > now),
    "not_started",
  ),
  refuseIf(
    (rule, { marketId }) => rule.marketIds.length > 0 && !rule.marketIds.includes(marketId),
    "market_not_eligible",
  ),
  refuseIf((rule, { currency }) => rule.currency !== null && rule.currency !== currency, "currency_mismatch"),
  refuseIf((rule) => isUsedUp(rule) || (rule.code !== null && isUsedUp(rule.code)), "usage_limit_reached"),
  refuseIf((rule, { buyerReference }) => buyerReference === null && needsBuyer(rule), "sign_in_required"),
  refuseIf((rule) => !rule.isForThisBuyer, "customer_not_eligible"),
  refuseIf(
    (rule) => rule.perBuyerLimit !== null && rule.usedByBuyer >= rule.perBuyerLimit,
    "customer_usage_limit_reached",
  ),
  refuseIf((rule, facts) => entitledLinesOf(rule, facts).length === 0, "no_entitled_lines"),
  requireMinimumSubtotal,
  requireMinimumQuantity,
];

function findRefusal(rule: PromotionRule, facts: PromotionCartFacts): PromotionRefusal | null {
  for (const condition of conditions) {
    const refusal = condition(rule, facts);
    if (refusal !== null) return refusal;
  }
  return null;
}

function isUsedUp({
  used,
  usageLimit,
}: {
  readonly used: number;
  readonly usageLimit: number | null;
}): boolean {
  return usageLimit !== null && used >= usageLimit;
}

function needsBuyer(rule: PromotionRule): boolean {
  return rule.requiresSignIn || rule.perBuyerLimit !== null || rule.isForSomeBuyers;
}

function entitledLinesOf(rule: PromotionRule, { pricing }: PromotionCartFacts): PricingLine[] {
  return pricing.lines.filter(createEntitlementCheck(rule.discount.entitled));
}

/** Before discounts: one promotion must not take away what another was promised for. */
function requireMinimumSubtotal(rule: PromotionRule, facts: PromotionCartFacts): PromotionRefusal | null {
  const requiredAmountMinor = rule.minimumSubtotalMinor ?? 0;
  const subtotals = entitledLinesOf(rule, facts).map(({ unitPriceMinor, quantity }) =>
    multiplyMinor(unitPriceMinor, quantity),
  );
  const missingAmountMinor = requiredAmountMinor - sumMinor(subtotals);
  return missingAmountMinor > 0
    ? { reason: "minimum_subtotal_not_met", data: { requiredAmountMinor, missingAmountMinor } }
    : null;
}

/**
 * Of entitled units; "buy X, get Y" asks besides for what one application needs. Told is what is missing for
 * both.
 */
function requireMinimumQuantity(rule: PromotionRule, facts: PromotionCartFacts): PromotionRefusal | null {
  const minimum = rule.minimumQuantity ?? 0;
  const asked = [
    { requiredQuantity: minimum, missingQuantity: minimum - totalQuantity(entitledLinesOf(rule, facts)) },
  ];
  if (rule.discount.kind === "buy_x_get_y") {
    const { buyQuantity, getQuantity } = rule.discount;
    asked.push({
      requiredQuantity: buyQuantity + getQuantity,
      missingQuantity: countMissingUnits(rule.discount, facts.pricing.lines),
    });
  }
  const data = asked.reduce((most, other) => (other.missingQuantity > most.missingQuantity ? other : most));
  return data.missingQuantity > 0 ? { reason: "minimum_quantity_not_met", data } : null;
}

/**
 * Codes are compared as people read them: without case, without the compatibility forms of Unicode, without
 * space around.
 */
export const promotionCodeLengthMax = 64;
const codePattern = /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u;

/** What a code is found by; undefined when the text cannot be one. */
export function normalizePromotionCode(text: string): string | undefined {
  // Upper case first: some letters fold only that way (ß and SS are one).
  const normalized = text.trim().normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  return normalized.length > 0 &&
    Array.from(normalized).length <= promotionCodeLengthMax &&
    codePattern.test(normalized)
    ? normalized
    : undefined;
}

interface ConditionLine extends EntitledLine {
  readonly id: string;
}

export interface PromotionConditions {
  /** What had to be bought for what it gives; empty: nothing. */
  readonly boughtLineIds: readonly string[];
  /** What the cart had to have of its entitled lines; null: it asks for no minimum. */
  readonly minimum: {
    readonly lineIds: readonly string[];
    readonly subtotalMinor: number | null;
    readonly quantity: number | null;
  } | null;
}

/** The lines that a promotion was given for; an order keeps them for later cancellations and returns. */
export function promotionConditionsOfLines(
  rule: PromotionRule,
  lines: readonly ConditionLine[],
): PromotionConditions {
  const { discount, minimumSubtotalMinor: subtotalMinor, minimumQuantity: quantity } = rule;
  const entitled = lines.filter(createEntitlementCheck(discount.entitled)).map(({ id }) => id);
  const minimum =
    subtotalMinor === null && quantity === null ? null : { lineIds: entitled, subtotalMinor, quantity };
  if (discount.kind === "buy_x_get_y")
    return { boughtLineIds: lines.filter(createBoughtCheck(discount)).map(({ id }) => id), minimum };
  return { boughtLineIds: discount.kind === "gift" && minimum !== null ? entitled : [], minimum };
}
