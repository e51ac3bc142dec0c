/**
 * Steps in which the buyer sets address and delivery option: through the open checkout session, else through
 * the cart.
 */
import { sql } from "kysely";
import { berlin, deliveryOf } from "#test/operations/cart-calls.ts";
import { hasAddress, renewAddress, startAddress } from "./address-model.ts";
import type { Call, Front } from "./order-front.ts";
import { endSession, isOpen, type OrderModel } from "./order-model.ts";
import type { Dice, Plan } from "./step.ts";

/** Sets an address, mostly if the cart has none. */
export function giveAddress(model: OrderModel, dice: Dice): Plan | null {
  if (hasAddress(model) && dice.pick % 4 !== 0 && !dice.isBold) return null;
  return {
    call: changeOf(model, {
      ofSession: "hostedCheckoutSessionAddressSet",
      ofCart: "cartAddressSet",
      input: { address: berlin },
      answer: "id: cartId",
    }),
    isAllowed: isChangeable(model),
    apply: async (_id, front) => {
      startAddress(model);
      await changed(model, front);
    },
  };
}

/** Chooses a delivery option if none is chosen. */
export function chooseDelivery(model: OrderModel): Plan | null {
  if (model.hasDelivery || model.order !== null) return null;
  const names = {
    ofSession: "hostedCheckoutSessionDeliveryOptionSelect",
    ofCart: "cartDeliveryOptionSelect",
  };
  return {
    call: changeOf(model, { ...names, input: { optionId: model.deliveryId } }),
    isAllowed: isChangeable(model) && hasAddress(model),
    reason: isChangeable(model) ? "address_required" : undefined,
    apply: async (_id, front) => {
      model.hasDelivery = true;
      renewAddress(model);
      await changed(model, front);
    },
  };
}

const isChangeable = ({ session }: OrderModel): boolean =>
  session === null || session.status === "open" || session.status === "canceled";

function changeOf(
  model: OrderModel,
  {
    ofSession,
    ofCart,
    input,
    answer,
  }: {
    readonly ofSession: string;
    readonly ofCart: string;
    readonly input: object;
    readonly answer?: string;
  },
): Call {
  const { session, cartId } = model;
  if (session !== null && isOpen(model))
    return { field: ofSession, on: { sessionId: session.id }, input: { ...input } };
  return { field: ofCart, on: { cartId }, input: { ...input }, answer };
}

/** Updates the session's amount to the cart's. A change ends a session that has expired. */
async function changed(model: OrderModel, { world }: Front): Promise<void> {
  const { session } = model;
  if (session?.status !== "open") return;
  if (!isOpen(model)) return endSession(model);
  const { rows } = await sql<{
    amountTotalMinor: number;
  }>`select amount_total_minor from hosted_checkout_session where id = ${session.id}`.execute(
    world.database.db,
  );
  session.amountMinor = rows[0]?.amountTotalMinor ?? 0;
}

export const standardDelivery = ({ world }: Front): Promise<string> => deliveryOf(world, "standard");
