/**
 * The recipes of `trigger`. For each event type, a recipe makes an event of this type happen with real
 * objects. A recipe also causes other events on the way, for example `cart.created` before `order.placed`.
 */
import { afterSalesRecipes } from "./trigger-after-sales.ts";
import {
  completeOrder,
  createCart,
  createCartWithAddress,
  firstLine,
  openSession,
  type OrderView,
  paymentId,
  placeOrder,
  placePaidOrder,
  readCart,
  setQuantity,
  submitSession,
} from "./trigger-purchases.ts";
import { catalogRecipes } from "./trigger-catalog.ts";
import { type Recipe, type Shop, step, type StepResult } from "./trigger-steps.ts";

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

/** Creates a cart with a promotion code whose promotion requires two units of the variant. */
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
  const input = {
    amount: { amountMinor: 100, currency },
    reason: "REQUESTED_BY_CUSTOMER",
    note: "Triggered",
  };
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

export const recipes: ReadonlyMap<string, Recipe> = new Map(
  Object.entries({
    ...cartRecipes,
    ...checkoutRecipes,
    ...orderRecipes,
    ...afterSalesRecipes,
    ...catalogRecipes,
  }).toSorted(([one], [other]) => (one < other ? -1 : 1)),
);
