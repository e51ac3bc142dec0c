/** What of a cart a promotion was given for, by its lines: so that what was sold with it can tell later. Pure. */
import { boughtFor } from "#commerce/pricing/buy-x-get-y.ts";
import { type EntitledLine, entitledTo } from "#commerce/pricing/entitlement.ts";
import type { PromotionRule } from "./promotion-rule.ts";

export interface ConditionLine extends EntitledLine {
  readonly id: string;
}

export interface PromotionConditions {
  /** What had to be bought for what it gives; empty: nothing. */
  readonly boughtLineIds: readonly string[];
  /** What the cart had to have of its entitled lines; null: it asks for no minimum. */
  readonly minimum: { readonly lineIds: readonly string[]; readonly subtotalMinor: number | null; readonly quantity: number | null } | null;
}

export function conditionsOf(rule: PromotionRule, lines: readonly ConditionLine[]): PromotionConditions {
  const { discount, minimumSubtotalMinor: subtotalMinor, minimumQuantity: quantity } = rule;
  const entitled = lines.filter(entitledTo(discount.entitled)).map(({ id }) => id);
  const minimum = subtotalMinor === null && quantity === null ? null : { lineIds: entitled, subtotalMinor, quantity };
  if (discount.kind === "buy_x_get_y") return { boughtLineIds: lines.filter(boughtFor(discount)).map(({ id }) => id), minimum };
  return { boughtLineIds: discount.kind === "gift" && minimum !== null ? entitled : [], minimum };
}
