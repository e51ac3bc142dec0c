/** How often "buy X, get Y" applies to a cart. Each unit is one of the X or one of the Y of one application, never two of them. */
import type { BuyXGetY } from "./discount-rule.ts";
import { type EntitledLine, type Entitlement, entitledTo, quantityOf } from "./entitlement.ts";

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
  const { entitled, bought, either } = unitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.floor(Math.min(entitled / getQuantity, bought / buyQuantity, either / (buyQuantity + getQuantity)));
}

/** The fewest units, of the right kinds, that a cart lacks for its first application; 0 when it applies. */
export function missingUnitsOf(rule: BuyXGetYRule, lines: readonly EntitledLine[]): number {
  const { entitled, bought, either } = unitsOf(rule, lines);
  const { buyQuantity, getQuantity } = rule;
  return Math.max(0, getQuantity - entitled, buyQuantity - bought, buyQuantity + getQuantity - either);
}

function unitsOf(rule: BuyXGetYRule, lines: readonly EntitledLine[]): Units {
  const isEntitled = entitledTo(rule.entitled);
  const isBought = boughtFor(rule);
  return {
    entitled: quantityOf(lines.filter(isEntitled)),
    bought: quantityOf(lines.filter(isBought)),
    either: quantityOf(lines.filter((line) => isEntitled(line) || isBought(line))),
  };
}
