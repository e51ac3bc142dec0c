/** Creates one object of each kind for both merchants, to test that no merchant sees the other's objects. */
import { sql } from "kysely";
import { expect } from "vitest";
import { createId } from "#foundation/ids.ts";
import { askGraph, berlin, changeCart, makeCart, makePromotion } from "#test/operations/cart-calls.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import type { World } from "#test/support/world.ts";
import { makeDelivery } from "#test/webhooks/delivery-rows.ts";
import type { IdPlace } from "./id-places.ts";

export const sides = ["first", "second"] as const;
export type Side = (typeof sides)[number];

/** The tables of the kinds whose ids are in a column of that name. */
const tables = {
  apiKey: "api_key",
  category: "category",
  claim: "warranty_claim",
  connection: "payment_connection",
  deliveryOption: "delivery_method",
  endpoint: "webhook_endpoint",
  export: "export_job",
  fulfillment: "fulfillment",
  grant: "oauth_grant",
  installation: "installation",
  internalToken: "internal_token",
  market: "market",
  payment: "payment",
  product: "product",
  refund: "refund",
  request: "api_request",
  return: "order_return",
  staff: "staff_account",
  taxRate: "tax_rate",
  trustedDocument: "trusted_document",
  warranty: "warranty_registration",
} as const;
const others = [
  "addressToken",
  "cart",
  "cartLine",
  "delivery",
  "media",
  "merchant",
  "order",
  "orderLine",
  "promotion",
  "savedAddress",
  "session",
  "variant",
] as const;
export type Subject = keyof typeof tables | (typeof others)[number];
export type Subjects = Readonly<Partial<Record<Subject, string>>>;

const ofRoot: Readonly<Record<string, Subject>> = {
  hostedCheckoutSession: "session",
  apiRequest: "request",
  webhookEndpoint: "endpoint",
  webhookDelivery: "delivery",
};
const ofName: Readonly<Record<string, Subject>> = {
  parentId: "category",
  optionId: "deliveryOption",
  sourceCartId: "cart",
  toEndpointId: "endpoint",
  addressToken: "addressToken",
};

/** The kind of object that a place's id names. */
export function subjectAt({ field, path }: IdPlace): Subject {
  const name = path.slice(path.lastIndexOf(".") + 1);
  if (name === "id") return ofRoot[field] ?? (field as Subject);
  if (name === "lineId" || name === "lineIds") return field.startsWith("cart") ? "cartLine" : "orderLine";
  const bare = name.replace(/Ids?$/, "").replace(/^(?:entitled|buy|excluded|exchange)/, "");
  return ofName[name] ?? ((bare.slice(0, 1).toLowerCase() + bare.slice(1)) as Subject);
}

/** Both sides of the promotion name products. */
const buyTwoGetOne = { kind: "BUY_X_GET_Y", buyQuantity: 2, getQuantity: 1, basisPoints: 5000 };

/** The caller's own object for a place. Some calls need an object in another state than most calls. */
export function ownAt(
  { demo }: World,
  { place, caller, own }: { readonly place: IdPlace; readonly caller: Side; readonly own: Subjects },
): string | undefined {
  const subject = subjectAt(place);
  if (subject !== "order" || caller === "second") return own[subject];
  if (place.field === "fulfillmentCreate") return demo.orders.packing;
  return place.field.startsWith("return") || place.field.startsWith("warranty")
    ? demo.orders.delivered
    : demo.orders.placed;
}

export async function createSubjects(world: World, side: Side): Promise<Subjects> {
  const { db } = world.database;
  const { id: merchantId } = world.demo.merchants[side];
  const one = async (table: string, where = sql`true`): Promise<string | undefined> =>
    (
      await sql<{
        id: string;
      }>`select id from ${sql.table(table)} where merchant_id = ${merchantId} and ${where} order by id
        limit 1`.execute(db)
    ).rows[0]?.id;
  const { id: cart, lines, savedAddress, addressToken } = await makeFullCart(world, side);
  await createTokenClient(world, { merchant: side });
  const { id: endpoint } = await makeEndpoint(world, { key: side === "first" ? "full" : "otherMerchant" });
  const { error } = await askGraph(
    world,
    "mutation ($merchantId: ID!) { exportCreate(merchantId: $merchantId, input: { kind: ORDERS }) { id } }",
    { merchantId },
    { token: "operator" },
  );
  expect(error).toBeUndefined();
  await registerDocument(world, merchantId);
  await connectProvider(world, side);
  if (side === "first") await openClaim(world, await one("warranty_registration"));
  const order = side === "first" ? world.demo.orders.placed : world.demo.orders.otherMerchant;
  await world.app.requests.flush();
  const product = await one("product", sql`status = 'published'`);
  const found = await Promise.all(
    Object.entries(tables).map(async ([subject, table]): Promise<[string, string | undefined]> => [
      subject,
      await one(table),
    ]),
  );
  const subjects: Record<string, string | undefined> = {
    ...Object.fromEntries(found),
    merchant: merchantId,
    cart,
    cartLine: lines[0].id,
    savedAddress,
    addressToken,
    session: side === "first" ? world.demo.sessions.open : world.demo.sessions.otherMerchant,
    order,
    orderLine: await one("order_line", sql`order_id = ${order}`),
    product,
    promotion: side === "first" ? await makePromotion(world, buyTwoGetOne) : await one("promotion"),
    variant: await one("variant", sql`product_id = ${product}`),
    media: await one("media", sql`product_id = ${product}`),
    endpoint,
    delivery: await makeDelivery(world, { endpointId: endpoint }),
  };
  return Object.fromEntries(
    Object.entries(subjects).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Stores a connection to a payment provider; no test uses its key. */
async function connectProvider(world: World, side: Side): Promise<void> {
  const now = world.clock.now();
  await world.database.db
    .insertInto("paymentConnection")
    .values({
      id: createId("paymentConnection", now.getTime()),
      merchantId: world.demo.merchants[side].id,
      provider: "stripe",
      mode: "test",
      accountId: `acct_${side}`,
      keyHint: "4242",
      hasSigningSecret: false,
      sealed: Buffer.alloc(0),
      dataKey: Buffer.alloc(0),
      keyId: "none",
      eventsReadUntil: now,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
}

async function registerDocument(world: World, merchantId: string): Promise<void> {
  const query = `mutation ($merchantId: ID!) { trustedDocumentsRegister(merchantId: $merchantId, input: {
    documents: [{ document: "query Role { viewer { role } }" }] }) { added } }`;
  const { error } = await askGraph(world, query, { merchantId }, { token: "operator" });
  expect(error).toBeUndefined();
}

async function openClaim(world: World, warrantyId: string | undefined): Promise<void> {
  const query = `mutation ($warrantyId: ID!, $input: WarrantyClaimOpenInput!) {
    warrantyClaimOpen(warrantyId: $warrantyId, idempotencyKey: "claim", input: $input) { id } }`;
  const { error } = await askGraph(
    world,
    query,
    { warrantyId, input: { kind: "REPAIR", description: "It leaks." } },
    { token: "admin" },
  );
  expect(error).toBeUndefined();
}

/** A cart with a line and with an address that its buyer saves. */
async function makeFullCart(
  world: World,
  side: Side,
): Promise<{
  id: string;
  lines: { id: string }[] & [{ id: string }];
  savedAddress: string;
  addressToken: string;
}> {
  const { id: merchantId } = world.demo.merchants[side];
  const frontend = { token: "operator", merchantId } as const;
  const lines = side === "first" ? { "KIT-KVERN": 1 } : { "MR-PROBE": 1 };
  const made = await makeCart(world, { ...frontend, lines, input: { buyerReference: `buyer-of-${side}` } });
  const set = await changeCart(world, "cartAddressSet", {
    ...frontend,
    cartId: made.id,
    input: { address: berlin, saveForBuyer: true },
  });
  expect(set.error).toBeUndefined();
  const saved = await askGraph(
    world,
    "query ($merchantId: ID, $buyer: String) { savedAddresses(merchantId: $merchantId, buyerReference: " +
      "$buyer) { id } }",
    { merchantId, buyer: `buyer-of-${side}` },
    { token: "operator" },
  );
  return {
    id: made.id,
    lines: made.lines,
    savedAddress: saved.data[0].id,
    addressToken: set.data.addressToken,
  };
}
