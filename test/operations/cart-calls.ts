/**
 * Creates and changes carts for tests, over GraphQL and over REST, each change with a new idempotency key.
 * Compares all written tables, so that a test can prove that a refused call wrote nothing.
 */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import type { FailureCode } from "#foundation/failure.ts";
import { readTableStates } from "#test/support/all-rows.ts";
import { statementsOf } from "#test/support/use-world.ts";
import type { Answer, World } from "#test/support/world.ts";

export const cartsUrl = "/api/v1/open/storefront/carts";

export const cartOperations = {
  getPublicCart: { method: "GET", path: "", scope: "catalog:read" },
  setPublicCartAddress: { method: "PUT", path: "/address", scope: "checkout:quote" },
  applyPublicCartPromotion: { method: "PUT", path: "/promotion", scope: "checkout:quote" },
  removePublicCartPromotion: { method: "DELETE", path: "/promotion", scope: "checkout:quote" },
  revokePublicCart: { method: "POST", path: "/revoke", scope: "catalog:read" },
} as const;
export type CartOperation = keyof typeof cartOperations;

export interface CartRequest {
  readonly cartId: string;
  readonly body?: unknown;
  readonly key?: keyof DemoJsonFileContent["keys"];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a cart operation over REST. */
export function callCart(
  world: World,
  operation: CartOperation,
  { cartId, body, key = "full", headers = {} }: CartRequest,
): Promise<Answer> {
  const { method, path } = cartOperations[operation];
  const idempotency = method === "GET" ? {} : { "idempotency-key": randomUUID() };
  const authorization = `Bearer ${world.demo.keys[key]}`;
  return world.send({
    method,
    url: `${cartsUrl}/${cartId}${path}`,
    headers: { authorization, ...idempotency, ...headers },
    body,
  });
}

export interface Frontend {
  readonly token?: keyof DemoJsonFileContent["tokens"];
  /** The X-Buyer-Reference header. */
  readonly buyer?: string;
}

export interface GraphAnswer {
  readonly status: number;
  /** The value of the document's only field. */
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
  readonly data: any;
  /** The error body; undefined if the call succeeded. */
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
  readonly error: any;
}

/** Runs a document over GraphQL. */
export async function askGraph(
  world: World,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  { token = "storefront", buyer }: Frontend = {},
): Promise<GraphAnswer> {
  const { status, body } = await world.send({
    method: "POST",
    url: "/graphql",
    headers: {
      authorization: `Bearer ${world.demo.tokens[token]}`,
      ...(buyer === undefined ? {} : { "x-buyer-reference": buyer }),
    },
    body: { query, variables },
  });
  const [data = null] = Object.values(body.data ?? {});
  return { status, data, error: body.errors?.[0]?.extensions };
}

const amount = "{ amountMinor }";
const amounts = (...names: readonly string[]): string => names.map((name) => `${name} ${amount}`).join(" ");
/** The cart fields that most tests compare. */
export const cartFields = `id version status market currency locale totalQuantity
  lines {
    id position sku title quantity ${amounts("unitPrice", "subtotal", "discount", "tax", "total")}
    availability availableQuantity
  }
  totals { ${amounts("subtotal", "discount", "shipping", "tax", "total")} taxIncluded estimated }
  promotion {
    state suspendedReason ${amounts("discount")} promotion { code }
    automatic { id ${amounts("discount")} }
    allocations { target lineId amount ${amount} }
  }
  address { countryCode regionCode city postalCodePrefix recipientInitials complete } addressTokenExpiresAt
  delivery { selectedOptionId options { id name ${amounts("price")} } }
  warnings { code lineId data } buyer { reference guest emailHint } mergedIntoCartId
  revocation { reason note at } createdAt updatedAt expiresAt`;

const promotionFields = "cartId cartVersion state promotion { code } replaced { code }";

const mutations = {
  cartLinesAdd: ["CartLinesAddInput", cartFields],
  cartLinesUpdate: ["CartLinesUpdateInput", cartFields],
  cartLinesRemove: ["CartLinesRemoveInput", cartFields],
  cartBuyerSet: ["CartBuyerSetInput", cartFields],
  cartMarketChange: ["CartMarketChangeInput", cartFields],
  cartDeliveryOptionSelect: ["CartDeliveryOptionSelectInput", cartFields],
  cartMerge: ["CartMergeInput", cartFields],
  cartAddressSet: ["PublicCartAddressSetRequest", "addressToken cartId cartVersion expiresAt"],
  cartPromotionApply: ["PublicCartPromotionApplyRequest", promotionFields],
  cartPromotionRemove: ["PublicCartTransitionRequest", promotionFields],
  cartRevoke: ["PublicCartTransitionRequest", cartFields],
} as const;
export type CartMutation = keyof typeof mutations;

export interface CartChange extends Frontend {
  readonly cartId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly merchantId?: string;
}

export function changeCart(
  world: World,
  field: CartMutation,
  { cartId, input, merchantId, ...frontend }: CartChange,
): Promise<GraphAnswer> {
  const [type, selection] = mutations[field];
  const query = `mutation ($merchantId: ID, $cartId: ID!, $input: ${type}!) {
    ${field}(merchantId: $merchantId, cartId: $cartId, input: $input) { ${selection} } }`;
  return askGraph(world, query, { merchantId, cartId, input }, frontend);
}

export function readCart(world: World, cartId: string, frontend: Frontend = {}): Promise<GraphAnswer> {
  return askGraph(world, `query ($id: ID!) { cart(id: $id) { ${cartFields} } }`, { id: cartId }, frontend);
}

export interface NewCart extends Frontend {
  readonly country?: string;
  /** Quantities by SKU. */
  readonly lines?: Readonly<Record<string, number>>;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly merchantId?: string;
}

export async function tryCart(
  world: World,
  { country = "DE", lines = {}, input = {}, merchantId, ...frontend }: NewCart,
): Promise<GraphAnswer> {
  const query = `mutation ($merchantId: ID, $input: CartCreateInput!) { cartCreate(merchantId: $merchantId,
    input: $input) { ${cartFields} } }`;
  return askGraph(
    world,
    query,
    { merchantId, input: { market: country, lines: await linesOf(world, lines), ...input } },
    frontend,
  );
}

/** Creates a cart and returns it. Fails the test if the cart is refused. */
export async function makeCart(world: World, cart: NewCart = {}): Promise<GraphAnswer["data"]> {
  const { data, error } = await tryCart(world, cart);
  expect(error).toBeUndefined();
  return data;
}

/** Creates a cart of the other merchant and returns its id. */
export async function makeForeignCart(world: World): Promise<string> {
  return (
    await makeCart(world, {
      token: "operator",
      merchantId: world.demo.merchants.second.id,
      lines: { "MR-PROBE": 1 },
    })
  ).id;
}

export async function linesOf(
  world: World,
  lines: Readonly<Record<string, number>>,
): Promise<{ variantId: string; quantity: number }[]> {
  return Promise.all(
    Object.entries(lines).map(async ([sku, quantity]) => ({
      variantId: await variantOf(world, sku),
      quantity,
    })),
  );
}

export async function variantOf({ database }: World, sku: string): Promise<string> {
  return (
    await database.db.selectFrom("variant").select("id").where("sku", "=", sku).executeTakeFirstOrThrow()
  ).id;
}

export type PromotionInput = Readonly<Record<string, unknown>>;

/** Creates an active promotion with one code. Gives ten percent off unless `input` says otherwise. */
export async function makeCode(world: World, code: string, input: PromotionInput = {}): Promise<string> {
  const promotionId = await makePromotion(world, { trigger: "CODE", ...input });
  const { error } = await askGraph(
    world,
    "mutation ($input: PromotionCodesGenerateInput!) { promotionCodesGenerate(input: $input) { codes { " +
      "code } } }",
    { input: { promotionId, codes: [code] } },
    { token: "admin" },
  );
  expect(error).toBeUndefined();
  return promotionId;
}

export async function makePromotion(world: World, input: PromotionInput = {}): Promise<string> {
  const titles = [{ locale: "en", text: "A deal" }];
  const values = input["kind"] === undefined ? { kind: "PERCENTAGE", basisPoints: 1000 } : {};
  const made = await askGraph(
    world,
    "mutation ($input: PromotionCreateInput!) { promotionCreate(input: $input) { id } }",
    { input: { trigger: "AUTOMATIC", titles, ...values, ...input } },
    { token: "admin" },
  );
  expect(made.error).toBeUndefined();
  await movePromotion(world, "promotionActivate", made.data.id);
  return made.data.id;
}

export async function movePromotion(
  world: World,
  field: "promotionActivate" | "promotionPause" | "promotionEnd",
  promotionId: string,
): Promise<void> {
  const query = `mutation ($input: PromotionTransitionInput!) { ${field}(input: $input) { status } }`;
  expect(
    (await askGraph(world, query, { input: { promotionId } }, { token: "admin" })).error,
  ).toBeUndefined();
}

const tables =
  `cart cart_line cart_promotion personal_data event idempotency_record hosted_checkout_session promotion
  promotion_code stock_level stock_hold stock_movement search_due webhook_endpoint webhook_secret
  webhook_endpoint_health webhook_delivery`.split(/\s+/);

/** Row count and newest write of every table that a change of a cart could write. */
export async function writtenRows(world: World): Promise<string> {
  return JSON.stringify(await readTableStates(world, tables), undefined, 1);
}

/** Returns the answer of the call. Fails the test if the call wrote anything. */
export async function withoutTrace<Result>(world: World, call: () => Promise<Result>): Promise<Result> {
  const before = await writtenRows(world);
  const result = await call();
  expect(await writtenRows(world)).toBe(before);
  return result;
}

export interface SentEvent {
  readonly type: string;
  readonly version: number;
  readonly snapshot: Readonly<Record<string, unknown>> & {
    readonly data: { readonly object: unknown; readonly previous: unknown };
  };
  readonly thin: Readonly<Record<string, unknown>>;
}

/** The published events of a cart, ordered by version. Events of the same version have no order. */
export async function eventsOf({ database }: World, cartId: string): Promise<SentEvent[]> {
  const rows = await database.db
    .selectFrom("event")
    .selectAll()
    .where("subjectId", "=", cartId)
    .orderBy("subjectVersion")
    .orderBy("type")
    .execute();
  return rows.map(({ type, subjectVersion, snapshot, thin }) => ({
    type,
    version: subjectVersion,
    snapshot: JSON.parse(snapshot) as SentEvent["snapshot"],
    thin: JSON.parse(thin) as SentEvent["thin"],
  }));
}

export interface ExpectedConflict {
  readonly code: FailureCode;
  readonly id: string;
  readonly status: string;
  readonly version: number;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

export function cartConflict({ id, status, version, reason = null, data = {} }: ExpectedConflict): unknown {
  return { resource: "cart", id, currentStatus: status, currentVersion: version, reason, data };
}

/** Expects a 409 over REST with this code and this current state of the cart. */
export function expectConflict({ status, body, headers }: Answer, expected: ExpectedConflict): void {
  expect({ status, code: body.error?.code, conflict: body.error?.conflict }).toEqual({
    status: 409,
    code: expected.code,
    conflict: cartConflict(expected),
  });
  expect(body.error).toMatchObject({ retryable: expected.code === "cart_locked", retryAfterSeconds: null });
  expect(headers).toMatchObject({ "cache-control": "no-store", "x-api-stability": "candidate" });
  expect(headers["idempotent-replayed"]).toBeUndefined();
}

export const eur = (amountMinor: number): unknown => ({ amountMinor, currency: "EUR", exponent: 2 });
export const usd = (amountMinor: number): unknown => ({ amountMinor, currency: "USD", exponent: 2 });
export const jpy = (amountMinor: number): unknown => ({ amountMinor, currency: "JPY", exponent: 0 });

export const berlin = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 1",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
};
export const maskedBerlin = {
  countryCode: "DE",
  regionCode: null,
  city: "Berlin",
  postalCodePrefix: "10",
  recipientInitials: "A. B.",
  complete: true,
};
export const sanFrancisco = {
  recipientName: "Ada Example",
  line1: "1 Market Street",
  postalCode: "94103",
  city: "San Francisco",
  regionCode: "CA",
  countryCode: "US",
};
export const newYork = { ...sanFrancisco, postalCode: "10001", city: "New York", regionCode: "US-NY" };
export const tokyo = {
  recipientName: "見本 花子",
  line1: "千代田1-1",
  postalCode: "100-0001",
  city: "千代田区",
  regionCode: "JP-13",
  countryCode: "JP",
};

/** The id of a delivery method, by the method's code. */
export async function deliveryOf({ database, demo }: World, code: string): Promise<string> {
  const { id } = await database.db
    .selectFrom("deliveryMethod")
    .innerJoin("market", "market.id", "deliveryMethod.marketId")
    .select("deliveryMethod.id")
    .where("code", "=", code)
    .where("market.merchantId", "=", demo.merchants.first.id)
    .executeTakeFirstOrThrow();
  return id;
}

/** The statements of a change without BEGIN and COMMIT, which PGlite runs without a statement. */
export async function workOf(world: World, call: () => Promise<unknown>): Promise<string[]> {
  return (await statementsOf(world, call)).filter(
    (text) => !/^\s*(?:begin|start transaction|commit|rollback)/i.test(text),
  );
}

/** The delivery options in Germany for a subtotal below 150.00. */
export async function germanOptions(world: World): Promise<unknown[]> {
  const option = async (code: string, shown: object): Promise<unknown> => ({
    id: await deliveryOf(world, code),
    pickup: false,
    ...shown,
  });
  return Promise.all([
    option("standard", { name: "Standardversand", carrier: "DHL", price: eur(490), minDays: 2, maxDays: 4 }),
    option("express", {
      name: "Expressversand",
      carrier: "DHL Express",
      price: eur(1290),
      minDays: 1,
      maxDays: 2,
    }),
    option("pickup-berlin", {
      name: "Abholung im Laden in Berlin",
      carrier: null,
      price: eur(0),
      minDays: 0,
      maxDays: 1,
      pickup: true,
    }),
  ]);
}
