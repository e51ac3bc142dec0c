/** What one promotion takes off a cart from which others may have taken something before; never more than is left of a line or of the shipping. */
import { allocate, mulDivHalfEven, multiplyMinor, sumMinor } from "./allocate.ts";
import { applicationsOf, boughtFor, type BuyXGetYRule } from "./buy-x-get-y.ts";
import type { DiscountRule } from "./discount-rule.ts";
import { type EntitledLine, entitledTo, quantityOf } from "./entitlement.ts";

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

function takeOffLines(rule: Exclude<DiscountRule, { readonly kind: "free_shipping" }>, cart: OpenCart): readonly number[] {
  if (rule.kind === "buy_x_get_y") return takeOffTheGot(rule, cart);
  const isEntitled = entitledTo(rule.entitled);
  if (rule.kind === "gift") {
    return takeOffUnits(unitsOf(cart, isEntitled), { lineCount: cart.lines.length, quantity: rule.getQuantity, basisPoints: wholeBasisPoints });
  }
  const entitledMinor = cart.lines.map((line, position) => (isEntitled(line) ? (cart.linesMinor[position] ?? 0) : 0));
  if (rule.kind === "percentage") return entitledMinor.map((leftMinor) => mulDivHalfEven(leftMinor, rule.basisPoints, wholeBasisPoints));
  return allocate(Math.min(rule.amountMinor, sumMinor(entitledMinor)), entitledMinor);
}

function takeOffTheGot(rule: BuyXGetYRule, cart: OpenCart): readonly number[] {
  const applications = applicationsOf(rule, cart.lines);
  const isBought = boughtFor(rule);
  // What is bought must remain bought: of the units that could be either, only those beyond all the X may be among the Y.
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
 * The units of the wanted lines, the cheapest first and of the same price the earlier line's. What is left of a line counts as spread evenly
 * over its units, whatever took the rest off: each has the whole part, and as many as there are minor units over have one more.
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
  { lineCount, quantity, basisPoints }: { readonly lineCount: number; readonly quantity: number; readonly basisPoints: number },
): readonly number[] {
  const linesMinor = Array.from({ length: lineCount }, () => 0);
  let open = quantity;
  for (const { position, unitMinor, count } of cheapestFirst) {
    if (open === 0) break;
    const taken = Math.min(open, count);
    linesMinor[position] = (linesMinor[position] ?? 0) + multiplyMinor(mulDivHalfEven(unitMinor, basisPoints, wholeBasisPoints), taken);
    open -= taken;
  }
  return linesMinor;
}
