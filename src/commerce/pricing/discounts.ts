/**
 * Calculates the discounts of promotions: the cart lines to which a rule applies, how often "buy X, get Y"
 * applies, and the amounts deducted from lines and shipping. Rules are applied one after the other. A rule
 * deducts at most the amounts that remain after the earlier rules.
 */
import { amountMinorMax } from "#foundation/money.ts";

/**
 * "Buy X, get Y": for every X bought units, Y entitled units get cheaper. The rule applies repeatedly, and no
 * unit counts twice.
 */
export interface BuyXGetYTerms {
  readonly kind: "buy_x_get_y";
  readonly buyQuantity: number;
  readonly getQuantity: number;
  /** Discount on each of the Y units in basis points. The cheapest units are discounted. */
  readonly basisPoints: number;
  /**
   * Products and categories whose units count as bought (X). If both lists are empty, the products to which
   * the discount applies also count as bought.
   */
  readonly buy: PromotionEntitlement;
}

/** A promotion's discount rule; `id` is the promotion's ID. */
export type DiscountRule = { readonly id: string; readonly entitled: PromotionEntitlement } & (
  | { readonly kind: "percentage"; readonly basisPoints: number }
  /** An amount in minor units, split over all entitled lines. */
  | { readonly kind: "fixed_amount"; readonly amountMinor: number }
  | { readonly kind: "free_shipping" }
  | BuyXGetYTerms
  /** The cheapest entitled units, as many as `getQuantity`, are free. */
  | { readonly kind: "gift"; readonly getQuantity: number }
);

/** Products and categories that a promotion applies to. */
export interface PromotionEntitlement {
  /**
   * Ids of the products to which the promotion applies. If this list and `categoryIds` are both empty, the
   * promotion applies to all products.
   */
  readonly productIds: readonly string[];
  readonly categoryIds: readonly string[];
}

export interface DiscountableLine {
  readonly productId: string;
  /** Ids of the product's categories and of all their parent categories. */
  readonly categoryIds: readonly string[];
  readonly quantity: number;
}

/**
 * Returns a function that decides whether the promotion applies to a cart line. The function keeps the
 * product and category IDs in sets, because it checks many lines.
 */
export function createEntitledLinePredicate({
  productIds,
  categoryIds,
}: PromotionEntitlement): (line: DiscountableLine) => boolean {
  if (productIds.length === 0 && categoryIds.length === 0) return () => true;
  const products = new Set(productIds);
  const categories = new Set(categoryIds);
  return (line) => products.has(line.productId) || line.categoryIds.some((id) => categories.has(id));
}

export function sumLineQuantities(lines: readonly DiscountableLine[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/**
 * A "buy X, get Y" rule with the products that it discounts. In one application of the rule, a unit counts
 * either as bought (X) or as discounted (Y), never as both.
 */
export type BuyXGetYRule = BuyXGetYTerms & { readonly entitled: PromotionEntitlement };

interface UnitCounts {
  readonly entitled: number;
  readonly bought: number;
  /**
   * Number of units that the rule can use at all: as bought units, as discounted units or as either. Each
   * unit counts once.
   */
  readonly either: number;
}

/** Returns a function that decides whether a line counts as bought (X). */
export function createBoughtLinePredicate(rule: BuyXGetYRule): (line: DiscountableLine) => boolean {
  const { productIds, categoryIds } = rule.buy;
  return createEntitledLinePredicate(
    productIds.length === 0 && categoryIds.length === 0 ? rule.entitled : rule.buy,
  );
}

/**
 * Returns how many times a "buy X, get Y" rule applies to the cart lines. Some units could count as bought
 * (X) or as discounted (Y); each such unit counts only once.
 */
export function countRuleApplications(rule: BuyXGetYRule, lines: readonly DiscountableLine[]): number {
  const { entitled, bought, either } = countedUnitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.floor(
    Math.min(entitled / getQuantity, bought / buyQuantity, either / (buyQuantity + getQuantity)),
  );
}

/**
 * Returns the minimum number of units that must be added to the cart before a "buy X, get Y" rule applies
 * once. Returns 0 if the rule already applies.
 */
export function countMissingUnits(rule: BuyXGetYRule, lines: readonly DiscountableLine[]): number {
  const { entitled, bought, either } = countedUnitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.max(0, getQuantity - entitled, buyQuantity - bought, buyQuantity + getQuantity - either);
}

function countedUnitsOf(rule: BuyXGetYRule, lines: readonly DiscountableLine[]): UnitCounts {
  const isEntitled = createEntitledLinePredicate(rule.entitled);
  const isBought = createBoughtLinePredicate(rule);
  return {
    entitled: sumLineQuantities(lines.filter(isEntitled)),
    bought: sumLineQuantities(lines.filter(isBought)),
    either: sumLineQuantities(lines.filter((line) => isEntitled(line) || isBought(line))),
  };
}

const wholeBasisPoints = 10_000;

export interface RemainingCartAmounts {
  readonly lines: readonly DiscountableLine[];
  /**
   * Amount of each cart line, in minor units, that remains after the earlier discounts; in the order of
   * `lines`.
   */
  readonly linesMinor: readonly number[];
  /**
   * Shipping price in minor units that remains after the earlier discounts; 0 while the shipping price is
   * unknown.
   */
  readonly shippingMinor: number;
}

export interface DiscountAmounts {
  /** Amount that is deducted from each line, in minor units and in the order of the cart's lines. */
  readonly linesMinor: readonly number[];
  readonly shippingMinor: number;
}

export function applyDiscountRule(rule: DiscountRule, cart: RemainingCartAmounts): DiscountAmounts {
  return rule.kind === "free_shipping"
    ? { linesMinor: cart.lines.map(() => 0), shippingMinor: cart.shippingMinor }
    : { linesMinor: discountLines(rule, cart), shippingMinor: 0 };
}

function discountLines(
  rule: Exclude<DiscountRule, { readonly kind: "free_shipping" }>,
  cart: RemainingCartAmounts,
): readonly number[] {
  if (rule.kind === "buy_x_get_y") return discountGetUnits(rule, cart);
  const isEntitled = createEntitledLinePredicate(rule.entitled);
  if (rule.kind === "gift") {
    return discountUnits(unitsOf(cart, isEntitled), {
      lineCount: cart.lines.length,
      quantity: rule.getQuantity,
      basisPoints: wholeBasisPoints,
    });
  }
  const entitledMinor = cart.lines.map((line, position) =>
    isEntitled(line) ? (cart.linesMinor[position] ?? 0) : 0,
  );
  if (rule.kind === "percentage")
    return entitledMinor.map((leftMinor) =>
      multiplyDivideHalfEven(leftMinor, rule.basisPoints, wholeBasisPoints),
    );
  return allocateByWeight(Math.min(rule.amountMinor, sumMinorUnits(entitledMinor)), entitledMinor);
}

function discountGetUnits(rule: BuyXGetYRule, cart: RemainingCartAmounts): readonly number[] {
  const applications = countRuleApplications(rule, cart.lines);
  const isBought = createBoughtLinePredicate(rule);
  // The bought units (X) must keep their full price. Of the units that could be bought or discounted, only
  // those beyond the required number of bought units may be discounted.
  let spare = sumLineQuantities(cart.lines.filter(isBought)) - applications * rule.buyQuantity;
  const offered: UnitGroup[] = [];
  for (const group of unitsOf(cart, createEntitledLinePredicate(rule.entitled))) {
    const isShared = isBought(group.line);
    const count = isShared ? Math.min(group.count, spare) : group.count;
    if (isShared) spare -= count;
    offered.push({ ...group, count });
  }
  return discountUnits(offered, {
    lineCount: cart.lines.length,
    quantity: applications * rule.getQuantity,
    basisPoints: rule.basisPoints,
  });
}

/** Units of one cart line that have the same remaining price. */
interface UnitGroup {
  readonly line: DiscountableLine;
  readonly position: number;
  readonly unitMinor: number;
  readonly count: number;
}

/**
 * Returns the units of the lines that `isWanted` accepts, the cheapest first; among units of the same price,
 * those of earlier lines come first. The remaining amount of a line is spread over its units as evenly as
 * possible: the amounts of two units differ by at most one minor unit.
 */
function unitsOf(
  { lines, linesMinor }: RemainingCartAmounts,
  isWanted: (line: DiscountableLine) => boolean,
): UnitGroup[] {
  const groups: UnitGroup[] = [];
  for (const [position, line] of lines.entries()) {
    if (!isWanted(line) || line.quantity === 0) continue;
    const leftMinor = linesMinor[position] ?? 0;
    const dearer = leftMinor % line.quantity;
    const unitMinor = (leftMinor - dearer) / line.quantity;
    groups.push({ line, position, unitMinor, count: line.quantity - dearer });
    if (dearer > 0) groups.push({ line, position, unitMinor: unitMinor + 1, count: dearer });
  }
  return groups.toSorted((a, b) => a.unitMinor - b.unitMinor || a.position - b.position);
}

/**
 * Deducts a percentage from the cheapest units. The deduction is rounded per unit, so that units of equal
 * price get equal discounts.
 */
function discountUnits(
  cheapestFirst: readonly UnitGroup[],
  {
    lineCount,
    quantity,
    basisPoints,
  }: { readonly lineCount: number; readonly quantity: number; readonly basisPoints: number },
): readonly number[] {
  const linesMinor = Array.from({ length: lineCount }, () => 0);
  let open = quantity;
  for (const { position, unitMinor, count } of cheapestFirst) {
    if (open === 0) break;
    const taken = Math.min(open, count);
    linesMinor[position] =
      (linesMinor[position] ?? 0) +
      multiplyMinorUnits(multiplyDivideHalfEven(unitMinor, basisPoints, wholeBasisPoints), taken);
    open -= taken;
  }
  return linesMinor;
}

/**
 * Thrown if a calculated amount exceeds the allowed range of amounts, although each single price and quantity
 * is valid.
 */
export class AmountOutOfRangeError extends Error {
  constructor() {
    super(`An amount exceeds ±${amountMinorMax} minor units.`);
    this.name = "AmountOutOfRange";
  }
}

/** Returns value × numerator ÷ denominator, rounded; halves are rounded to the even neighbour. */
export function multiplyDivideHalfEven(value: number, numerator: number, denominator: number): number {
  if (denominator <= 0) throw new RangeError("The denominator must be positive.");
  const product = BigInt(value) * BigInt(numerator);
  const divisor = BigInt(denominator);
  // BigInt division rounds negative values up and positive values down. The remainder is therefore made
  // non-negative, so that the rounding below works for both signs.
  const rest = ((product % divisor) + divisor) % divisor;
  const below = (product - rest) / divisor;
  const isUp = rest * 2n > divisor || (rest * 2n === divisor && below % 2n !== 0n);
  return toAmount(isUp ? below + 1n : below);
}

/**
 * Splits a total in proportion to weights. Every share is first rounded down. The minor units that are left
 * are then added, one each, to the shares with the largest remainders; equal remainders are served in order.
 * If the total is at most the sum of all weights, no share exceeds its weight.
 */
export function allocateByWeight(totalMinor: number, weights: readonly number[]): number[] {
  if (totalMinor < 0 || weights.some((weight) => weight < 0))
    throw new RangeError("Neither a total nor a weight may be negative.");
  if (totalMinor === 0) return weights.map(() => 0);
  const total = BigInt(totalMinor);
  const weighed = weights.map(BigInt);
  const sum = weighed.reduce((left, right) => left + right, 0n);
  if (sum === 0n) throw new RangeError("A total above 0 cannot be split, because all weights are 0.");
  const parts = weighed.map((weight, position) => ({
    position,
    share: Number((total * weight) / sum),
    rest: (total * weight) % sum,
  }));
  const left = totalMinor - parts.reduce((shared, { share }) => shared + share, 0);
  const byRest = parts.toSorted((a, b) => compare(b.rest, a.rest) || a.position - b.position);
  const raised = new Set(byRest.slice(0, left).map(({ position }) => position));
  return parts.map(({ position, share }) => share + (raised.has(position) ? 1 : 0));
}

export function multiplyMinorUnits(amountMinor: number, quantity: number): number {
  return toAmount(BigInt(amountMinor) * BigInt(quantity));
}

export function sumMinorUnits(amounts: readonly number[]): number {
  return toAmount(amounts.reduce((sum, amount) => sum + BigInt(amount), 0n));
}

function toAmount(exact: bigint): number {
  if (exact > amountMinorMax || exact < -amountMinorMax) throw new AmountOutOfRangeError();
  return Number(exact);
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
