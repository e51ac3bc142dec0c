/**
 * Calculates the discounts of promotions. Finds the cart lines to which a promotion applies, how often "buy
 * X, get Y" applies, and the amounts to deduct from lines and shipping. Discounts are deducted one after the
 * other; each deducts at most the amounts that the earlier discounts left.
 */
import { amountMinorMax } from "#foundation/money.ts";

/**
 * The terms of "buy X, get Y": for every X bought units, Y of the discounted products' units become cheaper.
 * The rule can apply several times in a cart, and no unit counts twice.
 */
export interface BuyXGetYDiscount {
  readonly kind: "buy_x_get_y";
  readonly buyQuantity: number;
  readonly getQuantity: number;
  /**
   * Discount on each of the Y units, in basis points (hundredths of a percent). The cheapest units are
   * discounted.
   */
  readonly basisPoints: number;
  /**
   * Products and categories whose units count as bought (X). If both lists are empty, units of the discounted
   * products count as bought.
   */
  readonly buy: PromotionProductScope;
}

/**
 * The discount of a promotion, with the id of the promotion and the products and categories to which the
 * promotion applies.
 */
export type DiscountRule = { readonly id: string; readonly entitled: PromotionProductScope } & (
  | { readonly kind: "percentage"; readonly basisPoints: number }
  /** An amount in minor units, which is divided among all cart lines to which the promotion applies. */
  | { readonly kind: "fixed_amount"; readonly amountMinor: number }
  | { readonly kind: "free_shipping" }
  | BuyXGetYDiscount
  /** The cheapest units to which the promotion applies are free, at most `getQuantity` units. */
  | { readonly kind: "gift"; readonly getQuantity: number }
);

/** The products and categories to which a promotion applies. */
export interface PromotionProductScope {
  /**
   * Ids of the products to which the promotion applies. If this list and `categoryIds` are both empty, the
   * promotion applies to all products.
   */
  readonly productIds: readonly string[];
  readonly categoryIds: readonly string[];
}

export interface DiscountableCartLine {
  readonly productId: string;
  /** Ids of the categories of the product, and of all their parent categories. */
  readonly categoryIds: readonly string[];
  readonly quantity: number;
}

/**
 * Returns a function that decides whether the promotion applies to a cart line. The ids of products and
 * categories are put into sets once, because the function checks many lines.
 */
export function createPromotedCartLinePredicate({
  productIds,
  categoryIds,
}: PromotionProductScope): (line: DiscountableCartLine) => boolean {
  if (productIds.length === 0 && categoryIds.length === 0) return () => true;
  const products = new Set(productIds);
  const categories = new Set(categoryIds);
  return (line) => products.has(line.productId) || line.categoryIds.some((id) => categories.has(id));
}

export function sumLineQuantities(lines: readonly DiscountableCartLine[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/**
 * A "buy X, get Y" rule, with the products that it discounts. Each time the rule applies, a unit is used
 * either as a bought unit (X) or as a discounted unit (Y), never as both.
 */
export type BuyXGetYDiscountAndScope = BuyXGetYDiscount & { readonly entitled: PromotionProductScope };

interface UnitCounts {
  readonly entitled: number;
  readonly bought: number;
  /**
   * Number of units in the cart that count as bought (X), as discounted (Y), or as both. A unit that counts
   * as both is counted once.
   */
  readonly either: number;
}

/** Returns a function that decides whether the units of a cart line count as bought (X). */
export function createBuyXGetYBoughtLinePredicate(
  rule: BuyXGetYDiscountAndScope,
): (line: DiscountableCartLine) => boolean {
  const { productIds, categoryIds } = rule.buy;
  return createPromotedCartLinePredicate(
    productIds.length === 0 && categoryIds.length === 0 ? rule.entitled : rule.buy,
  );
}

/**
 * Returns how many times a "buy X, get Y" rule applies to the cart lines. A unit that could be either bought
 * (X) or discounted (Y) is used for only one of the two.
 */
export function countBuyXGetYApplications(
  rule: BuyXGetYDiscountAndScope,
  lines: readonly DiscountableCartLine[],
): number {
  const { entitled, bought, either } = countedUnitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.floor(
    Math.min(entitled / getQuantity, bought / buyQuantity, either / (buyQuantity + getQuantity)),
  );
}

/**
 * Returns the minimum number of units to add to the cart so that a "buy X, get Y" rule applies once; 0 if the
 * rule already applies.
 */
export function countUnitsMissingForBuyXGetY(
  rule: BuyXGetYDiscountAndScope,
  lines: readonly DiscountableCartLine[],
): number {
  const { entitled, bought, either } = countedUnitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.max(0, getQuantity - entitled, buyQuantity - bought, buyQuantity + getQuantity - either);
}

function countedUnitsOf(rule: BuyXGetYDiscountAndScope, lines: readonly DiscountableCartLine[]): UnitCounts {
  const isEntitled = createPromotedCartLinePredicate(rule.entitled);
  const isBought = createBuyXGetYBoughtLinePredicate(rule);
  return {
    entitled: sumLineQuantities(lines.filter(isEntitled)),
    bought: sumLineQuantities(lines.filter(isBought)),
    either: sumLineQuantities(lines.filter((line) => isEntitled(line) || isBought(line))),
  };
}

const wholeBasisPoints = 10_000;

export interface CartAmountsAfterEarlierDiscounts {
  readonly lines: readonly DiscountableCartLine[];
  /** Amounts of the cart lines after the earlier discounts, in minor units, in the order of `lines`. */
  readonly linesMinor: readonly number[];
  /**
   * The shipping price that the earlier discounts left, in minor units; 0 if the shipping price is not known
   * yet.
   */
  readonly shippingMinor: number;
}

export interface DiscountAmounts {
  /** The amount that is deducted from each cart line, in the order of the lines; in minor units. */
  readonly linesMinor: readonly number[];
  readonly shippingMinor: number;
}

export function applyDiscountRule(
  rule: DiscountRule,
  cart: CartAmountsAfterEarlierDiscounts,
): DiscountAmounts {
  return rule.kind === "free_shipping"
    ? { linesMinor: cart.lines.map(() => 0), shippingMinor: cart.shippingMinor }
    : { linesMinor: discountLines(rule, cart), shippingMinor: 0 };
}

function discountLines(
  rule: Exclude<DiscountRule, { readonly kind: "free_shipping" }>,
  cart: CartAmountsAfterEarlierDiscounts,
): readonly number[] {
  if (rule.kind === "buy_x_get_y") return discountGetUnits(rule, cart);
  const isEntitled = createPromotedCartLinePredicate(rule.entitled);
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
      multiplyAndDivideRoundingHalfEven(leftMinor, rule.basisPoints, wholeBasisPoints),
    );
  return allocateTotalByWeight(Math.min(rule.amountMinor, sumMinorUnits(entitledMinor)), entitledMinor);
}

function discountGetUnits(
  rule: BuyXGetYDiscountAndScope,
  cart: CartAmountsAfterEarlierDiscounts,
): readonly number[] {
  const applications = countBuyXGetYApplications(rule, cart.lines);
  const isBought = createBuyXGetYBoughtLinePredicate(rule);
  // Bought units (X) keep their full price. A unit that can count as bought or as discounted is discounted
  // only if the rule does not need it as a bought unit.
  let spare = sumLineQuantities(cart.lines.filter(isBought)) - applications * rule.buyQuantity;
  const offered: UnitGroup[] = [];
  for (const group of unitsOf(cart, createPromotedCartLinePredicate(rule.entitled))) {
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

/** Units of one cart line that have the same price after the earlier discounts. */
interface UnitGroup {
  readonly line: DiscountableCartLine;
  readonly position: number;
  readonly unitMinor: number;
  readonly count: number;
}

/**
 * Returns the units of those cart lines for which `isWanted` returns true, sorted by their price after
 * earlier discounts, the cheapest first. Units of the same price are in the order of their lines. The amount
 * of a line is divided among its units as evenly as possible: the prices of two units differ by at most one
 * minor unit.
 */
function unitsOf(
  { lines, linesMinor }: CartAmountsAfterEarlierDiscounts,
  isWanted: (line: DiscountableCartLine) => boolean,
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
 * Deducts a percentage from the cheapest units. The discount is rounded for each unit, so that units of the
 * same price get the same discount.
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
      multiplyMinorUnits(multiplyAndDivideRoundingHalfEven(unitMinor, basisPoints, wholeBasisPoints), taken);
    open -= taken;
  }
  return linesMinor;
}

/** Thrown if a calculated amount is larger than the maximum amount, although each price and quantity is valid. */
export class AmountOutOfRangeError extends Error {
  constructor() {
    super(`An amount exceeds ±${amountMinorMax} minor units.`);
    this.name = "AmountOutOfRange";
  }
}

/** Returns value × numerator ÷ denominator, rounded to an integer; halves are rounded to the even neighbour. */
export function multiplyAndDivideRoundingHalfEven(
  value: number,
  numerator: number,
  denominator: number,
): number {
  if (denominator <= 0) throw new RangeError("The denominator must be positive.");
  const product = BigInt(value) * BigInt(numerator);
  const divisor = BigInt(denominator);
  // BigInt division rounds towards zero. The remainder is made non-negative here, so that the rounding below
  // is right for positive and negative values.
  const rest = ((product % divisor) + divisor) % divisor;
  const below = (product - rest) / divisor;
  const isUp = rest * 2n > divisor || (rest * 2n === divisor && below % 2n !== 0n);
  return toAmount(isUp ? below + 1n : below);
}

/**
 * Divides a total among shares in proportion to their weights. First, every share is rounded down. The
 * remaining minor units are then added, one each, to the shares with the largest remainders; shares with
 * equal remainders get them in their order. If the total is at most the sum of all weights, no share is
 * larger than its weight.
 */
export function allocateTotalByWeight(totalMinor: number, weights: readonly number[]): number[] {
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
