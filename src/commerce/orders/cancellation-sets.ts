/**
 * Lines that one promotion joins: those that it made cheaper, and those that had to be bought for it. Part of such a set cannot be taken back without
 * the deal being another one: who gives back what was bought would keep what came with it.
 */
import type { LineQuantity, OrderAggregate, OrderPromotion } from "./order-aggregate.ts";
import { wantedOf } from "./order-statuses.ts";

const joining: ReadonlySet<OrderPromotion["kind"]> = new Set(["buy_x_get_y", "gift"]);

export function setsOf({ promotions }: Pick<OrderAggregate, "promotions">): (readonly string[])[] {
  return promotions
    .filter(({ kind, discountMinor }) => joining.has(kind) && discountMinor > 0)
    .map(({ allocations, boughtLineIds = [] }) => {
      const given = allocations.flatMap(({ lineId, amountMinor }) => (lineId === null || amountMinor === 0 ? [] : [lineId]));
      return given.concat(boughtLineIds.filter((id) => !given.includes(id)));
    })
    .filter((lineIds) => lineIds.length > 0);
}

/** The first set that these units would tear apart: of some of its lines they have units, of others not all. */
export function tornSet(order: Pick<OrderAggregate, "promotions" | "lines">, chosen: readonly LineQuantity[]): readonly string[] | undefined {
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  const wanted = new Map(order.lines.map((line) => [line.id, wantedOf(line)]));
  return setsOf(order).find(
    (lineIds) => lineIds.some((id) => (quantities.get(id) ?? 0) > 0) && lineIds.some((id) => (quantities.get(id) ?? 0) < (wanted.get(id) ?? 0)),
  );
}
