/**
 * The recipes of `trigger`: how each event type is made to happen with real objects. A recipe causes further
 * events on the way, for example `cart.created` before `order.placed`.
 */
import { CommandFailed } from "./command-context.ts";
import {
  completeOrder,
  createCart,
  createCartWithAddress,
  firstLine,
  fulfill,
  moveFulfillment,
  openSession,
  type OrderView,
  paymentId,
  placeOrder,
  placePaidOrder,
  readCart,
  setQuantity,
  submitSession,
} from "./trigger-purchases.ts";
import { catalogRecipes, withProduct } from "./trigger-catalog.ts";
import { type MutationName, type Shop, step, type StepResult } from "./trigger-steps.ts";

export type Recipe = (shop: Shop) => Promise<unknown>;

/** Creates an active promotion of 10 % with a code, and returns its id and the code. */
async function createPromotion(
  shop: Shop,
  terms: Readonly<Record<string, unknown>> = {},
): Promise<{ id: string; code: string }> {
  const input = {
    trigger: "CODE",
    kind: "PERCENTAGE",
    basisPoints: 1000,
    titles: [{ locale: shop.locale, text: `Triggered ${shop.run}` }],
    ...terms,
  };
  const { id } = await step(shop, "promotionCreate", { input });
  const code = `TRIGGER-${shop.run}`.toUpperCase();
  await step(shop, "promotionCodesGenerate", { input: { promotionId: id, codes: [code] } });
  await step(shop, "promotionActivate", { input: { promotionId: id } });
  return { id, code };
}

/** Creates a cart with a promotion that requires two units of the variant. */
async function createCartWithPromotion(shop: Shop): Promise<StepResult> {
  const { code } = await createPromotion(shop, { minimumQuantity: 2 });
  const cart = await createCart(shop, 2);
  await step(shop, "cartPromotionApply", { id: cart.id, input: { code } });
  return cart;
}

const cartRecipes: Readonly<Record<string, Recipe>> = {
  "cart.created": (shop) => createCart(shop),
  "cart.updated": async (shop) => setQuantity(shop, await createCart(shop), 2),
  "cart.address_set": (shop) => createCartWithAddress(shop),
  "cart.promotion_applied": createCartWithPromotion,
  "cart.promotion_removed": async (shop) => {
    const { id } = await createCartWithPromotion(shop);
    const { version: expectedVersion } = await readCart(shop, id);
    await step(shop, "cartPromotionRemove", { id, input: { expectedVersion } });
  },
  "cart.promotion_suspended": async (shop) => setQuantity(shop, await createCartWithPromotion(shop), 1),
  "cart.promotion_restored": async (shop) => {
    const cart = await createCartWithPromotion(shop);
    await setQuantity(shop, cart, 1);
    await setQuantity(shop, cart, 2);
  },
  "cart.revoked": async (shop) => {
    const { id, version: expectedVersion } = await createCart(shop);
    await step(shop, "cartRevoke", { id, input: { expectedVersion, reason: "TEST" } });
  },
  "cart.merged": async (shop) => {
    const [{ id }, source] = [await createCart(shop), await createCart(shop)];
    await step(shop, "cartMerge", { id, input: { sourceCartId: source.id } });
  },
  "promotion.started": (shop) => createPromotion(shop),
  "promotion.updated": async (shop) => {
    const { id } = await createPromotion(shop);
    await step(shop, "promotionUpdate", { input: { promotionId: id, basisPoints: 500 } });
  },
  "promotion.ended": async (shop) => {
    const { id } = await createPromotion(shop);
    await step(shop, "promotionEnd", { input: { promotionId: id } });
  },
  "promotion.exhausted": async (shop) => {
    const { code } = await createPromotion(shop, { usageLimit: 1 });
    await placeOrder(shop, { code });
  },
};

async function cancelSession(shop: Shop): Promise<void> {
  const { id } = await openSession(shop);
  await step(shop, "hostedCheckoutSessionCancel", { id, input: { reason: "TEST" } });
}

async function declinePayment(shop: Shop): Promise<void> {
  await submitSession(shop, await openSession(shop), "tok_decline");
}

const checkoutRecipes: Readonly<Record<string, Recipe>> = {
  "cart.locked": (shop) => openSession(shop),
  "cart.unlocked": cancelSession,
  "cart.completed": (shop) => placeOrder(shop),
  "checkout_session.created": (shop) => openSession(shop),
  "checkout_session.processing": (shop) => placeOrder(shop),
  "checkout_session.completed": (shop) => placeOrder(shop),
  "checkout_session.canceled": cancelSession,
  "checkout_session.payment_failed": declinePayment,
  "payment.authorized": (shop) => placeOrder(shop),
  "payment.captured": (shop) => placePaidOrder(shop),
  "payment.failed": declinePayment,
  "payment.canceled": async (shop) => {
    const order = await placeOrder(shop);
    await step(shop, "paymentVoid", { id: paymentId(order) });
  },
  "payment.disputed": openDispute,
  "payment.dispute_closed": async (shop) => {
    const order = await openDispute(shop);
    await step(shop, "paymentDisputeClose", { id: paymentId(order), input: { outcome: "WON" } });
  },
  "refund.created": refund,
  "refund.succeeded": refund,
};

async function openDispute(shop: Shop): Promise<OrderView> {
  const order = await placePaidOrder(shop);
  await step(shop, "paymentDisputeOpen", { id: paymentId(order), input: { reason: "NOT_RECEIVED" } });
  return order;
}

async function refund(shop: Shop): Promise<void> {
  const order = await placePaidOrder(shop);
  const { currency } = shop.market;
  const input = { amount: { amountMinor: 100, currency }, reason: "REQUESTED_BY_CUSTOMER", note: "Triggered" };
  await step(shop, "refundCreate", { id: order.id, input });
}

const cancelOrder = async (shop: Shop, order: OrderView, lines: unknown = null): Promise<StepResult> =>
  step(shop, "orderCancel", { id: order.id, input: { lines, reason: "CHANGED_MIND" } });

const orderRecipes: Readonly<Record<string, Recipe>> = {
  "order.placed": (shop) => placeOrder(shop),
  "order.confirmed": (shop) => placeOrder(shop),
  "order.on_hold": holdOrder,
  "order.updated": async (shop) => {
    const { id } = await holdOrder(shop);
    await step(shop, "orderRelease", { id });
  },
  "order.completed": (shop) => completeOrder(shop),
  "order.canceled": async (shop) => cancelOrder(shop, await placeOrder(shop)),
  "order.partially_canceled": async (shop) => {
    const order = await placeOrder(shop, { quantity: 2 });
    await cancelOrder(shop, order, [firstLine(order)]);
  },
};

async function holdOrder(shop: Shop): Promise<OrderView> {
  const order = await placeOrder(shop);
  await step(shop, "orderHold", { id: order.id, input: { reason: "Triggered" } });
  return order;
}

/** Makes a fulfillment that has gone through the first `steps`, and then calls a mutation with it. */
const fulfilled =
  (
    steps: 0 | 1 | 2 | 3,
    last?: { readonly name: MutationName; readonly status?: string; readonly type?: "PICKUP" },
  ): Recipe =>
  async (shop) => {
    const order = await placePaidOrder(shop);
    const id = await fulfill(shop, order, { steps, type: last?.type ?? "SHIPPING" });
    if (last === undefined) return;
    await step(shop, last.name, { id, input: last.status === undefined ? {} : { status: last.status } });
  };

const fulfillmentRecipes: Readonly<Record<string, Recipe>> = {
  "fulfillment.created": fulfilled(0),
  "fulfillment.packed": fulfilled(1),
  "fulfillment.shipped": fulfilled(2),
  "fulfillment.in_transit": fulfilled(2, { name: "fulfillmentTrack", status: "IN_TRANSIT" }),
  "fulfillment.ready_for_pickup": fulfilled(1, {
    name: "fulfillmentTrack",
    status: "READY_FOR_PICKUP",
    type: "PICKUP",
  }),
  "fulfillment.delivered": fulfilled(3),
  "fulfillment.failed": fulfilled(2, { name: "fulfillmentFail" }),
  "fulfillment.returned_to_sender": fulfilled(2, { name: "fulfillmentTrack", status: "RETURNED_TO_SENDER" }),
  "fulfillment.canceled": fulfilled(0, { name: "fulfillmentCancel" }),
};

async function requestReturn(shop: Shop, more: Readonly<Record<string, unknown>> = {}): Promise<StepResult> {
  const order = await completeOrder(shop);
  const input = { kind: "RETURN_REFUND", lines: [firstLine(order)], reason: "UNWANTED", method: "MAIL", ...more };
  return step(shop, "returnRequest", { id: order.id, input });
}

const returnSteps: readonly ((shop: Shop, request: StepResult) => Promise<unknown>)[] = [
  async (shop, { id, status }) => {
    if (status === "REQUESTED") await step(shop, "returnApprove", { id });
  },
  (shop, { id }) => step(shop, "returnTrack", { id }),
  (shop, { id, lines }) =>
    step(shop, "returnReceive", {
      id,
      input: { lines: lines.map(({ lineId, quantity }) => ({ lineId, received: quantity })) },
    }),
  (shop, { id, lines }) =>
    step(shop, "returnInspect", {
      id,
      input: { lines: lines.map(({ lineId, quantity: accepted }) => ({ lineId, accepted, restock: accepted })) },
    }),
  (shop, { id }) => step(shop, "returnClose", { id }),
];

/** Requests a return and makes the first `count` of: approve, track, receive, inspect, close. */
const returned =
  (count: number, more: Readonly<Record<string, unknown>> = {}): ((shop: Shop) => Promise<StepResult>) =>
  async (shop) => {
    const request = await requestReturn(shop, more);
    for (const next of returnSteps.slice(0, count)) await next(shop, request);
    return request;
  };

/** Requests an exchange for another variant of the product, and makes the first `count` steps of the return. */
async function exchange(shop: Shop, count: number): Promise<StepResult> {
  const { exchangeVariantId } = shop;
  if (exchangeVariantId === null)
    throw new CommandFailed("The merchant has no product in stock with two variants, which an exchange needs.");
  return returned(count, { kind: "EXCHANGE", reason: "COLOR", exchangeVariantId })(shop);
}

/** Makes an exchange whose replacement is delivered after the returned unit was inspected. */
async function completeExchange(shop: Shop): Promise<void> {
  const { id, fulfillmentIds } = await exchange(shop, 4);
  for (const fulfillmentId of fulfillmentIds) await moveFulfillment(shop, fulfillmentId, 3);
  await step(shop, "returnClose", { id });
}

/** Returns an opened article with a hygiene seal, about which the merchant decides. */
const declineReturn = withProduct(
  async (shop, { variantId }) => {
    const { id } = await requestReturn({ ...shop, variantId });
    await step(shop, "returnDecline", { id, input: { reason: "The seal is broken." } });
  },
  ["HYGIENE_SEALED"],
);

async function registerWarranty(shop: Shop): Promise<string> {
  const order = await completeOrder(shop);
  const input = { lineId: order.lines[0]?.id, serialNumber: `SN-${shop.run}` };
  return (await step(shop, "warrantyRegister", { id: order.id, input })).id;
}

const openClaim = async (shop: Shop): Promise<StepResult> =>
  step(shop, "warrantyClaimOpen", {
    id: await registerWarranty(shop),
    input: { kind: "REPAIR", description: "Triggered" },
  });

const returnRecipes: Readonly<Record<string, Recipe>> = {
  "return.requested": returned(0),
  "return.approved": returned(1),
  "return.in_transit": returned(2),
  "return.received": returned(3),
  "return.inspected": returned(4),
  "return.closed": returned(5),
  "return.declined": declineReturn,
  "exchange.created": (shop) => exchange(shop, 1),
  "exchange.completed": completeExchange,
  "return.canceled": async (shop) => step(shop, "returnCancel", { id: (await requestReturn(shop)).id }),
  "warranty.registered": registerWarranty,
  "warranty.claim_opened": openClaim,
  "warranty.claim_resolved": async (shop) =>
    step(shop, "warrantyClaimResolve", {
      id: (await openClaim(shop)).claims[0]?.id ?? "",
      input: { outcome: "ACCEPTED", resolution: "Triggered" },
    }),
};

export const recipes: ReadonlyMap<string, Recipe> = new Map(
  Object.entries({
    ...cartRecipes,
    ...checkoutRecipes,
    ...orderRecipes,
    ...fulfillmentRecipes,
    ...returnRecipes,
    ...catalogRecipes,
  }).toSorted(([one], [other]) => (one < other ? -1 : 1)),
);
