/**
 * Creates the requests of a checkout: prepare a cart, and create, submit, cancel and read its checkout
 * session.
 */
import {
  createAddressWrite,
  type SendRequest,
  type CartState,
  createCartWrite,
  requireData,
  createGraphqlWrite,
  openCart,
  parseAnswer,
  createRestWrite,
  type Shop,
  type ParsedAnswer,
  type Write,
} from "./shop.ts";

export interface Checkout {
  readonly sessionId: string;
  readonly cartId: string;
  readonly amountTotal: { readonly amountMinor: number; readonly currency: string };
}

export interface SessionState {
  readonly status: "OPEN" | "PROCESSING" | "COMPLETED" | "CANCELED" | "EXPIRED";
  readonly orderId: string | null;
}

const sendWrite = async (ask: SendRequest, { request }: Write): Promise<ParsedAnswer> =>
  parseAnswer(await ask(request));

/** Creates a cart with lines, an address, a delivery option and, if given, a promotion code. */
export async function createReadyCart(ask: SendRequest, shop: Shop, code?: string): Promise<string> {
  const { id } = await openCart(ask, shop);
  requireData(await sendWrite(ask, createAddressWrite(shop, id)));
  const { delivery } = requireData(
    await sendWrite(
      ask,
      createCartWrite(shop, { mutation: "cartLinesAdd", input: oneMore(shop), cartId: id }),
    ),
  )["cartLinesAdd"] as CartState;
  const [option] = delivery?.options ?? [];
  const input = { optionId: option?.id };
  requireData(
    await sendWrite(ask, createCartWrite(shop, { mutation: "cartDeliveryOptionSelect", input, cartId: id })),
  );
  if (code !== undefined)
    requireData(
      await sendWrite(
        ask,
        createRestWrite(shop, { method: "PUT", cartId: id, path: "/promotion", body: { code } }),
      ),
    );
  return id;
}

const oneMore = ({ variantIds }: Shop): object => ({ lines: [{ variantId: variantIds[1], quantity: 1 }] });

const sessionFields = "id cartId amountTotal { amountMinor currency }";

export function createSessionWrite(shop: Shop, cartId: string): Write {
  const query = `mutation ($key: String, $input: HostedCheckoutSessionCreateInput!) {
    hostedCheckoutSessionCreate(idempotencyKey: $key, input: $input) { ${sessionFields} } }`;
  const input = { cartId, successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };
  return createGraphqlWrite(shop, { token: "storefront", query, variables: { input } });
}

export function toCheckout(answer: ParsedAnswer): Checkout {
  const { id: sessionId, ...session } = requireData(answer)["hostedCheckoutSessionCreate"] as Omit<
    Checkout,
    "sessionId"
  > & { readonly id: string };
  return { sessionId, ...session };
}

export async function openCheckout(ask: SendRequest, shop: Shop, code?: string): Promise<Checkout> {
  return toCheckout(await sendWrite(ask, createSessionWrite(shop, await createReadyCart(ask, shop, code))));
}

export function createSubmitWrite(
  shop: Shop,
  { sessionId, amountTotal }: Checkout,
  paymentToken = "tok_success",
): Write {
  const query = `mutation ($sessionId: ID!, $key: String!, $input: HostedCheckoutSessionSubmitInput!) {
    hostedCheckoutSessionSubmit(sessionId: $sessionId, idempotencyKey: $key, input: $input) { status orderId } }`;
  return createGraphqlWrite(shop, {
    token: "storefront",
    query,
    variables: { sessionId, input: { expectedAmount: amountTotal, paymentToken } },
  });
}

export function createCancelWrite(shop: Shop, { sessionId }: Checkout): Write {
  const query = `mutation ($sessionId: ID!, $key: String!, $input: HostedCheckoutCancelRequest!) {
    hostedCheckoutSessionCancel(sessionId: $sessionId, idempotencyKey: $key, input: $input) { status } }`;
  return createGraphqlWrite(shop, {
    token: "storefront",
    query,
    variables: { sessionId, input: { reason: "BUYER_CHANGED_MIND" } },
  });
}

export async function readSession(ask: SendRequest, shop: Shop, sessionId: string): Promise<SessionState> {
  const query = "query ($id: ID!) { hostedCheckoutSession(id: $id) { status orderId } }";
  return requireData(
    await sendWrite(
      ask,
      createGraphqlWrite(shop, { token: "storefront", query, variables: { id: sessionId } }),
    ),
  )["hostedCheckoutSession"] as SessionState;
}

const makePromotion = `mutation ($key: String!, $input: PromotionCreateInput!) {
  promotionCreate(idempotencyKey: $key, input: $input) { id }
}`;
const makeCodes = `mutation ($key: String!, $input: PromotionCodesGenerateInput!) {
  promotionCodesGenerate(idempotencyKey: $key, input: $input) { codes { code } }
}`;
const activate = `mutation ($key: String!, $id: ID!) {
  promotionActivate(idempotencyKey: $key, input: { promotionId: $id }) { status }
}`;

/** Creates a promotion code for 10 % off that can be used once. */
export async function createSingleUseCode(ask: SendRequest, shop: Shop, code: string): Promise<void> {
  const admin = async (
    query: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>>> =>
    requireData(await sendWrite(ask, createGraphqlWrite(shop, { token: "admin", query, variables })));
  const promotion = {
    trigger: "CODE",
    kind: "PERCENTAGE",
    basisPoints: 1000,
    usageLimit: 1,
    titles: [{ locale: "en", text: "Off" }],
  };
  const { promotionCreate } = await admin(makePromotion, { input: promotion });
  const { id } = promotionCreate as { readonly id: string };
  await admin(makeCodes, { input: { promotionId: id, codes: [code] } });
  await admin(activate, { id });
}
