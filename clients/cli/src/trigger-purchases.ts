/** Carts, checkout sessions and orders for the recipes of `trigger`. */
import { CommandFailed } from "./command-context.ts";
import { graph } from "./service.ts";
import {
  cartDocument,
  orderDocument,
  sessionDocument,
  type Shop,
  step,
  type StepResult,
  waitFor,
} from "./trigger-steps.ts";

const address = {
  recipientName: "Test Buyer",
  line1: "Main Street 1",
  city: "Berlin",
  postalCode: "10115",
  countryCode: "DE",
  email: "buyer@shop.example",
};

/**
 * Addresses in the most common countries. For any other country, the German address above is used with the
 * country's code.
 */
const addressesByCountry: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  US: { city: "Seattle", postalCode: "98101", regionCode: "US-WA", countryCode: "US" },
  GB: { city: "London", postalCode: "SW1A 1AA", countryCode: "GB" },
};

export const createCart = (shop: Shop, quantity = 1): Promise<StepResult> =>
  step(shop, "cartCreate", {
    input: {
      market: shop.market.country,
      locale: shop.locale,
      lines: [{ variantId: shop.variantId, quantity }],
    },
  });

export async function createCartWithAddress(shop: Shop, quantity = 1): Promise<StepResult> {
  const cart = await createCart(shop, quantity);
  const { country: countryCode } = shop.market;
  const input = {
    address: { ...address, countryCode, ...addressesByCountry[countryCode] },
    validation: "BASIC",
  };
  await step(shop, "cartAddressSet", { id: cart.id, input });
  return cart;
}

export const setQuantity = (shop: Shop, cart: StepResult, quantity: number): Promise<StepResult> =>
  step(shop, "cartLinesUpdate", {
    id: cart.id,
    input: { lines: [{ lineId: cart.lines[0]?.id, quantity }] },
  });

interface CartView {
  readonly version: number;
  readonly delivery: { readonly options: readonly { readonly id: string }[] } | null;
}

export async function readCart(shop: Shop, id: string): Promise<CartView> {
  const { cart } = await graph<{ cart: CartView | null }>(shop.target, cartDocument, { id });
  if (cart === null) throw new CommandFailed(`There is no cart ${id}.`);
  return cart;
}

/**
 * Creates a cart with an address, a delivery option and optionally a promotion code, and opens a checkout
 * session for it.
 */
export async function openSession(
  shop: Shop,
  { quantity = 1, code }: { readonly quantity?: number; readonly code?: string | undefined } = {},
): Promise<StepResult> {
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

/** Submits a checkout session, paying with a test card. */
export async function submitSession(
  shop: Shop,
  session: StepResult,
  paymentToken = "tok_success",
): Promise<void> {
  const { amountMinor, currency } = session.amountTotal;
  const input = { expectedAmount: { amountMinor, currency }, paymentToken };
  await step(shop, "hostedCheckoutSessionSubmit", { id: session.id, input });
}

export interface OrderView {
  readonly id: string;
  readonly status: string;
  readonly lines: readonly { readonly id: string; readonly quantities: { readonly ordered: number } }[];
  readonly payments: readonly {
    readonly id: string;
    readonly status: string;
    readonly amount: { readonly amountMinor: number; readonly currency: string };
  }[];
}

export async function readOrder(shop: Shop, id: string): Promise<OrderView> {
  const { order } = await graph<{ order: OrderView | null }>(shop.target, orderDocument, { id });
  if (order === null) throw new CommandFailed(`There is no order ${id}.`);
  return order;
}

interface Purchase {
  readonly quantity?: number;
  readonly code?: string;
}

/** Buys units of the variant and returns the order, whose payment is authorized. */
export async function placeOrder(shop: Shop, purchase: Purchase = {}): Promise<OrderView> {
  const session = await openSession(shop, purchase);
  await submitSession(shop, session);
  const orderId = await waitFor("The payment", shop, async () => {
    const data = await graph<{ hostedCheckoutSession: { orderId: string | null } | null }>(
      shop.target,
      sessionDocument,
      { id: session.id },
    );
    return data.hostedCheckoutSession?.orderId ?? undefined;
  });
  const order = await readOrder(shop, orderId);
  if (order.status !== "PENDING") return order;
  await step(shop, "orderConfirm", { id: orderId });
  return readOrder(shop, orderId);
}

export const firstLine = (
  { lines }: OrderView,
  quantity = 1,
): { lineId: string | undefined; quantity: number } => ({
  lineId: lines[0]?.id,
  quantity,
});

export const paymentId = ({ payments }: OrderView): string => payments[0]?.id ?? "";

/** Places an order and captures its payment. */
export async function placePaidOrder(shop: Shop, purchase: Purchase = {}): Promise<OrderView> {
  const order = await placeOrder(shop, purchase);
  await capture(shop, order);
  return order;
}

export async function capture(shop: Shop, order: OrderView): Promise<void> {
  if ((await paymentStatus(shop, order)) === "CAPTURED") return;
  await step(shop, "paymentCapture", { id: paymentId(order) });
  await waitFor("The capture", shop, async () =>
    (await paymentStatus(shop, order)) === "CAPTURED" ? true : undefined,
  );
}

const paymentStatus = async (shop: Shop, { id }: OrderView): Promise<string | undefined> =>
  (await readOrder(shop, id)).payments[0]?.status;

const fulfillmentSteps = ["fulfillmentPack", "fulfillmentShip", "fulfillmentDeliver"] as const;

/** Creates a fulfillment of the whole order and makes the first `steps` of: pack, ship, deliver. */
export async function fulfill(
  shop: Shop,
  order: OrderView,
  { steps, type = "SHIPPING" }: { readonly steps: 0 | 1 | 2 | 3; readonly type?: "SHIPPING" | "PICKUP" },
): Promise<string> {
  const { id } = await step(shop, "fulfillmentCreate", { id: order.id, input: { type } });
  await moveFulfillment(shop, id, steps);
  return id;
}

export async function moveFulfillment(shop: Shop, id: string, steps: 0 | 1 | 2 | 3): Promise<void> {
  for (const name of fulfillmentSteps.slice(0, steps)) await step(shop, name, { id });
}

/** Places an order that is paid and delivered, and therefore completed. */
export async function completeOrder(shop: Shop, purchase: Purchase = {}): Promise<OrderView> {
  const order = await placePaidOrder(shop, purchase);
  await fulfill(shop, order, { steps: 3 });
  return order;
}
