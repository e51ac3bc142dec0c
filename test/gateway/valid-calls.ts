/** A valid request of every operation, and the scope that the contract asks of it: written by hand from the contract, not from the service. */
import type { Scope } from "#access/viewer.ts";
import { callCart, makeCart } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { receiver } from "#test/operations/webhook-calls.ts";
import { makeDelivery } from "#test/webhooks/delivery-rows.ts";
import type { World } from "#test/support/world.ts";

export interface CallParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

export interface ValidCall {
  /** `anonymous`: whatever is sent. `token`: an access token, of any scope. null: any key or token. */
  readonly needs: Scope | "anonymous" | "token" | null;
  /** Makes what the request is about; it may be sent once. */
  readonly make: (world: World) => CallParts | Promise<CallParts>;
}

const newCart = async (world: World): Promise<string> => (await makeCart(world, { lines: { "KIT-KVERN": 1 } })).id;
const address = { recipientName: "Anna Beispiel", line1: "Musterweg 1", postalCode: "10115", city: "Berlin", countryCode: "DE" };
const ofOrder = ({ demo }: World): CallParts => ({ path: { orderId: demo.orders.delivered } });

export const validCalls: Readonly<Record<string, ValidCall>> = {
  listInstallationWebhooks: { needs: "webhooks:read", make: () => ({}) },
  createInstallationWebhook: {
    needs: "webhooks:write",
    make: async (world) => {
      await forgetReceivers(world);
      return { body: { url: receiver(), eventTypes: ["*"] } };
    },
  },
  getInstallationWebhookSignatureFixture: { needs: "webhooks:read", make: ({ demo }) => ({ path: { id: demo.webhooks.endpoint } }) },
  listInstallationWebhookEvents: { needs: "webhooks:read", make: () => ({}) },
  replayInstallationWebhookDelivery: {
    needs: "webhooks:write",
    make: async (world) => ({ path: { id: await makeDelivery(world, { endpointId: world.demo.webhooks.endpoint }) }, body: { reason: "testing" } }),
  },
  getApiKeyIdentity: { needs: null, make: () => ({}) },
  getInstallationCredentialReadiness: { needs: null, make: () => ({}) },
  describeOAuthAuthorization: { needs: "token", make: () => ({}) },
  listApiKeyCatalogProducts: { needs: null, make: () => ({}) },
  searchPublicProducts: { needs: "anonymous", make: () => ({ query: "q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=2" }) },
  getPublicMerchantProduct: {
    needs: "anonymous",
    make: ({ demo }) => ({ path: { merchantSlug: demo.products[0]?.merchantSlug ?? "", productSlug: demo.products[0]?.productSlug ?? "" } }),
  },
  getPublicCart: { needs: "catalog:read", make: ({ demo }) => ({ path: { cartId: demo.carts.active } }) },
  setPublicCartAddress: {
    needs: "checkout:quote",
    make: async (world) => ({ path: { cartId: await newCart(world) }, body: { address } }),
  },
  applyPublicCartPromotion: {
    needs: "checkout:quote",
    make: async (world) => ({ path: { cartId: await newCart(world) }, body: { code: world.demo.promotionCodes.percentage } }),
  },
  removePublicCartPromotion: {
    needs: "checkout:quote",
    make: async (world) => {
      const cartId = await newCart(world);
      const { body } = await callCart(world, "applyPublicCartPromotion", { cartId, body: { code: world.demo.promotionCodes.percentage } });
      return { path: { cartId }, body: { expectedVersion: body.data.cartVersion } };
    },
  },
  revokePublicCart: {
    needs: "catalog:read",
    make: async (world) => {
      const { id, version } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
      return { path: { cartId: id }, body: { expectedVersion: version } };
    },
  },
  getStorefrontOrder: { needs: "catalog:read", make: ofOrder },
  getStorefrontOrderCancellationEligibility: { needs: "catalog:read", make: ofOrder },
  getStorefrontOrderAfterSalesEligibility: { needs: "catalog:read", make: ofOrder },
  cancelHostedCheckoutSession: {
    needs: "catalog:read",
    make: async (world) => ({ path: { sessionId: (await makeSession(world)).id }, body: { reason: "test" } }),
  },
};

/** An installation has 16 endpoints at most; the demo's stays. */
async function forgetReceivers({ database, demo }: World): Promise<void> {
  await database.db.updateTable("webhookEndpoint").set({ status: "deleted" }).where("id", "!=", demo.webhooks.endpoint).execute();
}

/** What is sent. */
export function requestOf(
  operation: { readonly method: string; readonly path: string },
  { path = {}, query, body }: CallParts,
): { method: string; url: string; body?: unknown } {
  const { method } = operation;
  const url = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => path[name] ?? "") + (query === undefined ? "" : `?${query}`);
  return body === undefined ? { method, url } : { method, url, body };
}
