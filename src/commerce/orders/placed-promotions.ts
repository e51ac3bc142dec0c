/** The promotions that an order is placed with: what each took off which of its lines, and what it was given for. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { conditionsOf, type PromotionConditions } from "#commerce/promotions/promotion-conditions.ts";
import { findPromotionRules } from "#commerce/promotions/read-promotions.ts";
import type { Transaction } from "#database/transaction.ts";
import type { OrderLine, OrderPromotion } from "./order-aggregate.ts";

type PlacedLine = Pick<OrderLine, "id" | "productId" | "categoryIds" | "ordered"> & { readonly cartLineId: string };

/** Those that count, by the order's own lines. */
export async function placedPromotions(transaction: Transaction, cart: CartAggregate, lines: readonly PlacedLine[]): Promise<OrderPromotion[]> {
  const applied = cart.promotions.filter(({ state }) => state === "applied");
  const rules = await findPromotionRules(
    transaction,
    applied.map(({ promotionId }) => promotionId),
  );
  const orderLines = new Map(lines.map(({ id, cartLineId }) => [cartLineId, id]));
  const conditionLines = lines.map(({ id, productId, categoryIds, ordered }) => ({ id, productId, categoryIds, quantity: ordered }));
  return applied.map(({ promotionId, trigger, kind, code, titles, discountMinor, allocations }) => {
    const rule = rules.get(promotionId);
    const { boughtLineIds, minimum } = rule === undefined ? noConditions : conditionsOf(rule, conditionLines);
    return {
      promotionId,
      trigger,
      kind,
      code,
      titles,
      discountMinor,
      allocations: allocations.map(({ lineId, amountMinor }) => ({
        lineId: lineId === null ? null : (orderLines.get(lineId) ?? null),
        amountMinor,
      })),
      boughtLineIds,
      minimum,
    };
  });
}

const noConditions: PromotionConditions = { boughtLineIds: [], minimum: null };
