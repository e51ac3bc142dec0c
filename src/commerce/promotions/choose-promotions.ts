/**
 * Chooses the promotions of a cart. First come the automatic promotions whose conditions the cart fulfils,
 * then the promotion of the cart's code, or the reason why the code is refused. Also normalizes promotion
 * codes, and finds the lines that fulfilled the conditions of a promotion. All functions are pure.
 */
import {
  priceCart,
  type PricedCart,
  type PriceCartInput,
  type CartLineToPrice,
} from "#commerce/pricing/price-cart.ts";
import {
  createBuyXGetYBoughtLinePredicate,
  type DiscountableCartLine,
  createPromotedCartLinePredicate,
  countUnitsMissingForBuyXGetY,
  multiplyMinorUnits,
  sumLineQuantities,
  sumMinorUnits,
} from "#commerce/pricing/discounts.ts";
import type { PromotionRule, PromotionRefusalReason } from "./promotion-rule.ts";

/** The data of a cart that decides which promotions apply to the cart. */
export interface CartDataForPromotionChoice {
  readonly marketId: string;
  readonly currency: string;
  readonly buyerReference: string | null;
  readonly now: Date;
  readonly pricing: Omit<PriceCartInput, "discounts">;
}

/** The reason why a promotion does not apply to a cart. */
export interface PromotionRefusal {
  readonly reason: PromotionRefusalReason;
  /**
   * The minimum that the promotion requires, and how much is missing in the cart; amounts in minor units.
   * Empty if the reason is not a minimum.
   */
  readonly data: {
    readonly requiredAmountMinor?: number;
    readonly missingAmountMinor?: number;
    readonly requiredQuantity?: number;
    readonly missingQuantity?: number;
  };
}

/** The promotions that were chosen for a cart, and the prices of the cart with these promotions. */
export interface ChosenPromotions {
  /** The automatic promotions that reduce the price, in the order in which they are applied. */
  readonly automatic: readonly PromotionRule[];
  /**
   * The promotion of the cart's code, and the reason (`refusal`) why it does not apply. If `refusal` is null,
   * the promotion applies after the automatic promotions, even if it deducts nothing.
   */
  readonly code: { readonly rule: PromotionRule; readonly refusal: PromotionRefusal | null } | null;
  readonly priced: PricedCart;
}

/**
 * The promotions among which the cart's promotions are chosen: the automatic promotions of the market, and
 * the promotion of the cart's code.
 */
export interface CandidatePromotions {
  readonly automatic: readonly PromotionRule[];
  readonly code: PromotionRule | null;
}

/** Chooses the promotions of a cart, and calculates the prices of the cart with these promotions. */
export function choosePromotionsAndPriceCart(
  facts: CartDataForPromotionChoice,
  offered: CandidatePromotions,
): ChosenPromotions {
  const automatic = chooseAutomatic(facts, offered.automatic);
  if (offered.code === null) return toPromotionChoice(facts, automatic, null);
  const rule = offered.code;
  const refusal = findRefusal(rule, facts);
  if (refusal !== null) return toPromotionChoice(facts, automatic, { rule, refusal });
  const rivalry = resolveCombination(rule, automatic, facts);
  if (rivalry === "combined") return toPromotionChoice(facts, automatic, { rule, refusal: null });
  if (rivalry === "code_alone") return toPromotionChoice(facts, [], { rule, refusal: null });
  return toPromotionChoice(facts, automatic, { rule, refusal: { reason: rivalry, data: {} } });
}

function toPromotionChoice(
  facts: CartDataForPromotionChoice,
  automatic: readonly PromotionRule[],
  code: ChosenPromotions["code"],
): ChosenPromotions {
  return {
    automatic,
    code,
    priced: priceWith(facts, code?.refusal === null ? [...automatic, code.rule] : automatic),
  };
}

/**
 * Chooses the automatic promotions, by priority. If the first promotion that reduces the price is exclusive,
 * only this promotion applies. Otherwise, all promotions apply except exclusive ones.
 */
function chooseAutomatic(
  facts: CartDataForPromotionChoice,
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

/**
 * Decides what happens if automatic promotions and the promotion of the cart's code could apply together.
 * Either all of them apply, or only the code's promotion applies, or the code is refused.
 */
function resolveCombination(
  code: PromotionRule,
  automatic: readonly PromotionRule[],
  facts: CartDataForPromotionChoice,
): "combined" | "code_alone" | "superseded_by_better_deal" | "combination_disallowed" {
  const [first] = automatic;
  if (first === undefined) return "combined";
  if (code.isExclusive) {
    const isBetter = priceWith(facts, [code]).discountMinor >= priceWith(facts, automatic).discountMinor;
    return isBetter ? "code_alone" : "superseded_by_better_deal";
  }
  if (!first.isExclusive) return "combined";
  return code.priority > first.priority ? "code_alone" : "combination_disallowed";
}

function priceWith(facts: CartDataForPromotionChoice, rules: readonly PromotionRule[]): PricedCart {
  return priceCart({ ...facts.pricing, discounts: rules.map(({ discount }) => discount) });
}

type Condition = (rule: PromotionRule, facts: CartDataForPromotionChoice) => PromotionRefusal | null;

const refuseIf = (
  isBroken: (rule: PromotionRule, facts: CartDataForPromotionChoice) => boolean,
  reason: PromotionRefusalReason,
): Condition => {
  return (rule, facts) => (isBroken(rule, facts) ? { reason, data: {} } : null);
};

/**
 * The conditions under which a promotion applies, in the order in which they are checked. The first condition
 * that is not fulfilled is the reason for the refusal. "ended" is checked before "paused", because an ended
 * promotion never applies again, but a paused promotion may.
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

function findRefusal(rule: PromotionRule, facts: CartDataForPromotionChoice): PromotionRefusal | null {
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

function entitledLinesOf(rule: PromotionRule, { pricing }: CartDataForPromotionChoice): CartLineToPrice[] {
  return pricing.lines.filter(createPromotedCartLinePredicate(rule.discount.entitled));
}

/**
 * Checks that the lines to which the promotion applies reach the promotion's minimum subtotal. The subtotal
 * is calculated before discounts, so that one promotion cannot make another promotion miss its minimum.
 */
function requireMinimumSubtotal(
  rule: PromotionRule,
  facts: CartDataForPromotionChoice,
): PromotionRefusal | null {
  const requiredAmountMinor = rule.minimumSubtotalMinor ?? 0;
  const subtotals = entitledLinesOf(rule, facts).map(({ unitPriceMinor, quantity }) =>
    multiplyMinorUnits(unitPriceMinor, quantity),
  );
  const missingAmountMinor = requiredAmountMinor - sumMinorUnits(subtotals);
  return missingAmountMinor > 0
    ? { reason: "minimum_subtotal_not_met", data: { requiredAmountMinor, missingAmountMinor } }
    : null;
}

/**
 * Checks the minimum number of units to which the promotion applies, and the number of units that a "buy X,
 * get Y" promotion needs to apply once. If the cart misses both, reports the check for which more units are
 * missing.
 */
function requireMinimumQuantity(
  rule: PromotionRule,
  facts: CartDataForPromotionChoice,
): PromotionRefusal | null {
  const minimum = rule.minimumQuantity ?? 0;
  const asked = [
    { requiredQuantity: minimum, missingQuantity: minimum - sumLineQuantities(entitledLinesOf(rule, facts)) },
  ];
  if (rule.discount.kind === "buy_x_get_y") {
    const { buyQuantity, getQuantity } = rule.discount;
    asked.push({
      requiredQuantity: buyQuantity + getQuantity,
      missingQuantity: countUnitsMissingForBuyXGetY(rule.discount, facts.pricing.lines),
    });
  }
  const data = asked.reduce((most, other) => (other.missingQuantity > most.missingQuantity ? other : most));
  return data.missingQuantity > 0 ? { reason: "minimum_quantity_not_met", data } : null;
}

/**
 * Maximum length of a promotion code, in characters. Two codes count as equal if they differ only in case, in
 * Unicode compatibility forms, or in spaces at their ends.
 */
export const promotionCodeLengthMax = 64;
const codePattern = /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u;

/**
 * Returns the normalized form of a promotion code, by which codes are compared; undefined if the text cannot
 * be a code.
 */
export function normalizePromotionCode(text: string): string | undefined {
  // The code is converted to upper case first, because some spellings become equal only in upper case, for
  // example ß and SS.
  const normalized = text.trim().normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  return normalized.length > 0 &&
    Array.from(normalized).length <= promotionCodeLengthMax &&
    codePattern.test(normalized)
    ? normalized
    : undefined;
}

interface ConditionLine extends DiscountableCartLine {
  readonly id: string;
}

/** The order lines that fulfilled the conditions of a promotion; stored with the order. */
export interface LinesMeetingPromotionConditions {
  /**
   * Ids of the lines that the buyer had to buy so that the promotion applies; empty if the promotion has no
   * such condition.
   */
  readonly boughtLineIds: readonly string[];
  /**
   * The minimum subtotal or quantity that the lines to which the promotion applies had to reach together;
   * null if there is no minimum.
   */
  readonly minimum: {
    readonly lineIds: readonly string[];
    readonly subtotalMinor: number | null;
    readonly quantity: number | null;
  } | null;
}

/**
 * Returns the lines that fulfilled the conditions of a promotion. The order stores these lines, because later
 * cancellations and returns depend on them.
 */
export function findLinesMeetingPromotionConditions(
  rule: PromotionRule,
  lines: readonly ConditionLine[],
): LinesMeetingPromotionConditions {
  const { discount, minimumSubtotalMinor: subtotalMinor, minimumQuantity: quantity } = rule;
  const entitled = lines.filter(createPromotedCartLinePredicate(discount.entitled)).map(({ id }) => id);
  const minimum =
    subtotalMinor === null && quantity === null ? null : { lineIds: entitled, subtotalMinor, quantity };
  if (discount.kind === "buy_x_get_y")
    return {
      boughtLineIds: lines.filter(createBuyXGetYBoughtLinePredicate(discount)).map(({ id }) => id),
      minimum,
    };
  return { boughtLineIds: discount.kind === "gift" && minimum !== null ? entitled : [], minimum };
}
