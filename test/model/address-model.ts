/**
 * The model's address expires half an hour after the cart's last change, after a day at most, but not during
 * a checkout.
 */
import { isHeld, minuteMs, type OrderModel } from "./order-model.ts";

const lifeMs = 30 * minuteMs;
const lifeMsMax = 24 * 60 * minuteMs;

export const hasAddress = (model: OrderModel): boolean =>
  model.address !== null && (isHeld(model) || model.now < model.address.until);

/** Starts the lifetime of a newly given address. */
export function startAddress(model: OrderModel): void {
  model.address = { until: model.now + lifeMs, untilMax: model.now + lifeMsMax };
}

/**
 * Extends the address's lifetime at each saved change of the cart. An expired address is removed with the
 * delivery option.
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

/** Returns what the cart lacks for submitting; null if nothing. */
export function missingOf(model: OrderModel): string | null {
  if (!hasAddress(model)) return "address_required";
  return model.hasDelivery ? null : "delivery_option_required";
}
