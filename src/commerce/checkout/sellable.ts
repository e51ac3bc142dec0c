/** Whether what is in a cart can be sold now: what a session holds of the stock, and what it is refused for. */
import { type CartAggregate, refuse, type StoredLine, type StoredWarning } from "#commerce/carts/cart-aggregate.ts";
import type { Shortage } from "#commerce/inventory/reservations.ts";
import type { VariantQuantity } from "#commerce/inventory/stock-levels.ts";

const stopping: ReadonlySet<string> = new Set(["line_unavailable", "out_of_stock"]);

/** Lines that nobody can buy now: sold out, or no longer sold. */
export function stoppedLineIds(warnings: readonly StoredWarning[]): string[] {
  return warnings.flatMap(({ code, lineId }) => (lineId !== null && stopping.has(code) ? [lineId] : []));
}

export function sellableLines(lines: readonly StoredLine[], warnings: readonly StoredWarning[]): VariantQuantity[] {
  const stopped = new Set(stoppedLineIds(warnings));
  return lines.filter(({ id }) => !stopped.has(id)).map(({ variantId, quantity }) => ({ variantId, quantity }));
}

/** 409 `invalid_state`, reason `line_unavailable`, with the lines. */
export function requireAvailable(cart: CartAggregate, warnings: readonly StoredWarning[], now: Date): void {
  const lineIds = stoppedLineIds(warnings);
  if (lineIds.length > 0) throw refuse("invalid_state", cart, { now, reason: "line_unavailable", data: { lineIds } });
}

/** The same, with reason `insufficient_stock`, where a line had to be made less. */
export function requireWhole(cart: CartAggregate, warnings: readonly StoredWarning[], now: Date): void {
  const lines = warnings.flatMap(({ code, lineId, data }) =>
    code === "quantity_reduced" ? [{ lineId, wanted: data["wanted"], available: data["quantity"] }] : [],
  );
  if (lines.length > 0) throw insufficient(cart, lines, now);
}

export function requireHeld(cart: CartAggregate, shortages: readonly Shortage[], now: Date): void {
  if (shortages.length === 0) return;
  const lines = shortages.map(({ variantId, wanted, available }) => ({
    lineId: cart.lines.find((line) => line.variantId === variantId)?.id ?? null,
    wanted,
    available,
  }));
  throw insufficient(cart, lines, now);
}

const insufficient = (cart: CartAggregate, lines: readonly object[], now: Date): Error =>
  refuse("invalid_state", cart, { now, reason: "insufficient_stock", data: { lines } });
