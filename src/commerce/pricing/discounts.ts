/**
 * The rules of promotions as arithmetic: which lines a rule is about, how often "buy X, get Y" applies, and
 * what a rule takes off a cart from which other rules may have taken something before. A rule never takes
 * more than is left of a line or of the shipping.
 */
import { amountMinorMax } from "#foundation/money.ts";

/** X units that are bought make Y of the entitled cheaper, again and again; no unit counts twice. */
export interface BuyXGetY {
  readonly kind: "buy_x_get_y";
  readonly buyQuantity: number;
  readonly getQuantity: number;
  /** Off each of the Y; the cheapest are taken. */
  readonly basisPoints: number;
  /** Both lists empty: the same as what is entitled. */
  readonly buy: Entitlement;
}

/** `id` is the promotion's. */
export type DiscountRule = { readonly id: string; readonly entitled: Entitlement } & (
  | { readonly kind: "percentage"; readonly basisPoints: number }
  /** Off the entitled lines together. */
  | { readonly kind: "fixed_amount"; readonly amountMinor: number }
  | { readonly kind: "free_shipping" }
  | BuyXGetY
  /** So many of the entitled units, the cheapest, cost nothing. */
  | { readonly kind: "gift"; readonly getQuantity: number }
);

/** The lines that a promotion is about: lines of named products or categories, or all lines if it names none. */
export interface Entitlement {
  /** Both empty: everything. */
  readonly productIds: readonly string[];
  readonly categoryIds: readonly string[];
}

export interface EntitledLine {
  readonly productId: string;
  /** Those it is in, with the categories above them. */
  readonly categoryIds: readonly string[];
  readonly quantity: number;
}

/** The answer for each line: asked of many lines, so what is named is looked up, not searched. */
export function entitledTo({ productIds, categoryIds }: Entitlement): (line: EntitledLine) => boolean {
  if (productIds.length === 0 && categoryIds.length === 0) return () => true;
  const products = new Set(productIds);
  const categories = new Set(categoryIds);
  return (line) => products.has(line.productId) || line.categoryIds.some((id) => categories.has(id));
}

export function quantityOf(lines: readonly EntitledLine[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Each unit is one of the X or one of the Y of one application, never both. */
export type BuyXGetYRule = BuyXGetY & { readonly entitled: Entitlement };

interface Units {
  readonly entitled: number;
  readonly bought: number;
  /** In either set; what is in both counts once. */
  readonly either: number;
}

/** The X: what the rule names, or else the entitled lines themselves. */
export function boughtFor(rule: BuyXGetYRule): (line: EntitledLine) => boolean {
  const { productIds, categoryIds } = rule.buy;
  return entitledTo(productIds.length === 0 && categoryIds.length === 0 ? rule.entitled : rule.buy);
}

/** As many as can be filled at once: what is in both sets may serve either side, but each unit one side only. */
export function applicationsOf(rule: BuyXGetYRule, lines: readonly EntitledLine[]): number {
  const { entitled, bought, either } = countedUnitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.floor(
    Math.min(entitled / getQuantity, bought / buyQuantity, either / (buyQuantity + getQuantity)),
  );
}

/** The fewest units, of the right kinds, that a cart lacks for its first application; 0 when it applies. */
export function missingUnitsOf(rule: BuyXGetYRule, lines: readonly EntitledLine[]): number {
  const { entitled, bought, either } = countedUnitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.max(0, getQuantity - entitled, buyQuantity - bought, buyQuantity + getQuantity - either);
}

function countedUnitsOf(rule: BuyXGetYRule, lines: readonly EntitledLine[]): Units {
  const isEntitled = entitledTo(rule.entitled);
  const isBought = boughtFor(rule);
  return {
    entitled: quantityOf(lines.filter(isEntitled)),
    bought: quantityOf(lines.filter(isBought)),
    either: quantityOf(lines.filter((line) => isEntitled(line) || isBought(line))),
  };
}

const wholeBasisPoints = 10_000;

export interface OpenCart {
  readonly lines: readonly EntitledLine[];
  /** What is left of each line, in the same order. */
  readonly linesMinor: readonly number[];
  /** What is left of it; 0 while it is not known. */
  readonly shippingMinor: number;
}

export interface TakenOff {
  /** Off each line, in the same order. */
  readonly linesMinor: readonly number[];
  readonly shippingMinor: number;
}

export function takeOff(rule: DiscountRule, cart: OpenCart): TakenOff {
  return rule.kind === "free_shipping"
    ? { linesMinor: cart.lines.map(() => 0), shippingMinor: cart.shippingMinor }
    : { linesMinor: takeOffLines(rule, cart), shippingMinor: 0 };
}

function takeOffLines(
  rule: Exclude<DiscountRule, { readonly kind: "free_shipping" }>,
  cart: OpenCart,
): readonly number[] {
  if (rule.kind === "buy_x_get_y") return takeOffTheGot(rule, cart);
  const isEntitled = entitledTo(rule.entitled);
  if (rule.kind === "gift") {
    return takeOffUnits(unitsOf(cart, isEntitled), {
      lineCount: cart.lines.length,
      quantity: rule.getQuantity,
      basisPoints: wholeBasisPoints,
    });
  }
  const entitledMinor = cart.lines.map((line, position) =>
    isEntitled(line) ? (cart.linesMinor[position] ?? 0) : 0,
  );
  if (rule.kind === "percentage")
    return entitledMinor.map((leftMinor) => mulDivHalfEven(leftMinor, rule.basisPoints, wholeBasisPoints));
  return allocate(Math.min(rule.amountMinor, sumMinor(entitledMinor)), entitledMinor);
}

function takeOffTheGot(rule: BuyXGetYRule, cart: OpenCart): readonly number[] {
  const applications = applicationsOf(rule, cart.lines);
  const isBought = boughtFor(rule);
  // What is bought must remain bought: of the units that could be either, only those beyond all the X may be
  // among the Y.
  let spare = quantityOf(cart.lines.filter(isBought)) - applications * rule.buyQuantity;
  const offered: UnitGroup[] = [];
  for (const group of unitsOf(cart, entitledTo(rule.entitled))) {
    const isShared = isBought(group.line);
    const count = isShared ? Math.min(group.count, spare) : group.count;
    if (isShared) spare -= count;
    offered.push({ ...group, count });
  }
  return takeOffUnits(offered, {
    lineCount: cart.lines.length,
    quantity: applications * rule.getQuantity,
    basisPoints: rule.basisPoints,
  });
}

/** Units of one line that have the same price. */
interface UnitGroup {
  readonly line: EntitledLine;
  readonly position: number;
  readonly unitMinor: number;
  readonly count: number;
}

/**
 * The units of the wanted lines, the cheapest first and of the same price the earlier line's. What is left of
 * a line counts as spread evenly over its units, whatever took the rest off: each has the whole part, and as
 * many as there are minor units over have one more.
 */
function unitsOf({ lines, linesMinor }: OpenCart, isWanted: (line: EntitledLine) => boolean): UnitGroup[] {
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

/** Rounded unit by unit: of equal units, each is as much cheaper as the next. */
function takeOffUnits(
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
      multiplyMinor(mulDivHalfEven(unitMinor, basisPoints, wholeBasisPoints), taken);
    open -= taken;
  }
  return linesMinor;
}

/**
 * Prices and quantities were allowed one by one, and their result is too large: the caller refuses what made
 * it so.
 */
export class AmountOutOfRange extends Error {
  constructor() {
    super(`An amount is beyond ±${amountMinorMax} minor units.`);
    this.name = "AmountOutOfRange";
  }
}

/** value × numerator ÷ denominator, a half to the even neighbour. */
export function mulDivHalfEven(value: number, numerator: number, denominator: number): number {
  if (denominator <= 0) throw new RangeError("The denominator must be positive.");
  const product = BigInt(value) * BigInt(numerator);
  const divisor = BigInt(denominator);
  // BigInt cuts towards zero; a rest that is never negative lets one rule round both signs.
  const rest = ((product % divisor) + divisor) % divisor;
  const below = (product - rest) / divisor;
  const isUp = rest * 2n > divisor || (rest * 2n === divisor && below % 2n !== 0n);
  return toAmount(isUp ? below + 1n : below);
}

/**
 * Splits a total in proportion to weights: each share is rounded down, and the units left go one each to the
 * largest rests, the earlier position first. So no share is above its weight while the total is not above all
 * weights together.
 */
export function allocate(totalMinor: number, weights: readonly number[]): number[] {
  if (totalMinor < 0 || weights.some((weight) => weight < 0))
    throw new RangeError("Neither a total nor a weight may be negative.");
  if (totalMinor === 0) return weights.map(() => 0);
  const total = BigInt(totalMinor);
  const weighed = weights.map(BigInt);
  const sum = weighed.reduce((left, right) => left + right, 0n);
  if (sum === 0n) throw new RangeError("There is nothing to split the total over.");
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

export function multiplyMinor(amountMinor: number, quantity: number): number {
  return toAmount(BigInt(amountMinor) * BigInt(quantity));
}

export function sumMinor(amounts: readonly number[]): number {
  return toAmount(amounts.reduce((sum, amount) => sum + BigInt(amount), 0n));
}

function toAmount(exact: bigint): number {
  if (exact > amountMinorMax || exact < -amountMinorMax) throw new AmountOutOfRange();
  return Number(exact);
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
