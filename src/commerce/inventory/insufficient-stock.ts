/** The refusal of every change that would leave less stock than there are promises: the same wherever it is found. */
import { fail, type Failure } from "#foundation/failure.ts";

export interface StockFigures {
  readonly variantId: string;
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
}

export function insufficientStock(
  { variantId, onHand, reserved, backorderLimit }: StockFigures,
  asked: Readonly<Record<string, number>> = {},
): Failure {
  return refusal(variantId, "insufficient_stock", { onHand, reserved, backorderLimit, ...asked });
}

export function stockLimitReached(variantId: string, data: Readonly<Record<string, number>>): Failure {
  return refusal(variantId, "stock_limit_reached", data);
}

function refusal(variantId: string, reason: string, data: Readonly<Record<string, number>>): Failure {
  return fail("invalid_state", { conflict: { resource: "variant", id: variantId, currentStatus: null, currentVersion: null, reason, data } });
}
