/** Carts, checkout sessions and orders for the recipes of `trigger`. */
import { CommandFailed } from "./command-context.js";
import { graph } from "./service.js";
import { cartDocument, orderDocument, sessionDocument, step, waitFor } from "./trigger-steps.js";
const address = {
  recipientName: "Test Buyer",
  line1: "Main Street 1",
  city: "Berlin",
  postalCode: "10115",
  countryCode: "DE",
  email: "buyer@shop.example",
};
/** Addresses of the most common markets. Other markets get the first address with their own country. */
const addressesByCountry = {
  US: { city: "Seattle", postalCode: "98101", regionCode: "US-WA", countryCode: "US" },
  GB: { city: "London", postalCode: "SW1A 1AA", countryCode: "GB" },
};
export const createCart = (shop, quantity = 1) =>
  step(shop, "cartCreate", {
    input: {
      market: shop.market.country,
      locale: shop.locale,
      lines: [{ variantId: shop.variantId, quantity }],
    },
  });
export async function createCartWithAddress(shop, quantity = 1) {
  const cart = await createCart(shop, quantity);
  const { country: countryCode } = shop.market;
  const input = {
    address: { ...address, countryCode, ...addressesByCountry[countryCode] },
    validation: "BASIC",
  };
  await step(shop, "cartAddressSet", { id: cart.id, input });
  return cart;
}
export const setQuantity = (shop, cart, quantity) =>
  step(shop, "cartLinesUpdate", {
    id: cart.id,
    input: { lines: [{ lineId: cart.lines[0]?.id, quantity }] },
  });
export async function readCart(shop, id) {
  const { cart } = await graph(shop.target, cartDocument, { id });
  if (cart === null) throw new CommandFailed(`There is no cart ${id}.`);
  return cart;
}
/** Opens a checkout session for a cart with an address, a delivery option and optionally a promotion code. */
export async function openSession(shop, { quantity = 1, code } = {}) {
  const { id: cartId } = await createCartWithAddress(shop, quantity);
  if (code !== undefined) await step(shop, "cartPromotionApply", { id: cartId, input: { code } });
  const option = (await readCart(shop, cartId)).delivery?.options[0];
  if (option === undefined)
    throw new CommandFailed(
      `The merchant has no delivery method for ${shop.market.country}. Create one first.`,
    );
  await step(shop, "cartDeliveryOptionSelect", { id: cartId, input: { optionId: option.id } });
  const input = {
    cartId,
    successUrl: "https://shop.example/thanks",
    cancelUrl: "https://shop.example/cart",
  };
  return step(shop, "hostedCheckoutSessionCreate", { input });
}
/** Pays a session with a test card. */
export async function submitSession(shop, session, paymentToken = "tok_success") {
  const { amountMinor, currency } = session.amountTotal;
  const input = { expectedAmount: { amountMinor, currency }, paymentToken };
  await step(shop, "hostedCheckoutSessionSubmit", { id: session.id, input });
}
export async function readOrder(shop, id) {
  const { order } = await graph(shop.target, orderDocument, { id });
  if (order === null) throw new CommandFailed(`There is no order ${id}.`);
  return order;
}
/** Buys units of the variant and returns the order, whose payment is authorized. */
export async function placeOrder(shop, purchase = {}) {
  const session = await openSession(shop, purchase);
  await submitSession(shop, session);
  const orderId = await waitFor("The payment", shop, async () => {
    const data = await graph(shop.target, sessionDocument, { id: session.id });
    return data.hostedCheckoutSession?.orderId ?? undefined;
  });
  const order = await readOrder(shop, orderId);
  if (order.status !== "PENDING") return order;
  await step(shop, "orderConfirm", { id: orderId });
  return readOrder(shop, orderId);
}
export const firstLine = ({ lines }, quantity = 1) => ({
  lineId: lines[0]?.id,
  quantity,
});
export const paymentId = ({ payments }) => payments[0]?.id ?? "";
/** Places an order and captures its payment. */
export async function placePaidOrder(shop, purchase = {}) {
  const order = await placeOrder(shop, purchase);
  await capture(shop, order);
  return order;
}
export async function capture(shop, order) {
  if ((await paymentStatus(shop, order)) === "CAPTURED") return;
  await step(shop, "paymentCapture", { id: paymentId(order) });
  await waitFor("The capture", shop, async () =>
    (await paymentStatus(shop, order)) === "CAPTURED" ? true : undefined,
  );
}
const paymentStatus = async (shop, { id }) => (await readOrder(shop, id)).payments[0]?.status;
const fulfillmentSteps = ["fulfillmentPack", "fulfillmentShip", "fulfillmentDeliver"];
/** Creates a fulfillment of the whole order and makes the first `steps` of: pack, ship, deliver. */
export async function fulfill(shop, order, { steps, type = "SHIPPING" }) {
  const { id } = await step(shop, "fulfillmentCreate", { id: order.id, input: { type } });
  await moveFulfillment(shop, id, steps);
  return id;
}
export async function moveFulfillment(shop, id, steps) {
  for (const name of fulfillmentSteps.slice(0, steps)) await step(shop, name, { id });
}
/** Places an order that is paid and delivered, and therefore completed. */
export async function completeOrder(shop, purchase = {}) {
  const order = await placePaidOrder(shop, purchase);
  await fulfill(shop, order, { steps: 3 });
  return order;
}
