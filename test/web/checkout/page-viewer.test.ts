/**
 * The viewer of a checkout page can read the session, its cart and its order, and no other data of the
 * merchant.
 */
import { execute, parse } from "graphql";
import { expect, it } from "vitest";
import { drive, submitted } from "#test/commerce/payments/checkouts.ts";
import type { CheckoutBuyerViewer } from "#access/viewer.ts";
import { toFailure } from "#foundation/failure.ts";
import { createGraphqlContext } from "#graph/context.ts";
import graph from "#graph/schema.ts";
import { changeCart, makeCart } from "#test/operations/cart-calls.ts";
import { makeReadySession, makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { addressTyped, buyerOf, headingOf } from "./buyer.ts";

const useIt = useWorld();

async function askAs(
  world: World,
  viewer: CheckoutBuyerViewer,
  source: string,
): Promise<{ data: unknown; codes: string[] }> {
  const contextValue = createGraphqlContext(world.app.services, { viewer, requestId: "req_page" });
  const { data, errors = [] } = await execute({ schema: graph, document: parse(source), contextValue });
  return { data: { ...data }, codes: errors.map((error) => toFailure(error).code) };
}

it("a checkout page's viewer finds its own session, cart and order, and no others", async () => {
  const world = useIt();
  const { id: cartId } = await makeCart(world, {
    lines: { "KIT-KVERN": 1 },
    input: { buyerReference: "buyer-7" },
  });
  await changeCart(world, "cartAddressSet", { cartId, input: { address: { ...addressTyped, email: null } } });
  const own = await makeSession(world, { cartId });
  const other = await makeReadySession(world);
  await submitted(world, other, "tok_success");
  await drive(world);
  const viewer: CheckoutBuyerViewer = {
    kind: "buyer",
    merchantId: world.demo.merchants.first.id,
    sessionId: own.id,
    cartId,
  };
  const { orderId } = await world.database.db
    .selectFrom("hostedCheckoutSession")
    .select("orderId")
    .where("id", "=", other.id)
    .executeTakeFirstOrThrow();
  const query = (sessionId: string, cart: string): string =>
    `{ hostedCheckoutSession(id: "${sessionId}") { url cart { buyer { reference guest } } } cart(id:
      "${cart}") { id } }`;
  expect(await askAs(world, viewer, query(own.id, cartId))).toEqual({
    data: {
      hostedCheckoutSession: { url: null, cart: { buyer: { reference: null, guest: false } } },
      cart: { id: cartId },
    },
    codes: [],
  });
  expect(await askAs(world, viewer, query(other.id, other.cartId))).toEqual({
    data: { hostedCheckoutSession: null, cart: null },
    codes: [],
  });
  expect(await askAs(world, viewer, `{ order(id: "${orderId}") { id } }`)).toEqual({
    data: { order: null },
    codes: [],
  });
  const ofOther: CheckoutBuyerViewer = { ...viewer, sessionId: other.id, cartId: other.cartId };
  expect(
    await askAs(world, ofOther, `{ order(id: "${orderId}") { id shippingAddress { line1 } buyerEmail } }`),
  ).toEqual({
    data: { order: { id: orderId, shippingAddress: null, buyerEmail: null } },
    codes: [],
  });
  const removal = `mutation { hostedCheckoutSessionPromotionRemove(sessionId: "${other.id}", input: {}) { id }
    }`;
  expect((await askAs(world, viewer, removal)).codes).toEqual(["checkout_session_not_found"]);
});

it("without its database the page says to try again", async () => {
  await using away = await createWorld();
  const { url } = await makeSession(away);
  const buyer = buyerOf(away, url);
  await buyer.open();
  Object.defineProperty(away.database.db, "selectFrom", { value: refuse });
  const shown = await buyer.open();
  expect([shown.status, headingOf(shown.text), shown.headers["retry-after"]]).toEqual([
    503,
    "The checkout is not available at the moment",
    "2",
  ]);
  expect(shown.text).not.toMatch(/127\.0\.0\.1|checkout\/[\w-]{43}/);
});

function refuse(): never {
  throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
}
