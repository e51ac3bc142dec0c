/** Things of both merchants, one of each kind, by which it is tried that neither sees what is the other's. */
import { sql } from "kysely";
import { expect } from "vitest";
import { askGraph, berlin, changeCart, makeCart, makePromotion } from "#test/operations/cart-calls.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import type { World } from "#test/support/world.ts";
import { makeDelivery } from "#test/webhooks/delivery-rows.ts";
import type { IdPlace } from "./id-places.ts";

export const sides = ["first", "second"] as const;
export type Side = (typeof sides)[number];

/** The table of each kind whose ids stand in a column of that name. */
const tables = {
  apiKey: "api_key",
  category: "category",
  claim: "warranty_claim",
  deliveryOption: "delivery_method",
  endpoint: "webhook_endpoint",
  fulfillment: "fulfillment",
  grant: "oauth_grant",
  installation: "installation",
  internalToken: "internal_token",
  market: "market",
  payment: "payment",
  product: "product",
  refund: "refund",
  return: "order_return",
  staff: "staff_account",
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
export type Thing = keyof typeof tables | (typeof others)[number];
export type Things = Readonly<Partial<Record<Thing, string>>>;

const ofRoot: Readonly<Record<string, Thing>> = {
  hostedCheckoutSession: "session",
  webhookEndpoint: "endpoint",
  webhookDelivery: "delivery",
};
const ofName: Readonly<Record<string, Thing>> = {
  parentId: "category",
  optionId: "deliveryOption",
  sourceCartId: "cart",
  toEndpointId: "endpoint",
  addressToken: "addressToken",
};

/** What kind of thing a place names. */
export function thingAt({ field, path }: IdPlace): Thing {
  const name = path.slice(path.lastIndexOf(".") + 1);
  if (name === "id") return ofRoot[field] ?? (field as Thing);
  if (name === "lineId" || name === "lineIds") return field.startsWith("cart") ? "cartLine" : "orderLine";
  const bare = name.replace(/Ids?$/, "").replace(/^(?:entitled|buy|excluded|exchange)/, "");
  return ofName[name] ?? ((bare.slice(0, 1).toLowerCase() + bare.slice(1)) as Thing);
}

/** Its products are named on both sides. */
const buyTwoGetOne = { kind: "BUY_X_GET_Y", buyQuantity: 2, getQuantity: 1, basisPoints: 5000 };

/** The caller's own thing for a place; some calls want it in another state than most. */
export function ownAt(
  { demo }: World,
  { place, caller, own }: { readonly place: IdPlace; readonly caller: Side; readonly own: Things },
): string | undefined {
  const thing = thingAt(place);
  if (thing !== "order" || caller === "second") return own[thing];
  if (place.field === "fulfillmentCreate") return demo.orders.packing;
  return place.field.startsWith("return") || place.field.startsWith("warranty")
    ? demo.orders.delivered
    : demo.orders.placed;
}

export async function makeThings(world: World, side: Side): Promise<Things> {
  const { db } = world.database;
  const { id: merchantId } = world.demo.merchants[side];
  const one = async (table: string, where = sql`true`): Promise<string | undefined> =>
    (
      await sql<{
        id: string;
      }>`select id from ${sql.table(table)} where merchant_id = ${merchantId} and ${where} order by id limit 1`.execute(
        db,
      )
    ).rows[0]?.id;
  const { id: cart, lines, savedAddress, addressToken } = await makeFullCart(world, side);
  await createTokenClient(world, { merchant: side });
  const { id: endpoint } = await makeEndpoint(world, { key: side === "first" ? "full" : "otherMerchant" });
  if (side === "first") await openClaim(world, await one("warranty_registration"));
  const order = side === "first" ? world.demo.orders.placed : world.demo.orders.otherMerchant;
  const product = await one("product", sql`status = 'published'`);
  const found = await Promise.all(
    Object.entries(tables).map(async ([thing, table]): Promise<[string, string | undefined]> => [
      thing,
      await one(table),
    ]),
  );
  const things: Record<string, string | undefined> = {
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
    Object.entries(things).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
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

/** With a line, and with an address that its buyer keeps. */
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
    "query ($merchantId: ID, $buyer: String) { savedAddresses(merchantId: $merchantId, buyerReference: $buyer) { id } }",
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
