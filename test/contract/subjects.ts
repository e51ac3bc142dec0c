/** Creates the objects of valid requests anew for each request, so that their state allows the operation. */
import {
  type SendRequest,
  requireData,
  createGraphqlWrite,
  openCart,
  parseAnswer,
  createRestWrite,
  type Shop,
} from "#soak/shop.ts";
import { openCheckout } from "#soak/checkout-shop.ts";
import type { DocumentOperation } from "./document.ts";
import type { Ground, Parts } from "./ground.ts";
import type { WireAnswer } from "./wire.ts";

export interface Market {
  readonly ask: SendRequest;
  readonly shop: Shop;
  readonly ground: Ground;
}

/** Creates the object for an operation; null if the demo's objects suffice. */
export async function subjectOf(
  market: Market,
  { id: operationId }: DocumentOperation,
): Promise<Partial<Parts> | null> {
  if (operationId === "cancelHostedCheckoutSession") {
    const { sessionId } = await openCheckout(market.ask, market.shop);
    return { path: { sessionId }, body: { expectedVersion: 1 } };
  }
  if (operationId === "removePublicCartPromotion") return withCode(market);
  if (operationId === "replayInstallationWebhookDelivery") return { body: { force: true } };
  if (!["setPublicCartAddress", "applyPublicCartPromotion", "revokePublicCart"].includes(operationId))
    return null;
  const { id: cartId, version } = await openCart(market.ask, market.shop);
  return { path: { cartId }, body: { expectedVersion: version } };
}

async function withCode({ ask, shop }: Market): Promise<Partial<Parts>> {
  const { id: cartId } = await openCart(ask, shop);
  const write = createRestWrite(shop, {
    method: "PUT",
    cartId,
    path: "/promotion",
    body: { code: shop.codes[0] },
  });
  const { cartVersion } = requireData(parseAnswer(await ask(write.request))) as {
    readonly cartVersion: number;
  };
  return { path: { cartId }, body: { expectedVersion: cartVersion } };
}

/** Deletes a created endpoint, because the number of endpoints per installation is limited. */
export async function putAway(
  { ask, shop }: Market,
  { id: operationId }: DocumentOperation,
  { json }: WireAnswer,
): Promise<void> {
  if (operationId !== "createInstallationWebhook") return;
  const { data } = json as {
    readonly data?: { readonly endpoint: { readonly id: string; readonly version: number } };
  };
  if (data === undefined) return;
  const query = `mutation ($endpointId: ID!, $key: String!, $input: WebhookEndpointTransitionInput!) {
    webhookEndpointDelete(endpointId: $endpointId, idempotencyKey: $key, input: $input) { endpointId } }`;
  const { request } = createGraphqlWrite(shop, {
    token: "admin",
    query,
    variables: { endpointId: data.endpoint.id, input: {} },
  });
  requireData(parseAnswer(await ask(request)));
}

/** Codes with which valid requests may still be refused, for example an expired code or too many replays. */
export const soundRefusals: Readonly<Record<string, readonly string[]>> = {
  applyPublicCartPromotion: ["promotion_not_applicable"],
  replayInstallationWebhookDelivery: ["delivery_replay_limit_reached", "delivery_in_progress"],
};

/**
 * Fields and rules that the service checks beyond the document's schemas. Every other 400 must follow from
 * the document.
 */
export const rulesBesideSchemas: Readonly<Record<string, RegExp>> = {
  applyPublicCartPromotion: /^\/code (?:control_character|pattern_mismatch|too_short)$/,
  setPublicCartAddress:
    /^\/address\/\w+ (?:control_character|emoji|html|pattern_mismatch|required|too_short|unknown_country|unknown_region|region_postal_code_mismatch)$/,
  createInstallationWebhook:
    /^(?:\/url (?:\w+_not_allowed|malformed_\w+|too_long|https_required|host_not_canonical|special_use_name|single_label)|\/eventTypes\/\d+ (?:unknown|not_alone)|\/metadata (?:control_character|too_short))$/,
  replayInstallationWebhookDelivery: /^\/note control_character$/,
};
