/**
 * The steps from which the recipes of `trigger` are made: mutations of the service's GraphQL schema, with
 * which a merchant's frontend and staff create carts, orders and other objects.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { CommandFailed } from "./command-context.ts";
import { graph, type Target } from "./service.ts";

/**
 * For each mutation: the name of the argument with the object's id (null if there is none), the type of the
 * input, and the fields to select.
 */
const mutations = {
  cartCreate: [null, "CartCreateInput!", "id version lines { id quantity }"],
  cartLinesUpdate: ["cartId", "CartLinesUpdateInput!", "id version"],
  cartAddressSet: ["cartId", "PublicCartAddressSetRequest!", "cartVersion"],
  cartDeliveryOptionSelect: ["cartId", "CartDeliveryOptionSelectInput!", "id version"],
  cartMerge: ["cartId", "CartMergeInput!", "id version"],
  cartPromotionApply: ["cartId", "PublicCartPromotionApplyRequest!", "cartVersion"],
  cartPromotionRemove: ["cartId", "PublicCartTransitionRequest!", "cartVersion"],
  cartRevoke: ["cartId", "PublicCartTransitionRequest!", "id"],
  hostedCheckoutSessionCreate: [
    null,
    "HostedCheckoutSessionCreateInput!",
    "id amountTotal { amountMinor currency }",
  ],
  hostedCheckoutSessionCancel: ["sessionId", "HostedCheckoutCancelRequest!", "id"],
  hostedCheckoutSessionSubmit: ["sessionId", "HostedCheckoutSessionSubmitInput!", "id"],
  orderConfirm: ["orderId", "OrderStepInput!", "id"],
  orderHold: ["orderId", "OrderHoldInput!", "id"],
  orderRelease: ["orderId", "OrderStepInput!", "id"],
  orderCancel: ["orderId", "OrderCancelInput!", "id"],
  orderCancellationDecline: ["orderId", "OrderCancellationAnswerInput!", "id"],
  paymentCapture: ["paymentId", "PaymentCaptureInput!", "id"],
  paymentVoid: ["paymentId", "PaymentVoidInput!", "id"],
  paymentDisputeOpen: ["paymentId", "PaymentDisputeOpenInput!", "id"],
  paymentDisputeClose: ["paymentId", "PaymentDisputeCloseInput!", "id"],
  refundCreate: ["orderId", "RefundCreateInput!", "id"],
  fulfillmentCreate: ["orderId", "FulfillmentCreateInput!", "id"],
  fulfillmentPack: ["fulfillmentId", "FulfillmentStepInput!", "id"],
  fulfillmentShip: ["fulfillmentId", "FulfillmentShipInput!", "id"],
  fulfillmentTrack: ["fulfillmentId", "FulfillmentTrackInput!", "id"],
  fulfillmentDeliver: ["fulfillmentId", "FulfillmentStepInput!", "id"],
  fulfillmentFail: ["fulfillmentId", "FulfillmentStepInput!", "id"],
  fulfillmentCancel: ["fulfillmentId", "FulfillmentStepInput!", "id"],
  returnRequest: ["orderId", "ReturnRequestInput!", "id status lines { lineId quantity } fulfillmentIds"],
  returnApprove: ["returnId", "ReturnTransitionInput!", "id"],
  returnDecline: ["returnId", "ReturnDeclineInput!", "id"],
  returnTrack: ["returnId", "ReturnTransitionInput!", "id"],
  returnReceive: ["returnId", "ReturnReceiveInput!", "id"],
  returnInspect: ["returnId", "ReturnInspectInput!", "id"],
  returnClose: ["returnId", "ReturnTransitionInput!", "id"],
  returnCancel: ["returnId", "ReturnTransitionInput!", "id"],
  warrantyRegister: ["orderId", "WarrantyRegisterInput!", "id"],
  warrantyClaimOpen: ["warrantyId", "WarrantyClaimOpenInput!", "id claims { id }"],
  warrantyClaimResolve: ["claimId", "WarrantyClaimResolveInput!", "id"],
  promotionCreate: [null, "PromotionCreateInput!", "id"],
  promotionUpdate: [null, "PromotionUpdateInput!", "id"],
  promotionActivate: [null, "PromotionTransitionInput!", "id"],
  promotionEnd: [null, "PromotionTransitionInput!", "id"],
  promotionCodesGenerate: [null, "PromotionCodesGenerateInput!", "codes { id }"],
  productCreate: [null, "ProductCreateInput!", "id"],
  productUpdate: [null, "ProductUpdateInput!", "id"],
  productTranslationUpsert: [null, "ProductTranslationUpsertInput!", "id"],
  variantUpsert: [null, "VariantUpsertInput!", "id variants { id }"],
  pricesSet: [null, "PricesSetInput!", "id"],
  stockAdjust: [null, "StockAdjustInput!", "id"],
  productPublish: [null, "ProductTransitionInput!", "id"],
  productUnpublish: [null, "ProductTransitionInput!", "id"],
  productDelete: [null, "ProductTransitionInput!", "__typename"],
  apiKeyCreate: [null, "ApiKeyCreateInput!", "apiKey { id }"],
  apiKeyRotate: [null, "ApiKeyRotateInput!", "apiKey { id }"],
  apiKeyRevoke: [null, "ApiKeyRevokeInput!", "id"],
  webhookEndpointCreate: ["installationId", "PublicWebhookCreateRequest!", "endpoint { id }"],
  webhookSecretRotate: ["endpointId", "WebhookSecretRotateInput!", "endpoint { id }"],
  webhookEndpointDelete: ["endpointId", "WebhookEndpointTransitionInput!", "__typename"],
} as const satisfies Readonly<Record<string, readonly [string | null, string, string]>>;
export type MutationName = keyof typeof mutations;

/** Returns the GraphQL document of a mutation. Its variables are `key`, `input` and, for most mutations, `id`. */
export function createMutationDocument(name: MutationName): string {
  const [target, type, selection] = mutations[name];
  const [variable, argument] = target === null ? ["", ""] : ["$id: ID!, ", `${target}: $id, `];
  return (
    `mutation Trigger(${variable}$key: String!, $input: ${type}) ` +
    `{ result: ${name}(${argument}idempotencyKey: $key, input: $input) { ${selection} } }`
  );
}

export const mutationNames = Object.keys(mutations) as readonly MutationName[];

export interface Call {
  /** The id of the object that the mutation changes. */
  readonly id?: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

/** The objects in a mutation's answer that recipes use. A field is absent if the mutation does not select it. */
export interface StepResult {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly fulfillmentIds: readonly string[];
  readonly lines: readonly { readonly id: string; readonly lineId: string; readonly quantity: number }[];
  readonly variants: readonly { readonly id: string }[];
  readonly claims: readonly { readonly id: string }[];
  readonly amountTotal: { readonly amountMinor: number; readonly currency: string };
  readonly apiKey: { readonly id: string };
  readonly endpoint: { readonly id: string };
}

export const shopDocument = `query TriggerShop {
  viewer { role api { serverTime } merchant { id mode defaultMarket defaultLocale markets { id countries currency defaultLocale } } }
  installations(first: 1) { edges { node { id } } }
  products(status: PUBLISHED, stock: IN_STOCK, first: 50) {
    edges { node { variants { id restrictions requiresShipping discontinued prices { market { id } } } } }
  }
}`;

export const orderDocument = `query TriggerOrder($id: ID!) {
  order(id: $id) {
    id version status buyerReference
    lines { id quantities { ordered } }
    payments { id status amount { amountMinor currency } }
  }
}`;

export const sessionDocument = `query TriggerSession($id: ID!) {
  hostedCheckoutSession(id: $id) { id status orderId paymentStatus paymentFailureCode }
}`;

export const cartDocument = `query TriggerCart($id: ID!) {
  cart(id: $id) { id version delivery { options { id } } }
}`;

export const eventDocument = `query TriggerEvents($type: String!, $from: DateTime!) {
  events(type: $type, createdFrom: $from, first: 1) { edges { node { id type subject { type id version } } } }
}`;

export interface Shop {
  readonly target: Target;
  /** The default locale of the market, in which buyers see the shop. */
  readonly locale: string;
  /** The merchant's default locale, in which every product has texts. */
  readonly merchantLocale: string;
  readonly market: { readonly id: string; readonly country: string; readonly currency: string };
  /** A variant in stock that buyers may order and return. */
  readonly variantId: string;
  /** Another variant of the same product; null if the product has none. */
  readonly exchangeVariantId: string | null;
  readonly installationId: string;
  /** A random text in the names of all objects of one run, so that several runs do not disturb each other. */
  readonly run: string;
  readonly signal: AbortSignal;
}

/** A recipe of `trigger`: makes an event of one type happen. */
export type Recipe = (shop: Shop) => Promise<unknown>;

export async function step(
  shop: Shop,
  name: MutationName,
  { id, input = {} }: Call = {},
): Promise<StepResult> {
  const variables = { id, key: randomUUID(), input };
  const data = await graph<{ result: StepResult | StepResult[] }>(
    shop.target,
    createMutationDocument(name),
    variables,
  );
  const [result] = [data.result].flat();
  if (result === undefined) throw new CommandFailed(`The mutation ${name} returned nothing.`);
  return result;
}

const waitMsMax = 30_000;
const pollMs = 100;

/** Repeats `read` until it returns a value, to wait for work that the service does in the background. */
export async function waitFor<Value>(
  what: string,
  { signal }: Pick<Shop, "signal">,
  read: () => Promise<Value | undefined>,
): Promise<Value> {
  for (const endsAt = performance.now() + waitMsMax; performance.now() < endsAt;) {
    const value = await read();
    if (value !== undefined) return value;
    signal.throwIfAborted();
    await wait(pollMs);
  }
  throw new CommandFailed(
    `${what} did not happen within ${waitMsMax / 1000} s. Does a worker of the service run?`,
  );
}
