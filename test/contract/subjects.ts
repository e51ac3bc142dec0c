/** What sound requests are about: made anew for each, so that its state allows what is asked. */
import { type Ask, dataOf, graphqlWrite, openCart, readAnswer, restWrite, type Shop } from "#soak/shop.ts";
import { openCheckout } from "#soak/checkout-shop.ts";
import type { DocumentOperation } from "./document.ts";
import type { Ground, Parts } from "./ground.ts";
import type { Heard } from "./wire.ts";

export interface Market {
  readonly ask: Ask;
  readonly shop: Shop;
  readonly ground: Ground;
}

/** Null: the demo's own things will do. */
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
  const write = restWrite(shop, { method: "PUT", cartId, path: "/promotion", body: { code: shop.codes[0] } });
  const { cartVersion } = dataOf(readAnswer(await ask(write.asked))) as { readonly cartVersion: number };
  return { path: { cartId }, body: { expectedVersion: cartVersion } };
}

/** An installation has few endpoints: what was made goes again. */
export async function putAway(
  { ask, shop }: Market,
  { id: operationId }: DocumentOperation,
  { json }: Heard,
): Promise<void> {
  if (operationId !== "createInstallationWebhook") return;
  const { data } = json as {
    readonly data?: { readonly endpoint: { readonly id: string; readonly version: number } };
  };
  if (data === undefined) return;
  const query = `mutation ($endpointId: ID!, $key: String!, $input: WebhookEndpointTransitionInput!) {
    webhookEndpointDelete(endpointId: $endpointId, idempotencyKey: $key, input: $input) { endpointId } }`;
  const { asked } = graphqlWrite(shop, {
    token: "admin",
    query,
    variables: { endpointId: data.endpoint.id, input: {} },
  });
  dataOf(readAnswer(await ask(asked)));
}

/**
 * What sound requests may be refused with all the same: a code that is over, a delivery that was replayed
 * often enough.
 */
export const soundRefusals: Readonly<Record<string, readonly string[]>> = {
  applyPublicCartPromotion: ["promotion_not_applicable"],
  replayInstallationWebhookDelivery: ["delivery_replay_limit_reached", "delivery_in_progress"],
};

/**
 * What the document's schemas allow and the service refuses with 400 all the same, as field and rule:
 * whatever is not of these the document must say.
 */
export const rulesBesideSchemas: Readonly<Record<string, RegExp>> = {
  applyPublicCartPromotion: /^\/code (?:control_character|pattern_mismatch|too_short)$/,
  setPublicCartAddress:
    /^\/address\/\w+ (?:control_character|emoji|html|pattern_mismatch|required|too_short|unknown_country|unknown_region|region_postal_code_mismatch)$/,
  createInstallationWebhook:
    /^(?:\/url (?:\w+_not_allowed|malformed_\w+|too_long|https_required|host_not_canonical|special_use_name|single_label)|\/eventTypes\/\d+ (?:unknown|not_alone)|\/metadata (?:control_character|too_short))$/,
  replayInstallationWebhookDelivery: /^\/note control_character$/,
};
