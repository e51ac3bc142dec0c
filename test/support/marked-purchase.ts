/**
 * Makes a whole purchase with recognizable values: checked out, declined, paid, partly canceled, sent, and
 * partly returned, with refused calls in between.
 */
import { expect } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { callSession, type Checkout, drive } from "#test/commerce/payments/checkouts.ts";
import { made, send, sent } from "#test/graph/fulfillment-calls.ts";
import { call as ask, done as paid, lineOf, paymentOf } from "#test/graph/order-money-calls.ts";
import { call as askBack, done as back } from "#test/graph/return-calls.ts";
import { type GraphAnswer, changeCart, deliveryOf, makeCart } from "#test/operations/cart-calls.ts";
import { trySession } from "#test/operations/checkout-calls.ts";
import { readOrder } from "./orders.ts";
import type { World } from "./world.ts";

export interface PurchaseMarkers {
  readonly address: Readonly<Record<string, string>>;
  readonly email: string;
  /** A card token that no provider knows, so that the card is declined. */
  readonly cardToken: string;
}

export interface MarkedPurchase {
  readonly orderId: string;
  /** The answers to all calls of the buyer and of the merchant. */
  readonly answers: readonly GraphAnswer[];
}

const buyer = { buyer: "canary" };
const [mill, cup] = ["KIT-KVERN", "KIT-EMALJE-WHITE"];

export async function purchaseMarked(world: World, marked: PurchaseMarkers): Promise<MarkedPurchase> {
  const { session, answers: checkedOut } = await checkOut(world, marked);
  const order = await pay(world, { session, cardToken: marked.cardToken });
  const handled = await handle(world, order.placed);
  return { orderId: order.placed.id, answers: [...checkedOut, ...order.answers, ...handled] };
}

async function checkOut(
  world: World,
  { address, email }: PurchaseMarkers,
): Promise<{ session: Checkout; answers: GraphAnswer[] }> {
  const { id: cartId } = await makeCart(world, { ...buyer, lines: { [mill]: 1, [cup]: 2 } });
  const change = (field: Parameters<typeof changeCart>[1], input: object): Promise<GraphAnswer> =>
    changeCart(world, field, { ...buyer, cartId, input: { ...input } });
  const answers = [
    await change("cartBuyerSet", { buyerReference: buyer.buyer, email }),
    await change("cartAddressSet", { address }),
    await change("cartDeliveryOptionSelect", { optionId: await deliveryOf(world, "standard") }),
    await trySession(world, { ...buyer, cartId }),
  ];
  expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
  return { session: answers.at(-1)?.data, answers };
}

async function pay(
  world: World,
  { session: { id, amountTotal }, cardToken }: { readonly session: Checkout; readonly cardToken: string },
): Promise<{ placed: OrderAggregate; answers: GraphAnswer[] }> {
  const { currency, amountMinor } = amountTotal;
  const submit = (paymentToken: string, more = 0): Promise<GraphAnswer> =>
    callSession(world, "hostedCheckoutSessionSubmit", {
      ...buyer,
      id,
      input: { expectedAmount: { amountMinor: amountMinor + more, currency }, paymentToken },
    });
  const answers = [await submit(cardToken, 1), await submit(cardToken)];
  await drive(world);
  answers.push(await submit("tok_success"), await submit("tok_success"));
  await drive(world);
  expect(answers.map(({ error }) => error?.code)).toEqual([
    "checkout_amount_changed",
    undefined,
    undefined,
    "checkout_session_processing",
  ]);
  const { orderId } = await world.database.db
    .selectFrom("hostedCheckoutSession")
    .select("orderId")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return { placed: await readOrder(world, orderId ?? ""), answers };
}

async function handle(world: World, order: OrderAggregate): Promise<GraphAnswer[]> {
  const { id } = order;
  const [payment, lineId] = [paymentOf(order).id, lineOf(order, mill).id];
  const asked = { ...buyer, token: "storefront" } as const;
  await sent(world, "orderConfirm", { id });
  await paid(world, "paymentCapture", { id: payment });
  await drive(world);
  const canceling = { lines: [{ lineId: lineOf(order, cup).id, quantity: 1 }], reason: "CHANGED_MIND" };
  const canceled = await ask(world, "orderCancel", {
    ...asked,
    id,
    input: { ...canceling, note: "One is enough." },
  });
  await drive(world);
  const fulfillment = await sent(world, "fulfillmentCreate", { id });
  await made(world, fulfillment.id, ["pack", "ship", "deliver"]);
  const tooLate = await ask(world, "orderCancel", { ...asked, id, input: { reason: "OTHER" } });
  const returning = {
    kind: "RETURN_REFUND",
    reason: "UNWANTED",
    lines: [{ lineId, quantity: 1 }],
    note: "Too loud.",
  };
  const returned = await askBack(world, "returnRequest", { ...asked, id, input: returning });
  const again = await askBack(world, "returnRequest", { ...asked, id, input: returning });
  const returnId = returned.data?.id;
  await back(world, "returnTrack", { id: returnId });
  await back(world, "returnReceive", { id: returnId, input: { lines: [{ lineId, received: 1 }] } });
  await back(world, "returnInspect", {
    id: returnId,
    input: { lines: [{ lineId, accepted: 1, restock: 1 }] },
  });
  await back(world, "returnClose", { id: returnId });
  await drive(world);
  const answers = [canceled, tooLate, returned, again, await send(world, "orderConfirm", { id })];
  expect(answers.map(({ error }) => error?.code)).toEqual([
    undefined,
    "invalid_state",
    undefined,
    "invalid_state",
    "invalid_state",
  ]);
  return answers;
}
