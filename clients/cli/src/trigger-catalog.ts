/** The recipes of `trigger` for products, API keys and webhook endpoints. */
import { type Recipe, type Shop, step } from "./trigger-steps.ts";

interface NewProduct {
  readonly productId: string;
  readonly variantId: string;
}

/** Creates a draft product with one variant, a price and no stock. */
async function createProduct(shop: Shop, restrictions: readonly string[] = []): Promise<NewProduct> {
  const input = { translations: [translationOf(shop, "Triggered product")] };
  const { id: productId } = await step(shop, "productCreate", { input });
  const { variants } = await step(shop, "variantUpsert", {
    input: {
      productId,
      sku: `TRIGGER-${shop.run}`.toUpperCase(),
      options: [],
      lowStockThreshold: 2,
      restrictions,
    },
  });
  const variantId = variants[0]?.id ?? "";
  await setPrice(shop, variantId, 1000);
  return { productId, variantId };
}

const translationOf = (shop: Shop, title: string): Readonly<Record<string, string>> => ({
  locale: shop.merchantLocale,
  slug: `trigger-${shop.run}`,
  title,
});

const setPrice = (shop: Shop, variantId: string, amountMinor: number): Promise<unknown> =>
  step(shop, "pricesSet", { input: { prices: [{ variantId, marketId: shop.market.id, amountMinor }] } });

/** Creates and publishes a product with three units in stock. */
async function publishProduct(shop: Shop, restrictions: readonly string[]): Promise<NewProduct> {
  const product = await createProduct(shop, restrictions);
  await adjustStock(shop, product, 3);
  await step(shop, "productPublish", { input: { productId: product.productId } });
  return product;
}

const adjustStock = (shop: Shop, { variantId }: NewProduct, delta: number): Promise<unknown> =>
  step(shop, "stockAdjust", { input: { variantId, delta, reason: delta > 0 ? "RECEIVED" : "LOST" } });

/** Removes the product from the shop, so that buyers do not see products of `trigger`. */
async function removeProduct(shop: Shop, { productId }: NewProduct): Promise<void> {
  await step(shop, "productUnpublish", { input: { productId } });
  await step(shop, "productDelete", { input: { productId } });
}

/** Returns a recipe that publishes a product, runs `work` with the product, and removes the product. */
export const withProduct =
  (
    work: (shop: Shop, product: NewProduct) => Promise<unknown>,
    restrictions: readonly string[] = [],
  ): Recipe =>
  async (shop) => {
    const product = await publishProduct(shop, restrictions);
    await work(shop, product);
    await removeProduct(shop, product);
  };

const createKey = async (shop: Shop): Promise<string> =>
  (
    await step(shop, "apiKeyCreate", {
      input: { installationId: shop.installationId, name: `Triggered ${shop.run}`, scopes: [] },
    })
  ).apiKey.id;

const revokeKey = (shop: Shop, apiKeyId: string): Promise<unknown> =>
  step(shop, "apiKeyRevoke", { input: { apiKeyId } });

/**
 * Returns a recipe that creates a webhook endpoint whose host does not exist, runs `work` with the endpoint,
 * and deletes the endpoint.
 */
const withEndpoint =
  (isEnabled: boolean, work: (shop: Shop, id: string) => Promise<unknown>): Recipe =>
  async (shop) => {
    const input = {
      url: `https://trigger.shop.example/${shop.run}`,
      eventTypes: ["webhook.ping"],
      enabled: isEnabled,
    };
    const { endpoint } = await step(shop, "webhookEndpointCreate", { id: shop.installationId, input });
    await work(shop, endpoint.id);
    await step(shop, "webhookEndpointDelete", { id: endpoint.id });
  };

const nothing = (): Promise<void> => Promise.resolve();

export const catalogRecipes: Readonly<Record<string, Recipe>> = {
  "product.created": async (shop) => {
    const { productId } = await createProduct(shop);
    await step(shop, "productDelete", { input: { productId } });
  },
  "product.published": withProduct(nothing),
  "product.unpublished": withProduct(nothing),
  "product.deleted": withProduct(nothing),
  "product.updated": withProduct((shop, { productId }) =>
    step(shop, "productUpdate", { input: { productId, brand: `Brand ${shop.run}` } }),
  ),
  "product.price_changed": withProduct((shop, { variantId }) => setPrice(shop, variantId, 1100)),
  "product.translation_updated": withProduct((shop, { productId }) =>
    step(shop, "productTranslationUpsert", {
      input: { productId, translation: translationOf(shop, "Triggered product with another title") },
    }),
  ),
  "variant.low_stock": withProduct((shop, product) => adjustStock(shop, product, -1)),
  "variant.out_of_stock": withProduct((shop, product) => adjustStock(shop, product, -3)),
  "variant.back_in_stock": withProduct(async (shop, product) => {
    await adjustStock(shop, product, -3);
    await adjustStock(shop, product, 3);
  }),
  "api_key.created": async (shop) => revokeKey(shop, await createKey(shop)),
  "api_key.revoked": async (shop) => revokeKey(shop, await createKey(shop)),
  "api_key.rotated": async (shop) => {
    const apiKeyId = await createKey(shop);
    const { apiKey } = await step(shop, "apiKeyRotate", { input: { apiKeyId, overlapHours: 0 } });
    await revokeKey(shop, apiKey.id);
  },
  "webhook.ping": withEndpoint(true, nothing),
  "webhook_endpoint.secret_rotated": withEndpoint(false, (shop, id) =>
    step(shop, "webhookSecretRotate", { id }),
  ),
};
