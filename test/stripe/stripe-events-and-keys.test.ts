/** The events, disputes and refunds that the service reads from Stripe, and the check of secret keys. */
import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PaymentProviderKeyRefusedError } from "#commerce/payments/provider-events.ts";
import { createStripeClient } from "#commerce/payments/stripe/stripe-client.ts";
import {
  getStripeRefusalCode,
  isStripeKeyRefusalError,
  normalizeStripeErrorCode,
} from "#commerce/payments/stripe/stripe-errors.ts";
import { createStripeEventSource } from "#commerce/payments/stripe/stripe-events.ts";
import {
  getExpandedPaymentIntent,
  getReleasedAuthorizationAmountMinor,
  hasStripeRefunds,
  toPaymentLookupResult,
} from "#commerce/payments/stripe/stripe-payment-state.ts";
import { verifyStripeKey } from "#commerce/payments/stripe/verify-key.ts";
import type { FakeEvent } from "./fake-state.ts";
import { type FakeStripe, signFakeEvent, startFakeStripe } from "./fake-stripe.ts";
import { createStripeTables, stripeTestKeys, type StripeTables } from "./stripe-tables.ts";

let stripe: FakeStripe;
let tables: StripeTables;
beforeAll(async () => {
  stripe = await startFakeStripe({
    accounts: {
      [stripeTestKeys.live]: { id: "acct_one", name: "Kvern Outdoor", isLive: true },
      [stripeTestKeys.test]: { id: "acct_one", name: "Kvern Outdoor", isLive: false },
    },
    now: () => tables.clock.now(),
  });
});
afterAll(() => stripe[Symbol.asyncDispose]());
beforeEach(() => {
  tables = createStripeTables(stripe.url);
  tables.addConnection("pcn_1", `${stripeTestKeys.live}\n${stripeTestKeys.signing}`);
  tables.addConnection("pcn_unsigned", stripeTestKeys.live);
  stripe.faultOf = () => undefined;
  stripe.requests.length = 0;
});

const createEvent = (object: object, type = "charge.refunded"): FakeEvent => ({
  id: "evt_1",
  object: "event",
  type: type as Stripe.Event.Type,
  created: 1_790_000_000,
  livemode: true,
  api_version: "2025-03-31",
  pending_webhooks: 1,
  request: null,
  data: { object: object as never },
});

/** Signs an event, and verifies it `ageSeconds` later with the secret of a connection. */
function verify(
  object: object,
  { ageSeconds = 0, connectionId = "pcn_1", secret = stripeTestKeys.signing } = {},
) {
  const at = new Date(tables.clock.now().getTime() - ageSeconds * 1_000);
  const { body, headers } = signFakeEvent(createEvent(object), secret, at);
  return createStripeEventSource(tables).verify(connectionId, {
    body: Buffer.from(body),
    signature: headers["stripe-signature"] ?? "",
  });
}

describe("an event of Stripe", () => {
  it.each<[object: object, ids: object]>([
    [{ object: "checkout.session", id: "cs_1" }, { payment: { pageId: "cs_1" } }],
    [
      { object: "payment_intent", id: "pi_1", metadata: { commerce_payment: "pay_1" } },
      { payment: { intentId: "pi_1", reference: "pay_1" } },
    ],
    [{ object: "charge", id: "ch_1", payment_intent: "pi_1" }, { payment: { intentId: "pi_1" } }],
    [{ object: "charge", id: "ch_1", payment_intent: { id: "pi_2" } }, { payment: { intentId: "pi_2" } }],
    [{ object: "charge", id: "ch_1", payment_intent: null }, { payment: { intentId: undefined } }],
    [
      { object: "refund", id: "re_1", payment_intent: "pi_1" },
      { payment: { intentId: "pi_1" }, refundId: "re_1" },
    ],
    [
      { object: "dispute", id: "dp_1", payment_intent: "pi_1" },
      { payment: { intentId: "pi_1" }, disputeId: "dp_1" },
    ],
    [{ object: "customer", id: "cus_1" }, { payment: {} }],
    [{ id: "without_object" }, { payment: {} }],
  ])("about %o names %o", async (object, ids) => {
    const verified = await verify(object);
    expect(verified?.connection).toEqual({ id: "pcn_1", merchantId: "mer_1" });
    expect(verified?.event).toEqual({
      id: "evt_1",
      type: "charge.refunded",
      createdAt: new Date(1_790_000_000_000),
      ...ids,
    });
  });

  it("is refused with an old or forged signature, and for a connection without a signing secret", async () => {
    const object = { object: "checkout.session", id: "cs_1" };
    expect(await verify(object, { ageSeconds: 299 })).toBeDefined();
    expect(await verify(object, { ageSeconds: 302 })).toBeUndefined();
    expect(await verify(object, { secret: `${stripeTestKeys.signing}x` })).toBeUndefined();
    expect(await verify(object, { connectionId: "pcn_unsigned" })).toBeUndefined();
    expect(await verify(object, { connectionId: "pcn_unknown" })).toBeUndefined();
  });

  it("is refused if its body is not JSON", async () => {
    const { Stripe: StripeClient } = await import("stripe");
    const payload = "not JSON";
    const signature = StripeClient.webhooks.generateTestHeaderString({
      payload,
      secret: stripeTestKeys.signing,
      timestamp: Math.floor(tables.clock.now().getTime() / 1_000),
    });
    const body = Buffer.from(payload);
    expect(await createStripeEventSource(tables).verify("pcn_1", { body, signature })).toBeUndefined();
  });

  const listSince = async (since: Date): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of createStripeEventSource(tables).list("pcn_1", since)) ids.push(id);
    return ids;
  };

  it("is listed from a time on, if its type is handled", async () => {
    const seconds = 1_790_000_000;
    const charge = { object: "charge", id: "ch_1", payment_intent: "pi_1" };
    stripe.state.events.push(
      { ...createEvent(charge), id: "evt_old", created: seconds - 1 },
      { ...createEvent(charge), id: "evt_first", created: seconds },
      { ...createEvent(charge, "customer.created"), id: "evt_other", created: seconds },
      ...Array.from({ length: 120 }, (_, index) => ({ ...createEvent(charge), id: `evt_${index}` })),
    );
    const found = await listSince(new Date(seconds * 1_000 + 999));
    expect([found.length, found.at(-1), found.includes("evt_other")]).toEqual([121, "evt_first", false]);
    expect(stripe.requests).toHaveLength(2);
    stripe.state.events.length = 0;
  });

  it("cannot be listed with a refused key, or while Stripe is away", async () => {
    stripe.faultOf = () => ({ status: 401 });
    const error: unknown = await listSince(new Date(0)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentProviderKeyRefusedError);
    expect(error).toMatchObject({ message: "Stripe has refused the key of the connection pcn_1." });
    expect(isStripeKeyRefusalError((error as Error).cause)).toBe(true);
    stripe.faultOf = () => ({ status: 503 });
    const other: unknown = await listSince(new Date(0)).catch((thrown: unknown) => thrown);
    expect(other).not.toBeInstanceOf(PaymentProviderKeyRefusedError);
    expect(other).toMatchObject({ statusCode: 503 });
  });
});

describe("a dispute at Stripe", () => {
  const read = async (given: { status?: string; reason?: string; amount?: number; currency?: string }) => {
    const id = `dp_${"0".repeat(24)}`;
    const dispute = { id, object: "dispute", amount: 1_234, currency: "eur", payment_intent: "pi_1" };
    stripe.state.disputes.set(id, { ...dispute, status: "lost", reason: "general", ...given } as never);
    return createStripeEventSource(tables).readDispute("pcn_1", id);
  };

  it.each([
    ["won", "won"],
    ["lost", "lost"],
    ["needs_response", "open"],
    ["under_review", "open"],
    ["warning_needs_response", "ignored"],
    ["warning_closed", "ignored"],
    ["prevented", "ignored"],
  ])("with the status %s is %s", async (status, expected) => {
    expect((await read({ status })).status).toBe(expected);
  });

  it.each([
    ["fraudulent", "fraudulent"],
    ["unrecognized", "unrecognized"],
    ["product_not_received", "not_received"],
    ["product_unacceptable", "not_as_described"],
    ["duplicate", "duplicate"],
    ["subscription_canceled", "canceled"],
    ["credit_not_processed", "other"],
  ])("for the reason %s has the reason %s", async (reason, expected) => {
    expect((await read({ reason })).reason).toBe(expected);
  });

  it("has its id and its amount in the minor units of this service", async () => {
    expect(await read({ amount: 150, currency: "huf" })).toMatchObject({
      id: `dp_${"0".repeat(24)}`,
      amountMinor: 2,
    });
    expect(await read({})).toMatchObject({ amountMinor: 1_234 });
    expect(await read({ amount: 4_990, currency: "jpy" })).toMatchObject({ amountMinor: 4_990 });
  });
});

it("a refund at Stripe has the id of its operation, and says whether it has failed", async () => {
  const id = `re_${"0".repeat(24)}`;
  const read = (given: object) => {
    stripe.state.refunds.set(id, { id, object: "refund", status: "succeeded", ...given } as never);
    return createStripeEventSource(tables).readRefund("pcn_1", id);
  };
  expect(await read({ metadata: { commerce_operation: "pop_1" } })).toEqual({
    operationId: "pop_1",
    hasFailed: false,
  });
  expect(await read({ metadata: {}, status: "failed" })).toEqual({ operationId: null, hasFailed: true });
  expect(await read({ metadata: null, status: "canceled" })).toEqual({ operationId: null, hasFailed: true });
  expect(await read({ metadata: {}, status: "pending" })).toMatchObject({ hasFailed: false });
});

describe("the state of a PaymentIntent", () => {
  const intent = (given: object): Stripe.PaymentIntent =>
    ({
      amount: 5_000,
      amount_received: 0,
      currency: "eur",
      latest_charge: null,
      last_payment_error: null,
      ...given,
    }) as Stripe.PaymentIntent;
  const lookup = (status: "open" | "complete" | "expired", given?: object) =>
    toPaymentLookupResult({
      session: { status },
      intent: given === undefined ? undefined : intent(given),
      refundedAmount: 0,
    });
  const pending = { outcome: "pending" };

  it.each<[status: "open" | "complete" | "expired", given: object | undefined, expected: object]>([
    ["open", undefined, pending],
    ["complete", undefined, pending],
    ["expired", undefined, { outcome: "declined", code: "payment_page_expired" }],
    ["open", { status: "requires_payment_method" }, pending],
    ["open", { status: "canceled" }, pending],
    ["complete", { status: "processing" }, pending],
    ["complete", { status: "canceled" }, { outcome: "voided", voidedMinor: 5_000, capturedMinor: 0 }],
    ["expired", { status: "requires_capture" }, { outcome: "authorized", voidedMinor: 0 }],
    [
      "complete",
      { status: "succeeded", amount_received: 3_000 },
      { outcome: "authorized", amountMinor: 5_000, capturedMinor: 3_000, voidedMinor: 2_000 },
    ],
    ["complete", { status: "requires_payment_method" }, { outcome: "declined", code: "other" }],
    [
      "complete",
      { status: "requires_payment_method", last_payment_error: { code: "card_declined" } },
      { outcome: "declined", code: "card_declined" },
    ],
    [
      "complete",
      {
        status: "requires_payment_method",
        last_payment_error: { code: "card_declined", decline_code: "lost_card" },
      },
      { outcome: "declined", code: "lost_card" },
    ],
  ])("on a page that is %s, with %o, is %o", (status, given, expected) => {
    expect(lookup(status, given)).toMatchObject(expected);
  });

  it("has no released amount before the capture", () => {
    const released = (given: object): number => getReleasedAuthorizationAmountMinor(intent(given));
    expect(released({ status: "requires_capture" })).toBe(0);
    expect(released({ status: "succeeded", amount_received: 4_999 })).toBe(1);
    expect(released({ status: "canceled" })).toBe(5_000);
  });

  it("has amounts in the minor units of a currency without decimal places", () => {
    const yen = { currency: "jpy", status: "succeeded", amount_received: 3_000 };
    expect(lookup("complete", yen)).toMatchObject({
      amountMinor: 5_000,
      capturedMinor: 3_000,
      voidedMinor: 2_000,
    });
    expect(getReleasedAuthorizationAmountMinor(intent(yen))).toBe(2_000);
  });

  it("has refunds if its expanded charge has them", () => {
    const has = (charge: unknown): boolean => hasStripeRefunds(intent({ latest_charge: charge }));
    expect([null, "ch_1", { amount_refunded: 0 }, { amount_refunded: 1 }].map(has)).toEqual([
      false,
      false,
      false,
      true,
    ]);
    const expanded = intent({});
    expect(
      [null, "pi_1", expanded].map((value) => getExpandedPaymentIntent({ payment_intent: value })),
    ).toEqual([undefined, undefined, expanded]);
  });
});

describe("an error of Stripe", () => {
  class StripeCardError extends Error {
    readonly statusCode: number;
    constructor(statusCode: number, given: object) {
      super("refused");
      this.statusCode = statusCode;
      Object.assign(this, given);
    }
  }
  const codeOf = (status: number, given: object): string | undefined =>
    getStripeRefusalCode(new StripeCardError(status, given));

  it("is a refusal only with the statuses 400, 402 and 404, and not about the idempotency key", () => {
    const code = "resource_missing";
    expect([400, 402, 404].map((status) => codeOf(status, { code }))).toEqual([code, code, code]);
    expect([401, 403, 409, 429, 500].map((status) => codeOf(status, { code }))).toEqual(
      Array.from({ length: 5 }),
    );
    expect(codeOf(400, { code, rawType: "idempotency_error" })).toBeUndefined();
    expect(getStripeRefusalCode(new Error("closed"))).toBeUndefined();
    expect(getStripeRefusalCode(Object.assign(new Error("other"), { statusCode: 400 }))).toBeUndefined();
    expect(getStripeRefusalCode("text")).toBeUndefined();
    class StripeWithoutStatus extends Error {}
    expect(getStripeRefusalCode(new StripeWithoutStatus())).toBeUndefined();
  });

  it("has the code of the bank, of Stripe or of its kind, in this order", () => {
    const given = { decline_code: "lost_card", code: "card_declined", rawType: "card_error" };
    expect(codeOf(402, given)).toBe("lost_card");
    expect(codeOf(402, { ...given, decline_code: undefined })).toBe("card_declined");
    expect(codeOf(402, { rawType: "card_error" })).toBe("card_error");
    expect(codeOf(402, {})).toBe("other");
  });

  it.each([
    ["card_declined", "card_declined"],
    ["a1", "a1"],
    ["a".repeat(64), "a".repeat(64)],
    ["a".repeat(65), "other"],
    ["1a", "other"],
    ["_a", "other"],
    ["Card", "other"],
    ["card-declined", "other"],
    ["card_declined ", "other"],
    [" card_declined", "other"],
    ["", "other"],
    [null, "other"],
    [undefined, "other"],
  ])("with the code %o has the code %s", (code, expected) => {
    expect(normalizeStripeErrorCode(code)).toBe(expected);
  });

  it("refuses the key with 401 and 403", () => {
    expect(
      [400, 401, 402, 403, 404, 429].filter((status) =>
        isStripeKeyRefusalError(new StripeCardError(status, {})),
      ),
    ).toEqual([401, 403]);
    expect(isStripeKeyRefusalError(Object.assign(new Error("other"), { statusCode: 401 }))).toBe(false);
  });
});

describe("a secret key", () => {
  const tryKey = (key: string): Promise<unknown> =>
    verifyStripeKey(key, stripe.url).catch((error: unknown) => error);

  it("gives the account and the mode", async () => {
    const account = { provider: "stripe", accountId: "acct_one", accountName: "Kvern Outdoor" };
    expect(await tryKey(stripeTestKeys.live)).toEqual({ ...account, mode: "live" });
    expect(await tryKey(stripeTestKeys.test)).toEqual({ ...account, mode: "test" });
    const restricted = `rk_live_${"a".repeat(8)}`;
    stripe.accounts[restricted] = { id: "acct_two", name: null as never, isLive: true };
    expect(await tryKey(restricted)).toEqual({
      provider: "stripe",
      accountId: "acct_two",
      accountName: null,
      mode: "live",
    });
  });

  it.each([
    "pk_live_12345678",
    "sk_live_1234567",
    `sk_live_${"a".repeat(241)}`,
    "sk_prod_12345678",
    "x sk_live_12345678",
    "sk_live_12345678 x",
  ])("is refused without a request: %s", async (key) => {
    expect(await tryKey(key)).toMatchObject({
      code: "invalid_field",
      parts: {
        details: [
          {
            field: "/secretKey",
            code: "pattern_mismatch",
            message:
              '"secretKey" must be a secret key (sk_live_… or sk_test_…) or a restricted key (rk_live_… or rk_test_…).',
          },
        ],
      },
    });
    expect(stripe.requests).toEqual([]);
  });

  it("is refused if Stripe does not accept it", async () => {
    for (const key of [`sk_test_${"a".repeat(240)}`, "rk_test_12345678"])
      expect(await tryKey(key)).toMatchObject({
        code: "invalid_field",
        parts: {
          details: [
            { code: "refused", message: 'Stripe did not accept "secretKey", a key of the test mode.' },
          ],
        },
      });
  });

  it("cannot be checked while Stripe is away", async () => {
    stripe.faultOf = () => ({ status: 503 });
    expect(await tryKey(stripeTestKeys.live)).toMatchObject({
      code: "upstream_timeout",
      message: 'Stripe could not be asked whether "secretKey" is valid, so nothing was changed. Try again.',
      cause: { statusCode: 503 },
    });
  });
});

it.each([
  ["https://api.stripe.com", "api.stripe.com", 443, "https"],
  ["http://stripe.example", "stripe.example", 80, "http"],
  ["http://127.0.0.1:12111", "127.0.0.1", 12_111, "http"],
  ["https://stripe.example:8443", "stripe.example", 8_443, "https"],
])(
  "a client for %s sends its requests to %s:%i by %s, with a time limit of 9 s",
  async (base, host, port, protocol) => {
    const client = await createStripeClient(stripeTestKeys.live, base);
    const settings = ["host", "port", "protocol", "timeout", "maxNetworkRetries"].map((name) =>
      client.getApiField(name as never),
    );
    expect(settings).toEqual([host, port, protocol, 9_000, 0]);
  },
);
