/** The requests that the service sends to Stripe, and what it makes of each answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type {
  PaymentPageContent,
  PaymentProvider,
  PaymentProviderAuthorizationRequest,
  PaymentProviderRequest,
} from "#commerce/payments/provider.ts";
import { createStripeProvider } from "#commerce/payments/stripe/stripe-provider.ts";
import type { FakeIntent, FakeSession } from "./fake-state.ts";
import { type FakeFault, type FakeStripe, startFakeStripe } from "./fake-stripe.ts";
import { createStripeTables, stripeTestKeys, type StripeTables } from "./stripe-tables.ts";

const minuteMs = 60_000;
const connectionId = "pcn_1";
const { signal } = new AbortController();
const unreachable: FakeFault = { status: 503 };

let stripe: FakeStripe;
let tables: StripeTables;
let provider: PaymentProvider;
let reference: string;
let count = 0;
beforeAll(async () => {
  const account = { id: "acct_one", name: "Kvern Outdoor", isLive: true };
  stripe = await startFakeStripe({
    accounts: { [stripeTestKeys.live]: account },
    now: () => tables.clock.now(),
  });
});
afterAll(() => stripe[Symbol.asyncDispose]());
beforeEach(() => {
  tables = createStripeTables(stripe.url);
  tables.addConnection(connectionId, stripeTestKeys.live);
  provider = createStripeProvider(tables);
  reference = `pay_${(count += 1)}`;
  stripe.faultOf = () => undefined;
  stripe.state.newRefundStatus = "succeeded";
  stripe.requests.length = 0;
});

const createRequest = (given: Partial<PaymentProviderRequest> = {}): PaymentProviderRequest => ({
  connectionId,
  reference,
  idempotencyKey: `pop_${(count += 1)}`,
  amountMinor: 5_000,
  currency: "EUR",
  signal,
  ...given,
});
const createContent = (given: Partial<PaymentPageContent> = {}): PaymentPageContent => ({
  sessionId: "ses_1",
  paidUrl: "https://shop.example/paid",
  canceledUrl: "https://shop.example/canceled",
  startedAt: tables.clock.now(),
  orderName: "Order",
  lines: [
    { name: "Tent", amountMinor: 4_000 },
    { name: "Shipping", amountMinor: 1_000 },
  ],
  ...given,
});
const authorize = (given: Partial<PaymentProviderAuthorizationRequest> = {}) =>
  provider.authorize({ ...createRequest(), token: null, checkout: createContent(), ...given });
const lookup = () => provider.lookup({ connectionId, reference, currency: "EUR", signal });
const faultAt = (path: string, fault: FakeFault): void => {
  stripe.faultOf = (request) =>
    request.method === "POST" && request.path.endsWith(path) ? fault : undefined;
};

/** Opens a payment page, on which the buyer pays with a card. */
async function pay(card: "success" | "decline" | "challenge" = "success"): Promise<FakeSession> {
  await authorize();
  const session = stripe.sessionOf(tables.pages.get(reference)?.pageId ?? "");
  stripe.state.pay(session, card);
  return session;
}
const intentOf = ({ payment_intent: id }: FakeSession): FakeIntent => {
  const intent = stripe.state.intents.get(id ?? "");
  if (intent === undefined) throw new Error("The page has no PaymentIntent.");
  return intent;
};
const held = {
  outcome: "authorized",
  amountMinor: 5_000,
  capturedMinor: 0,
  voidedMinor: 0,
  refundedMinor: 0,
};

describe("an authorization", () => {
  it("opens a page with the lines, the metadata and the expiry, and stores the page", async () => {
    const now = tables.clock.now();
    expect(await authorize({ idempotencyKey: "pop_first" })).toEqual({ outcome: "pending" });
    const [request] = stripe.requests;
    const body = new URLSearchParams(request?.body);
    const expiresAt = new Date(now.getTime() + 36 * minuteMs);
    expect(request).toMatchObject({ path: "/v1/checkout/sessions", idempotencyKey: "pop_first" });
    expect(Object.fromEntries(body)).toEqual({
      mode: "payment",
      client_reference_id: reference,
      "metadata[commerce_payment]": reference,
      "metadata[commerce_checkout_session]": "ses_1",
      "payment_intent_data[capture_method]": "manual",
      "payment_intent_data[metadata][commerce_payment]": reference,
      "payment_intent_data[metadata][commerce_checkout_session]": "ses_1",
      "adaptive_pricing[enabled]": "false",
      expires_at: String(Math.floor(expiresAt.getTime() / 1_000)),
      success_url: "https://shop.example/paid",
      cancel_url: "https://shop.example/canceled",
      "line_items[0][quantity]": "1",
      "line_items[0][price_data][currency]": "eur",
      "line_items[0][price_data][unit_amount]": "4000",
      "line_items[0][price_data][product_data][name]": "Tent",
      "line_items[1][quantity]": "1",
      "line_items[1][price_data][currency]": "eur",
      "line_items[1][price_data][unit_amount]": "1000",
      "line_items[1][price_data][product_data][name]": "Shipping",
    });
    const page = tables.pages.get(reference);
    expect(page).toMatchObject({ reference, connectionId, expiresAt, createdAt: now, intentId: null });
    expect(page?.url).toBe(stripe.sessionOf(page?.pageId ?? "").url);
  });

  it("shows one line with the total if Stripe cannot charge the amount of a line", async () => {
    const lines = [
      { name: "Tent", amountMinor: 1_505 },
      { name: "Shipping", amountMinor: 1_495 },
    ];
    await authorize({ currency: "KWD", checkout: createContent({ lines }) });
    const body = new URLSearchParams(stripe.requests[0]?.body);
    expect([...body].filter(([name]) => name.startsWith("line_items"))).toEqual([
      ["line_items[0][quantity]", "1"],
      ["line_items[0][price_data][currency]", "kwd"],
      ["line_items[0][price_data][unit_amount]", "3000"],
      ["line_items[0][price_data][product_data][name]", "Order"],
    ]);
  });

  it("is declined without a request if the page would be open for less than 30 minutes", async () => {
    const checkout = createContent();
    tables.clock.advance(6 * minuteMs + 1);
    expect(await authorize({ checkout })).toEqual({ outcome: "declined", code: "provider_unavailable" });
    expect(stripe.requests).toEqual([]);
    tables.clock.at = new Date("2026-11-26T13:00:00Z");
    const second = createContent();
    tables.clock.advance(6 * minuteMs);
    expect(await authorize({ checkout: second })).toEqual({ outcome: "pending" });
  });

  it("needs a connection and the content of the page", async () => {
    const message = `Payment ${reference} needs a connection and a checkout to be paid at Stripe.`;
    await expect(authorize({ connectionId: null })).rejects.toThrow(message);
    await expect(authorize({ checkout: null })).rejects.toThrow(message);
    await expect(authorize({ connectionId: "pcn_2" })).rejects.toThrow(
      "There is no payment connection pcn_2.",
    );
  });

  it.each<[fault: FakeFault, code: string | undefined]>([
    [{ status: 401 }, "provider_unavailable"],
    [{ status: 403 }, "provider_unavailable"],
    [{ status: 429 }, undefined],
    [{ status: 500 }, undefined],
    [{ status: 503 }, undefined],
  ])("after the fault %o has the code %s, or is repeated", async (fault, code) => {
    faultAt("/checkout/sessions", fault);
    const answer = await authorize().catch(() => undefined);
    expect(answer).toEqual(code && { outcome: "declined", code });
    expect([stripe.requests.length, tables.pages.size]).toEqual([1, 0]);
  });

  it("is declined with Stripe's code if Stripe refuses it, and unknown if the key was used before", async () => {
    expect(await authorize({ checkout: createContent({ lines: [] }) })).toEqual({
      outcome: "declined",
      code: "parameter_missing",
    });
    await authorize({ idempotencyKey: "pop_reused" });
    const other = createContent({ lines: [{ name: "Other", amountMinor: 5_000 }] });
    await expect(authorize({ idempotencyKey: "pop_reused", checkout: other })).rejects.toThrow(
      "The key was used with other parameters.",
    );
  });

  it("fails if Stripe returns a page without a URL", async () => {
    const openSession = stripe.state.openSession.bind(stripe.state);
    stripe.state.openSession = (...given) => Object.assign(openSession(...given), { url: null });
    await expect(authorize()).rejects.toThrow(/^Stripe has returned no URL for the page cs_live_/);
    stripe.state.openSession = openSession;
  });
});

describe("the state of a payment", () => {
  it("is unknown without a page, and pending until the buyer has paid", async () => {
    expect(await lookup()).toEqual({ outcome: "unknown" });
    expect(stripe.requests).toEqual([]);
    await authorize();
    expect(await lookup()).toEqual({ outcome: "pending" });
    expect(tables.pages.get(reference)?.intentId).toBeNull();
  });

  it("is authorized after the payment, and the id of the PaymentIntent is stored", async () => {
    const session = await pay();
    expect(await lookup()).toEqual(held);
    expect(tables.pages.get(reference)?.intentId).toBe(session.payment_intent);
    expect(stripe.requests.filter(({ path }) => path.startsWith("/v1/refunds"))).toEqual([]);
  });

  it("is pending while the buyer can try another card, and declined when the page has expired", async () => {
    const session = await pay("decline");
    expect(await lookup()).toEqual({ outcome: "pending" });
    stripe.state.expireSession(session);
    expect(await lookup()).toEqual({ outcome: "declined", code: "payment_page_expired" });
  });

  it("has the sum of the refunds that have not failed", async () => {
    const session = await pay();
    await provider.capture(createRequest());
    expect(await provider.refund(createRequest({ amountMinor: 1_000 }))).toEqual({ outcome: "succeeded" });
    stripe.state.newRefundStatus = "pending";
    await provider.refund(createRequest({ amountMinor: 700 }));
    const failed = createRequest({ amountMinor: 500 });
    await provider.refund(failed);
    const refund = [...stripe.state.refunds.values()].at(-1);
    if (refund !== undefined) stripe.state.endRefund(refund, "failed");
    expect(await lookup()).toEqual({ ...held, capturedMinor: 5_000, refundedMinor: 1_700 });
    if (refund !== undefined) refund.status = "canceled";
    expect(await lookup()).toMatchObject({ refundedMinor: 1_700 });
    expect(intentOf(session).status).toBe("succeeded");
  });
});

describe("a capture", () => {
  it("takes the amount, and reports the part that Stripe has released", async () => {
    const session = await pay();
    expect(
      await provider.capture(createRequest({ amountMinor: 3_000, idempotencyKey: "pop_capture" })),
    ).toEqual({
      outcome: "succeeded",
      releasedMinor: 2_000,
    });
    expect(intentOf(session)).toMatchObject({
      amount_received: 3_000,
      metadata: { commerce_operation: "pop_capture", commerce_payment: reference },
    });
    expect(stripe.requests.at(-1)).toMatchObject({ idempotencyKey: "pop_capture" });
    expect(await lookup()).toEqual({ ...held, capturedMinor: 3_000, voidedMinor: 2_000 });
  });

  it("of the whole amount releases nothing", async () => {
    await pay();
    expect(await provider.capture(createRequest())).toEqual({ outcome: "succeeded" });
  });

  it("is declined without a page, before the payment, and in an amount that Stripe cannot charge", async () => {
    expect(await provider.capture(createRequest())).toEqual({ outcome: "declined", code: "payment_unknown" });
    await authorize();
    expect(await provider.capture(createRequest())).toEqual({
      outcome: "declined",
      code: "payment_not_authorized",
    });
    stripe.requests.length = 0;
    expect(await provider.capture(createRequest({ amountMinor: 1_505, currency: "KWD" }))).toEqual({
      outcome: "declined",
      code: "currency_not_payable",
    });
    expect(stripe.requests).toEqual([]);
  });

  it("reads the payment again only until the id of its PaymentIntent is stored", async () => {
    await pay();
    await lookup();
    stripe.requests.length = 0;
    await provider.capture(createRequest());
    expect(stripe.requests.map(({ method }) => method)).toEqual(["POST"]);
  });

  it("whose answer was lost has succeeded, also with another idempotency key at Stripe", async () => {
    const session = await pay();
    stripe.state.capture(intentOf(session), 3_000, { commerce_operation: "pop_lost" });
    expect(await provider.capture(createRequest({ amountMinor: 3_000, idempotencyKey: "pop_lost" }))).toEqual(
      {
        outcome: "succeeded",
        releasedMinor: 2_000,
      },
    );
    expect(await provider.capture(createRequest({ amountMinor: 3_000 }))).toEqual({
      outcome: "declined",
      code: "payment_intent_unexpected_state",
    });
  });

  it("of an expired authorization is declined, and the whole amount is released", async () => {
    const session = await pay();
    stripe.state.cancel(intentOf(session));
    expect(await provider.capture(createRequest())).toEqual({
      outcome: "declined",
      code: "authorization_expired",
      releasedMinor: 5_000,
    });
  });

  it("above the authorized amount is declined, and is repeated if Stripe cannot be reached", async () => {
    await pay();
    expect(await provider.capture(createRequest({ amountMinor: 5_001 }))).toEqual({
      outcome: "declined",
      code: "amount_too_large",
    });
    faultAt("/capture", unreachable);
    await expect(provider.capture(createRequest())).rejects.toThrow("A test has asked for the status 503.");
  });
});

describe("a void", () => {
  it("without a page succeeds", async () => {
    expect(await provider.void(createRequest())).toEqual({ outcome: "succeeded" });
    expect(stripe.requests).toEqual([]);
  });

  it("closes an open page", async () => {
    const session = await pay("decline");
    expect(await provider.void(createRequest({ idempotencyKey: "pop_void" }))).toEqual({
      outcome: "succeeded",
    });
    expect(session.status).toBe("expired");
    expect(stripe.requests.at(-1)?.idempotencyKey).toBe("pop_void:expire");
    expect(await provider.void(createRequest())).toEqual({ outcome: "succeeded" });
  });

  it("cancels an authorization", async () => {
    const session = await pay();
    expect(await provider.void(createRequest({ idempotencyKey: "pop_void" }))).toEqual({
      outcome: "succeeded",
    });
    expect(intentOf(session).status).toBe("canceled");
    expect(stripe.requests.at(-1)?.idempotencyKey).toBe("pop_void:cancel");
    expect(await lookup()).toEqual({ ...held, outcome: "voided", voidedMinor: 5_000 });
    expect(await provider.void(createRequest())).toEqual({ outcome: "succeeded" });
  });

  it("of a captured payment is declined", async () => {
    await pay();
    await provider.capture(createRequest());
    expect(await provider.void(createRequest())).toEqual({ outcome: "declined", code: "payment_captured" });
  });

  it("waits if the payment has changed meanwhile, and is repeated if Stripe cannot be reached", async () => {
    const session = await pay();
    stripe.faultOf = ({ path }) => {
      if (path.endsWith("/cancel")) stripe.state.capture(intentOf(session), 5_000);
      return undefined;
    };
    expect(await provider.void(createRequest())).toEqual({ outcome: "pending" });
    reference = `pay_${(count += 1)}`;
    await authorize();
    faultAt("/expire", unreachable);
    await expect(provider.void(createRequest())).rejects.toThrow("status 503");
  });

  it("waits while Stripe processes the payment of a complete page", async () => {
    const session = await pay();
    intentOf(session).status = "processing";
    expect(await provider.void(createRequest())).toEqual({ outcome: "pending" });
  });
});

describe("a refund", () => {
  const capture = async (): Promise<FakeSession> => {
    const session = await pay();
    await provider.capture(createRequest());
    return session;
  };

  it("is made once for each operation, also if Stripe has forgotten the idempotency key", async () => {
    const session = await capture();
    expect(await provider.refund(createRequest({ amountMinor: 900, idempotencyKey: "pop_refund" }))).toEqual({
      outcome: "succeeded",
    });
    const created = stripe.requests.at(-1);
    expect(created?.idempotencyKey).toBe("pop_refund");
    expect(Object.fromEntries(new URLSearchParams(created?.body))).toEqual({
      payment_intent: session.payment_intent,
      amount: "900",
      "metadata[commerce_operation]": "pop_refund",
      "metadata[commerce_payment]": reference,
    });
    stripe.requests.length = 0;
    for (let index = 0; index < 101; index += 1) stripe.state.refund(intentOf(session), 1);
    await provider.refund(createRequest({ amountMinor: 900, idempotencyKey: "pop_refund" }));
    expect(stripe.requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });

  it("is pending until Stripe has ended it, and declined if it fails", async () => {
    await capture();
    stripe.state.newRefundStatus = "pending";
    const request = createRequest({ amountMinor: 900 });
    expect(await provider.refund(request)).toEqual({ outcome: "pending" });
    const refund = [...stripe.state.refunds.values()].at(-1);
    if (refund === undefined) throw new Error("There is no refund.");
    stripe.state.endRefund(refund, "failed");
    expect(await provider.refund(request)).toEqual({
      outcome: "declined",
      code: "expired_or_canceled_card",
    });
    delete refund.failure_reason;
    expect(await provider.refund(request)).toEqual({ outcome: "declined", code: "refund_failed" });
    refund.status = "canceled";
    expect(await provider.refund(request)).toEqual({ outcome: "declined", code: "refund_canceled" });
    refund.status = "succeeded";
    expect(await provider.refund(request)).toEqual({ outcome: "succeeded" });
  });

  it("above the captured amount is declined, and is repeated if Stripe cannot be reached", async () => {
    await capture();
    expect(await provider.refund(createRequest({ amountMinor: 5_001 }))).toEqual({
      outcome: "declined",
      code: "charge_already_refunded",
    });
    faultAt("/refunds", unreachable);
    await expect(provider.refund(createRequest())).rejects.toThrow("status 503");
  });
});
