/** Who may call what: every root field × every role, and nobody without a token. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import graph from "#graph/schema.ts";
import { createWorld, type World } from "#test/support/world.ts";

const everybody = ["storefront", "admin", "analyst", "operator"] as const;
type Role = (typeof everybody)[number];
const readers: readonly Role[] = ["admin", "analyst", "operator"];
const staff: readonly Role[] = ["admin", "operator"];
const platform: readonly Role[] = ["operator"];
const frontends: readonly Role[] = ["storefront", "admin", "operator"];

/** Written by hand from the roles' meaning; a field that is missing here fails the first test. */
const allowed: Readonly<Record<string, readonly Role[]>> = {
  publicProduct: everybody,
  productSearch: everybody,
  viewer: everybody,
  installation: readers,
  merchant: readers,
  merchants: readers,
  apps: readers,
  installations: readers,
  apiKeys: staff,
  internalTokens: staff,
  markets: everybody,
  policies: everybody,
  product: readers,
  products: readers,
  categories: everybody,
  merchantCreate: platform,
  merchantUpdate: staff,
  merchantSuspend: platform,
  merchantResume: platform,
  appCreate: platform,
  installationCreate: staff,
  installationScopesSet: staff,
  installationSuspend: staff,
  installationResume: staff,
  installationUninstall: staff,
  apiKeyCreate: staff,
  apiKeyRevoke: staff,
  internalTokenCreate: staff,
  internalTokenRevoke: staff,
  productCreate: staff,
  productUpdate: staff,
  productPublish: staff,
  productUnpublish: staff,
  productDelete: staff,
  productTranslationUpsert: staff,
  variantUpsert: staff,
  pricesSet: staff,
  mediaAttach: staff,
  mediaRemove: staff,
  categoryUpsert: staff,
  categoryDelete: staff,
  productsImport: staff,
  marketUpsert: staff,
  taxRateUpsert: staff,
  deliveryMethodUpsert: staff,
  policyUpsert: staff,
  stockAdjust: staff,
  promotion: readers,
  promotions: readers,
  promotionCreate: staff,
  promotionUpdate: staff,
  promotionActivate: staff,
  promotionPause: staff,
  promotionEnd: staff,
  promotionCodesGenerate: staff,
  cart: everybody,
  // A storefront may for the buyer that X-Buyer-Reference names; these calls name none.
  carts: readers,
  deliveryOptions: frontends,
  savedAddresses: frontends,
  cartCreate: frontends,
  cartLinesAdd: frontends,
  cartLinesUpdate: frontends,
  cartLinesRemove: frontends,
  cartBuyerSet: frontends,
  cartMarketChange: frontends,
  cartDeliveryOptionSelect: frontends,
  cartAddressSet: frontends,
  cartSavedAddressSet: frontends,
  savedAddressRemove: frontends,
  cartPromotionApply: frontends,
  cartPromotionRemove: frontends,
  cartMerge: frontends,
  cartRevoke: frontends,
};

const id = '"prd_00000000000000000000000000"';
const names = '[{ locale: "en", text: "x" }]';

const cartCall = (field: string, input: string, answer = "id"): string =>
  `${field}(merchantId: ${id}, cartId: ${id}, input: { ${input} }) { ${answer} }`;

/** Arguments that pass GraphQL's own validation and lead nowhere. */
const calls: Readonly<Record<string, string>> = {
  publicProduct: 'publicProduct(merchantSlug: "x", productSlug: "x") { id }',
  productSearch: 'productSearch(q: "", locale: "en", market: "DE", sort: NEWEST, page: 1, pageSize: 1) { meta { page } }',
  viewer: "viewer { role }",
  installation: `installation(id: ${id}) { id }`,
  merchant: `merchant(id: ${id}) { id }`,
  merchants: "merchants { totalCount }",
  apps: "apps { totalCount }",
  installations: "installations { totalCount }",
  apiKeys: "apiKeys { totalCount }",
  internalTokens: "internalTokens { totalCount }",
  markets: `markets { id }`,
  policies: `policies { id }`,
  product: `product(id: ${id}) { id }`,
  products: "products { totalCount }",
  categories: "categories { totalCount }",
  merchantCreate: 'merchantCreate(input: { slug: "lindenhof", name: "x", mode: TEST, defaultLocale: "en", defaultMarket: "DE" }) { id }',
  merchantUpdate: `merchantUpdate(input: { merchantId: ${id} }) { id }`,
  merchantSuspend: `merchantSuspend(input: { merchantId: ${id} }) { id }`,
  merchantResume: `merchantResume(input: { merchantId: ${id} }) { id }`,
  appCreate: 'appCreate(input: { name: "x" }) { id }',
  installationCreate: `installationCreate(input: { merchantId: ${id}, appId: ${id}, scopes: [] }) { id }`,
  installationScopesSet: `installationScopesSet(input: { installationId: ${id}, scopes: [] }) { id }`,
  installationSuspend: `installationSuspend(input: { installationId: ${id} }) { id }`,
  installationResume: `installationResume(input: { installationId: ${id} }) { id }`,
  installationUninstall: `installationUninstall(input: { installationId: ${id} }) { id }`,
  apiKeyCreate: `apiKeyCreate(input: { installationId: ${id}, name: "x", scopes: [] }) { value }`,
  apiKeyRevoke: `apiKeyRevoke(input: { apiKeyId: ${id} }) { id }`,
  internalTokenCreate: `internalTokenCreate(input: { name: "x", role: OPERATOR, merchantId: ${id} }) { value }`,
  internalTokenRevoke: `internalTokenRevoke(input: { internalTokenId: ${id} }) { id }`,
  productCreate: `productCreate(merchantId: ${id}, input: { translations: [{ locale: "en", slug: "x", title: "x" }] }) { id }`,
  productUpdate: `productUpdate(merchantId: ${id}, input: { productId: ${id} }) { id }`,
  productPublish: `productPublish(merchantId: ${id}, input: { productId: ${id} }) { id }`,
  productUnpublish: `productUnpublish(merchantId: ${id}, input: { productId: ${id} }) { id }`,
  productDelete: `productDelete(merchantId: ${id}, input: { productId: ${id} }) { archived }`,
  productTranslationUpsert: `productTranslationUpsert(merchantId: ${id}, input: { productId: ${id}, translation: { locale: "en", slug: "x", title: "x" } }) { id }`,
  variantUpsert: `variantUpsert(merchantId: ${id}, input: { productId: ${id}, sku: "x", options: [] }) { id }`,
  pricesSet: `pricesSet(merchantId: ${id}, input: { prices: [{ variantId: ${id}, marketId: ${id}, amountMinor: 1 }] }) { id }`,
  mediaAttach: `mediaAttach(merchantId: ${id}, input: { productId: ${id}, type: IMAGE, url: "https://x.example/x", alts: [], width: 1, height: 1 }) { id }`,
  mediaRemove: `mediaRemove(merchantId: ${id}, input: { productId: ${id}, mediaId: ${id} }) { id }`,
  categoryUpsert: `categoryUpsert(merchantId: ${id}, input: { slug: "x", names: ${names} }) { id }`,
  categoryDelete: `categoryDelete(merchantId: ${id}, input: { categoryId: ${id} }) { categoryId }`,
  productsImport: `productsImport(merchantId: ${id}, input: { items: [{ translations: [], variants: [] }] }) { results { index } }`,
  marketUpsert: `marketUpsert(merchantId: ${id}, input: { handle: "x", name: "x", currency: "EUR", taxIncluded: true, defaultLocale: "en", timeZone: "UTC", countries: ["CH"] }) { id }`,
  taxRateUpsert: `taxRateUpsert(merchantId: ${id}, input: { marketId: ${id}, country: "DE", name: "x", basisPoints: 1, appliesToShipping: true }) { id }`,
  deliveryMethodUpsert: `deliveryMethodUpsert(merchantId: ${id}, input: { marketId: ${id}, code: "x", names: ${names}, pickup: false, priceMinor: 1, minDays: 1, maxDays: 1 }) { id }`,
  policyUpsert: `policyUpsert(merchantId: ${id}, input: { type: RETURN, summaries: ${names} }) { id }`,
  stockAdjust: `stockAdjust(merchantId: ${id}, idempotencyKey: "k", input: { variantId: ${id}, delta: 1, reason: RECEIVED }) { id }`,
  promotion: `promotion(id: ${id}) { id }`,
  promotions: "promotions { totalCount }",
  promotionCreate: `promotionCreate(merchantId: ${id}, input: { trigger: CODE, kind: FREE_SHIPPING, titles: ${names} }) { id }`,
  promotionUpdate: `promotionUpdate(merchantId: ${id}, input: { promotionId: ${id}, priority: 1 }) { id }`,
  promotionActivate: `promotionActivate(merchantId: ${id}, input: { promotionId: ${id} }) { id }`,
  promotionPause: `promotionPause(merchantId: ${id}, input: { promotionId: ${id} }) { id }`,
  promotionEnd: `promotionEnd(merchantId: ${id}, input: { promotionId: ${id} }) { id }`,
  promotionCodesGenerate: `promotionCodesGenerate(merchantId: ${id}, input: { promotionId: ${id}, count: 1 }) { codes { id } }`,
  cart: `cart(id: ${id}) { id }`,
  carts: "carts { totalCount }",
  deliveryOptions: `deliveryOptions(merchantId: ${id}, addressToken: ${id}) { id }`,
  savedAddresses: `savedAddresses(merchantId: ${id}, buyerReference: "x") { id }`,
  cartCreate: `cartCreate(merchantId: ${id}, input: { market: "DE" }) { id }`,
  cartLinesAdd: cartCall("cartLinesAdd", `lines: [{ variantId: ${id}, quantity: 1 }]`),
  cartLinesUpdate: cartCall("cartLinesUpdate", `lines: [{ lineId: ${id}, quantity: 1 }]`),
  cartLinesRemove: cartCall("cartLinesRemove", `lineIds: [${id}]`),
  cartBuyerSet: cartCall("cartBuyerSet", 'buyerReference: "x"'),
  cartMarketChange: cartCall("cartMarketChange", 'market: "AT"'),
  cartDeliveryOptionSelect: cartCall("cartDeliveryOptionSelect", `optionId: ${id}`),
  cartAddressSet: cartCall(
    "cartAddressSet",
    'address: { recipientName: "x", line1: "x", city: "x", postalCode: "10115", countryCode: "DE" }',
    "cartId",
  ),
  cartSavedAddressSet: cartCall("cartSavedAddressSet", `savedAddressId: ${id}`, "cartId"),
  savedAddressRemove: `savedAddressRemove(merchantId: ${id}, input: { savedAddressId: ${id}, buyerReference: "x" })`,
  cartPromotionApply: cartCall("cartPromotionApply", 'code: "x"', "cartId"),
  cartPromotionRemove: cartCall("cartPromotionRemove", "expectedVersion: 1", "cartId"),
  cartMerge: cartCall("cartMerge", 'sourceCartId: "cart_x"'),
  cartRevoke: cartCall("cartRevoke", "expectedVersion: 1"),
};

const mutations = Object.keys(graph.getMutationType()?.getFields() ?? {});
const fields = [...Object.keys(graph.getQueryType()?.getFields() ?? {}), ...mutations];

describe("roles", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld("pglite");
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("are decided for every field there is", () => {
    expect(fields.toSorted()).toEqual(Object.keys(allowed).toSorted());
    expect(fields.toSorted()).toEqual(Object.keys(calls).toSorted());
  });

  const cases = fields.flatMap((field) => everybody.map((role) => ({ field, role, isAllowed: allowed[field]?.includes(role) === true })));

  it.each(cases)("$field as $role: $isAllowed", async ({ field, role, isAllowed }) => {
    const before = await rowCount(world);
    const { status, body } = await world.graphql(`${mutations.includes(field) ? "mutation" : "query"} { ${calls[field]} }`, { token: role });
    const codes = (body.errors ?? []).map((error: { extensions: { code: string } }) => error.extensions.code);
    if (isAllowed) {
      expect(codes).not.toContain("role_not_allowed");
      expect(codes).not.toContain("internal_error");
    } else {
      expect({ status, codes }).toEqual({ status: 403, codes: ["role_not_allowed"] });
    }
    // What leads nowhere, and what is refused, leaves nothing behind; a registered app alone is a success.
    if (!(field === "appCreate" && isAllowed)) expect(await rowCount(world)).toEqual(before);
  });

  it("need a token: without one, or with an API key, the graph answers 401", async () => {
    for (const token of [null, world.demo.keys.full, "nonsense"]) {
      const { status, body, headers } = await world.graphql("{ viewer { role } }", { token });
      expect(status).toBe(401);
      expect(body.errors[0].extensions.code).toBe(token === null ? "credentials_missing" : "api_key_invalid");
      expect(headers["www-authenticate"]).toMatch(/^Bearer realm=/);
    }
  });
});

async function rowCount({ database }: World): Promise<Record<string, unknown>[]> {
  const counts = [
    "merchant",
    "app",
    "installation",
    "api_key",
    "internal_token",
    "product",
    "variant",
    "price",
    "category",
    "market",
    "tax_rate",
    "policy",
    "media",
    "stock_movement",
    "promotion",
    "promotion_code",
    "cart",
    "cart_line",
    "cart_promotion",
    "personal_data",
    "event",
    "idempotency_record",
  ]
    .map((table) => `(select count(*) from ${table}) as ${table}`)
    .join(", ");
  return database.script(async (run) => (await run(`select ${counts}, (select sum(catalog_version) from merchant) as catalog`))[0] ?? []);
}
