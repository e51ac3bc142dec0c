/** Publishes the domain events of a cart change in the outbox. */
import type { CommandContext } from "#commerce/command-context.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { type CartAggregate, findCodePromotion } from "./cart-aggregate.ts";
import { getPreviousCartFields } from "./render-cart.ts";

/** Returns the events about the promotion code, by comparing the cart before and after the change. */
export function getPromotionCodeEventTypes(before: CartAggregate, after: CartAggregate): EventType[] {
  const [previous, current] = [findCodePromotion(before), findCodePromotion(after)];
  if (current === undefined) return previous === undefined ? [] : ["cart.promotion_removed"];
  const isNew = previous?.promotionCodeId !== current.promotionCodeId;
  if (current.state === "suspended")
    return isNew
      ? ["cart.promotion_applied", "cart.promotion_suspended"]
      : previous.state === "suspended"
        ? []
        : ["cart.promotion_suspended"];
  if (isNew) return ["cart.promotion_applied"];
  return previous.state === "suspended" ? ["cart.promotion_restored"] : [];
}

/** The part of a cart command's context that publishing its events needs. */
export interface CartEventContext extends Pick<CommandContext, "outbox" | "now"> {
  readonly publicUrl: string;
}

/**
 * Publishes the events of one cart change, with the previous values of the changed fields. `isFinal`: the
 * cart and its session do not change again in this transaction, so that the events can use `after` without
 * another read.
 */
export function publishCartEvents(
  { outbox, now, publicUrl }: CartEventContext,
  types: readonly EventType[],
  {
    before,
    after,
    isFinal = true,
  }: { readonly before: CartAggregate | null; readonly after: CartAggregate; readonly isFinal?: boolean },
): void {
  const previous = before === null ? null : getPreviousCartFields({ before, after }, { now, publicUrl });
  for (const type of types)
    outbox.append({ type, id: after.id, previous, ...(isFinal ? { object: after } : {}) });
}
