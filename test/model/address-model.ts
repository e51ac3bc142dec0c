/**
 * An address lives for half an hour from the cart's last change, for a day at most, and for as long as a
 * checkout holds it.
 */
import { isHeld, minuteMs, type OrderModel } from "./order-model.ts";

const lifeMs = 30 * minuteMs;
const lifeMsMax = 24 * 60 * minuteMs;

export const hasAddress = (model: OrderModel): boolean =>
  model.address !== null && (isHeld(model) || model.now < model.address.until);

/** Given anew. */
export function startAddress(model: OrderModel): void {
  model.address = { until: model.now + lifeMs, untilMax: model.now + lifeMsMax };
}

/**
 * With each change of the cart that is written its life begins anew; one that is over by then is gone, and
 * the choice of a delivery with it.
 */
export function renewAddress(model: OrderModel): void {
  const { address, now } = model;
  if (address !== null && hasAddress(model)) address.until = Math.min(now + lifeMs, address.untilMax);
  else dropAddress(model);
}

function dropAddress(model: OrderModel): void {
  model.address = null;
  model.hasDelivery = false;
}

/** What keeps it from being submitted. */
export function missingOf(model: OrderModel): string | null {
  if (!hasAddress(model)) return "address_required";
  return model.hasDelivery ? null : "delivery_option_required";
}
