/** Whether an order still has what its promotions asked it for. They stay as they are all the same: their buyer is told. */
import type { LineQuantity, OrderAggregate, PromotionMinimum } from "./order-aggregate.ts";
import { wantedOf } from "./order-statuses.ts";

type Ordered = Pick<OrderAggregate, "lines" | "promotions">;

/** Met now, and without these units no more. */
export function breaksMinimum(order: Ordered, canceled: readonly LineQuantity[]): boolean {
  const asked = order.promotions.flatMap(({ minimum, discountMinor }) => (discountMinor === 0 ? [] : (minimum ?? [])));
  return asked.some((minimum) => isMet(order, { minimum, canceled: [] }) && !isMet(order, { minimum, canceled }));
}

function isMet(
  { lines }: Ordered,
  { minimum, canceled }: { readonly minimum: PromotionMinimum; readonly canceled: readonly LineQuantity[] },
): boolean {
  const gone = new Map(canceled.map(({ lineId, quantity }) => [lineId, quantity]));
  const left = lines
    .filter(({ id }) => minimum.lineIds.includes(id))
    .map((line) => ({ unitPriceMinor: line.unitPriceMinor, quantity: wantedOf(line) - (gone.get(line.id) ?? 0) }));
  const quantity = left.reduce((sum, units) => sum + units.quantity, 0);
  const subtotalMinor = left.reduce((sum, units) => sum + units.unitPriceMinor * units.quantity, 0);
  return quantity >= (minimum.quantity ?? 0) && subtotalMinor >= (minimum.subtotalMinor ?? 0);
}
