/** A buyer of a live shop pays on Stripe's page: from connecting the account to the placed order. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { drive, ordersOf, paymentsOf, sessionOf, stockOf } from "#test/commerce/payments/checkouts.ts";
import { trySession } from "#test/operations/checkout-calls.ts";
import { askGraph, makeCart } from "#test/operations/cart-calls.ts";
import { done } from "#test/graph/order-money-calls.ts";
import { publicUrl } from "#test/support/world.ts";
import { buyerOf, headingOf, makePayableSession, textOf } from "#test/web/checkout/buyer.ts";
import {
  connect,
  connectLive,
  deliverAll,
  liveKey,
  type LiveShop,
  openLiveShop,
  openPaymentPage,
  otherLiveKey,
  payAndReturn,
  paymentOf,
  placeLiveOrder,
  signingSecret,
  testKey,
} from "./live-shop.ts";

let shop: LiveShop;
beforeAll(async () => {
  shop = await openLiveShop();
});
afterAll(() => shop[Symbol.asyncDispose]());

const readiness = async (): Promise<unknown> => {
  const { body } = await shop.world.getWithKey("/api/v1/open/installation/readiness");
  return body.data.checks.find((check: { code: string }) => check.code === "payment_provider_connected");
};

it("a live shop without a payment provider cannot open a checkout, and its readiness says so", async () => {
  const { id: cartId } = await makeCart(shop.world, { lines: { "KIT-KVERN": 1 } });
  const { error } = await trySession(shop.world, { cartId });
  expect(error).toMatchObject({ code: "invalid_state", conflict: { reason: "payment_provider_missing" } });
  expect(await readiness()).toMatchObject({ status: "fail" });
});

it("refuses keys of the wrong mode, malformed keys and keys that Stripe does not know", async () => {
  for (const [secretKey, code] of [
    [testKey, "wrong_mode"],
    ["pk_live_publishableKey", "pattern_mismatch"],
    ["sk_live_unknownToStripe1", "refused"],
  ] as const) {
    const { error } = await connect(shop, { secretKey });
    expect(error).toMatchObject({ code: "invalid_field", details: [{ field: "/secretKey", code }] });
    expect(JSON.stringify(error)).not.toContain(secretKey);
  }
  const { error } = await connect(shop, { secretKey: liveKey, webhookSigningSecret: "secret" });
  expect(error).toMatchObject({ code: "invalid_field", details: [{ field: "/webhookSigningSecret" }] });
});

it("refuses to connect an account for another merchant", async () => {
  const { world, merchantId } = shop;
  const { data } = await askGraph(
    world,
    "mutation ($input: InternalTokenCreateInput!) { internalTokenCreate(input: $input) { value } }",
    { input: { name: "Other", role: "ADMIN", merchantId: world.demo.merchants.second.id } },
    { token: "operator" },
  );
  const answer = async (id: string): Promise<unknown> => {
    const query = `mutation ($id: ID!, $key: String!) {
      paymentProviderConnect(merchantId: $id, input: { secretKey: $key }) { id }
    }`;
    const { body } = await world.graphql(query, { variables: { id, key: liveKey }, token: data.value });
    const [error] = body.errors;
    return { code: error.extensions.code, message: error.message };
  };
  const refused = await answer(merchantId);
  expect(refused).toMatchObject({ code: expect.stringMatching(/_not_found$|^forbidden/) as string });
  expect(refused).toEqual(await answer(`${merchantId.slice(0, -4)}0000`));
  expect(await world.database.db.selectFrom("paymentConnection").selectAll().execute()).toEqual([]);
});

it("connects the account, stores its secrets encrypted, and keeps the signing secret when the key changes", async () => {
  const first = await connect(shop, { secretKey: liveKey });
  expect(first.data.paymentConnection).toMatchObject({
    provider: "STRIPE",
    mode: "LIVE",
    accountId: "acct_one",
    accountName: "Kvern Outdoor",
    keyHint: "4242",
    hasSigningSecret: false,
    version: 1,
  });
  const { id, webhookUrl } = first.data.paymentConnection;
  expect(webhookUrl).toBe(`${publicUrl}/payments/stripe/${id}/events`);
  expect(await readiness()).toMatchObject({ status: "warn" });

  await connectLive(shop);
  expect(shop.connectionId).toBe(id);
  expect(await readiness()).toMatchObject({ status: "pass", remedy: null });
  const again = await connect(shop, { secretKey: liveKey });
  expect(again.data.paymentConnection).toMatchObject({ id, hasSigningSecret: true, version: 3 });

  const rows = await shop.world.database.db.selectFrom("paymentConnection").selectAll().execute();
  const audit = await shop.world.database.db.selectFrom("auditEntry").selectAll().execute();
  const stored = JSON.stringify([rows, audit, shop.world.logged, shop.world.statements]);
  expect(stored).not.toContain(liveKey);
  expect(stored).not.toContain(signingSecret);
});

it("places the order when the buyer returns from Stripe's page, and captures the payment later", async () => {
  const { world, stripe } = shop;
  const checkout = await openPaymentPage(shop);
  const { buyer, page, amountMinor, sessionId } = checkout;
  expect(headingOf(buyer.last().text)).toBe("Sie werden zur Zahlungsseite weitergeleitet");
  expect(buyer.last().text).not.toContain("cardNumber");
  // The page's script asks for the status and reads the row of the page once.
  world.statements.length = 0;
  const { body: polled } = await buyer.open("/status");
  expect(polled).toMatchObject({ status: "processing", challenge: true });
  expect(world.statements.filter((statement) => statement.includes("url_digest"))).toHaveLength(1);
  await buyer.open();
  expect(page).toMatchObject({
    amount_total: amountMinor,
    currency: "eur",
    success_url: `${publicUrl}${buyer.path}?returned=paid`,
    cancel_url: `${publicUrl}${buyer.path}?returned=canceled`,
    metadata: { commerce_checkout_session: sessionId },
  });
  const created = stripe.requests.find(({ path }) => path === "/v1/checkout/sessions");
  expect(created?.idempotencyKey).toMatch(/^pop_/);
  expect([...new URLSearchParams(created?.body).values()]).toContain("Lieferung");

  const returned = await payAndReturn(shop, checkout);
  expect(headingOf(returned.text)).toBe("Ihre Zahlung wird bearbeitet");
  const thanks = await buyer.open();
  expect(headingOf(thanks.text)).toBe("Vielen Dank");
  expect(textOf(thanks.text)).not.toContain("Testshop");
  expect(await sessionOf(world, { id: sessionId })).toMatchObject({ status: "completed" });
  const [order] = await ordersOf(world, checkout);
  expect(order).toMatchObject({ paymentStatus: "authorized", totalMinor: amountMinor });

  // The events of the payment arrive after the order was placed, and change nothing.
  await deliverAll(shop);
  expect(await ordersOf(world, checkout)).toEqual([order]);
  expect(await paymentsOf(world, { id: sessionId })).toMatchObject([
    { status: "authorized", amountMinor, capturedMinor: 0, tokenSealed: null },
  ]);
});

it("refuses an amount that Stripe cannot charge before a page is opened, and says that it is not payable", async () => {
  const { world, stripe } = shop;
  // Changes the currency of all markets with the euro, and the price of their delivery.
  const setMarkets = async (from: string, to: string, changeMinor: number): Promise<void> => {
    const { db } = world.database;
    await db.updateTable("market").set({ currency: to }).where("currency", "=", from).execute();
    await db
      .updateTable("deliveryMethod")
      .set((row) => ({ priceMinor: row("priceMinor", "+", changeMinor) }))
      .execute();
  };
  await setMarkets("EUR", "KWD", 5);
  const { url, amountTotal } = await makePayableSession(world);
  expect([amountTotal.currency, amountTotal.amountMinor % 10]).toEqual(["KWD", 5]);
  const pages = stripe.state.sessions.size;
  const buyer = buyerOf(world, url);
  await buyer.open();
  const refused = await buyer.press("pay");
  expect(textOf(refused.text)).toContain("Dieser Betrag kann in der Währung des Shops nicht bezahlt werden.");
  await drive(world);
  expect(stripe.state.sessions.size).toBe(pages);
  await setMarkets("KWD", "EUR", -5);
});

it("places the order by a webhook alone if the buyer never returns", async () => {
  const checkout = await openPaymentPage(shop);
  shop.stripe.state.pay(checkout.page, "success");
  expect(await ordersOf(shop.world, checkout)).toEqual([]);
  await deliverAll(shop);
  expect(await ordersOf(shop.world, checkout)).toHaveLength(1);
});

it("places the order without a webhook and without a return, by asking Stripe", async () => {
  const checkout = await openPaymentPage(shop);
  shop.stripe.state.pay(checkout.page, "success");
  shop.stripe.state.events.length = 0;
  shop.world.clock.advance(60_000);
  await drive(shop.world);
  expect(await ordersOf(shop.world, checkout)).toHaveLength(1);
});

it("lets the buyer try another card after a decline, and answer the bank's question", async () => {
  const { state } = shop.stripe;
  const checkout = await openPaymentPage(shop);
  expect(state.pay(checkout.page, "decline")).toBeUndefined();
  await deliverAll(shop);
  expect(await sessionOf(shop.world, { id: checkout.sessionId })).toMatchObject({ status: "processing" });
  expect(state.pay(checkout.page, "challenge")).toBeUndefined();
  await deliverAll(shop);
  expect(await ordersOf(shop.world, checkout)).toEqual([]);
  expect(state.answerChallenge(checkout.page, true)).toContain("returned=paid");
  await deliverAll(shop);
  expect(await ordersOf(shop.world, checkout)).toHaveLength(1);
  expect(state.events).toEqual([]);
});

it("two returns at once place one order", async () => {
  const checkout = await openPaymentPage(shop);
  const { world, stripe } = shop;
  stripe.state.pay(checkout.page, "success");
  await Promise.all([checkout.buyer.open("?returned=paid"), checkout.buyer.open("?returned=paid")]);
  await Promise.all([drive(world), drive(world), deliverAll(shop)]);
  expect(await ordersOf(world, checkout)).toHaveLength(1);
  expect(await paymentsOf(world, { id: checkout.sessionId })).toHaveLength(1);
});

it("a buyer who comes back without paying can change the order and pay again, but never twice", async () => {
  const { world, stripe } = shop;
  const checkout = await openPaymentPage(shop);
  const { buyer, page, sessionId } = checkout;
  const left = await buyer.open("?returned=canceled");
  expect(headingOf(left.text)).toBe("Sie haben noch nicht bezahlt");
  expect(left.text).not.toContain("data-leave");
  await buyer.press("give-up");
  expect(await sessionOf(world, { id: sessionId })).toMatchObject({ status: "open" });
  await drive(world);
  // The first page is closed, so that nobody can pay on it any more.
  expect(page.status).toBe("expired");
  await buyer.press("pay");
  await drive(world);
  const second = await buyer.open();
  const secondPage = stripe.sessionOf(/class="button"\s+href="([^"]+)"/.exec(second.text)?.[1] ?? "");
  expect(secondPage.id).not.toBe(page.id);
  await payAndReturn(shop, { ...checkout, page: secondPage });
  expect(await ordersOf(world, checkout)).toHaveLength(1);
  expect((await paymentsOf(world, { id: sessionId })).map(({ status }) => status)).toEqual([
    "canceled",
    "authorized",
  ]);
  stripe.state.events.length = 0;
});

it("voids a payment that succeeded just before its page was closed", async () => {
  const { world, stripe } = shop;
  const checkout = await openPaymentPage(shop);
  await checkout.buyer.open("?returned=canceled");
  await checkout.buyer.press("give-up");
  stripe.state.pay(checkout.page, "success");
  await deliverAll(shop);
  world.clock.advance(60_000);
  await drive(world);
  expect(await ordersOf(world, checkout)).toEqual([]);
  expect(stripe.state.intents.get(checkout.page.payment_intent ?? "")).toMatchObject({ status: "canceled" });
  expect(await paymentsOf(world, { id: checkout.sessionId })).toMatchObject([{ status: "canceled" }]);
  stripe.state.events.length = 0;
});

it("an expired page reopens or ends the checkout and releases the stock", async () => {
  const { world } = shop;
  const { promised } = await stockOf(world, "KIT-KVERN");
  const checkout = await openPaymentPage(shop);
  expect((await stockOf(world, "KIT-KVERN")).promised).toBe(promised + 1);
  world.clock.advance(61 * 60_000);
  await drive(world);
  expect(checkout.page.status).toBe("expired");
  expect(await sessionOf(world, { id: checkout.sessionId })).toMatchObject({ status: "expired" });
  expect(await paymentsOf(world, { id: checkout.sessionId })).toMatchObject([
    { status: "failed", failureCode: "payment_page_expired" },
  ]);
  expect((await stockOf(world, "KIT-KVERN")).promised).toBe(promised);
  shop.stripe.state.events.length = 0;
});

it("repeats a page with the same key after lost requests, lost answers, a rate limit and an outage", async () => {
  const { world, stripe } = shop;
  const faults = ["lost_request", "lost_answer", { status: 429 }, { status: 503 }] as const;
  let failed = 0;
  const pagesBefore = stripe.state.sessions.size;
  stripe.faultOf = ({ method, path }) =>
    method === "POST" && path === "/v1/checkout/sessions" ? faults[failed++] : undefined;
  const started = stripe.requests.length;
  const checkout = openPaymentPage(shop);
  await expect(checkout).rejects.toThrow("There is no page");
  for (let attempt = 0; attempt < faults.length; attempt += 1) {
    world.clock.advance(60_000);
    await drive(world);
  }
  stripe.faultOf = () => undefined;
  expect(failed).toBe(faults.length + 1);
  const keys = stripe.requests
    .slice(started)
    .flatMap(({ path, idempotencyKey }) => (path === "/v1/checkout/sessions" ? [idempotencyKey] : []));
  expect(new Set(keys).size).toBe(1);
  expect(stripe.state.sessions.size).toBe(pagesBefore + 1);
});

it("payments of an account that was replaced still belong to it, also when it is connected again", async () => {
  const { paymentId } = await placeLiveOrder(shop);
  await deliverAll(shop);
  const { data } = await connect(shop, { secretKey: otherLiveKey, webhookSigningSecret: signingSecret });
  expect(data.paymentConnection).toMatchObject({ accountId: "acct_two", version: 1 });
  expect(data.paymentConnection.id).not.toBe(shop.connectionId);
  expect(await paymentOf(shop, paymentId)).toMatchObject({ status: "authorized" });
  const { connectionId } = await shop.world.database.db
    .selectFrom("payment")
    .select("connectionId")
    .where("id", "=", paymentId)
    .executeTakeFirstOrThrow();
  expect(connectionId).toBe(shop.connectionId);

  // The first account is connected again with a new key: its connection continues.
  const replacedKey = ["sk", "live", "fakeAccountOneRotated7777"].join("_");
  shop.stripe.accounts[replacedKey] = { id: "acct_one", name: "Kvern Outdoor", isLive: true };
  delete shop.stripe.accounts[liveKey];
  const again = await connect(shop, { secretKey: replacedKey });
  expect(again.data.paymentConnection).toMatchObject({
    id: connectionId,
    accountId: "acct_one",
    keyHint: "7777",
    hasSigningSecret: true,
    webhookUrl: `${publicUrl}/payments/stripe/${connectionId}/events`,
  });
  await done(shop.world, "paymentCapture", { id: paymentId });
  await drive(shop.world);
  expect(await paymentOf(shop, paymentId)).toMatchObject({ status: "captured" });
  const active = await shop.world.database.db
    .selectFrom("paymentConnection")
    .select(["accountId", "disconnectedAt"])
    .where("merchantId", "=", shop.merchantId)
    .orderBy("accountId")
    .execute();
  expect(active.map(({ accountId, disconnectedAt }) => [accountId, disconnectedAt === null])).toEqual([
    ["acct_one", true],
    ["acct_two", false],
  ]);
});
