/** Whether a thing can be bought, in one word: first for a variant, then the best of its variants for a product. */

/** From the best for the buyer to the worst. */
export const availabilities = ["in_stock", "low_stock", "backorder", "preorder", "out_of_stock", "discontinued"] as const;
export type Availability = (typeof availabilities)[number];

export interface Stock {
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
  readonly lowStockThreshold: number;
  readonly discontinued: boolean;
  /** Sold before this time as a pre-order. */
  readonly availableFrom: Date | null;
}

export function availabilityOf(stock: Stock, now: Date): Availability {
  const free = stock.onHand - stock.reserved;
  if (stock.discontinued) return "discontinued";
  if (free + stock.backorderLimit <= 0) return "out_of_stock";
  if (stock.availableFrom !== null && stock.availableFrom > now) return "preorder";
  if (free <= 0) return "backorder";
  return free <= stock.lowStockThreshold ? "low_stock" : "in_stock";
}

/** Nothing to sell is sold out. */
export function bestAvailability(list: readonly Availability[]): Availability {
  return availabilities.find((availability) => list.includes(availability)) ?? "out_of_stock";
}
