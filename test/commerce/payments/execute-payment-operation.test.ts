/**
 * What one payment operation asks of the payment provider, and which outcome it has: after a lost answer,
 * after its timeout, and for a payment whose checkout has failed.
 */
import { describe, expect, it, vi } from "vitest";
import {
  executePaymentOperation,
  getAuthorizationRequestTimeoutMs,
  raceAgainstAbortSignal,
} from "#commerce/payments/execute-payment-operation.ts";
import type { ClaimedPaymentOperation } from "#commerce/payments/payment-operations.ts";
import { getPaymentTokenEncryptionContext } from "#commerce/payments/payment-rows.ts";
import {
  createPaymentProviderRouter,
  type PaymentLookupResult,
  type PaymentPageContent,
  type PaymentProvider,
} from "#commerce/payments/provider.ts";
import {
  decideTestProviderCapture,
  decideTestProviderRefund,
  decideTestProviderVoid,
  type TestProviderPaymentRow,
} from "#commerce/payments/test/test-provider-decisions.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const createdAt = new Date("2026-11-26T12:00:00Z");
const keyring = createEncryptionKeyring([{ id: "test", key: Buffer.alloc(32, 1) }]);
const token = keyring.seal(Buffer.from("tok_success"), getPaymentTokenEncryptionContext("pay_1"));
const page = { sessionId: "ses_1" } as PaymentPageContent;

const createOperation = (given: Partial<ClaimedPaymentOperation>): ClaimedPaymentOperation => ({
  id: "pop_1",
  merchantId: "mer_1",
  paymentId: "pay_1",
  kind: "authorize",
  amountMinor: 1_000,
  currency: "EUR",
  provider: "test",
  connectionId: null,
  sessionId: "ses_1",
  attempts: 1,
  createdAt,
  isAbandoned: false,
  traceparent: null,
  tokenSealed: token.sealed,
  tokenDataKey: token.dataKey,
  tokenKeyId: token.keyId,
  ...given,
});

const amounts = { amountMinor: 1_000, capturedMinor: 0, voidedMinor: 0, refundedMinor: 0 };
const authorized = { outcome: "authorized", ...amounts } as const;
const pending = { outcome: "pending" } as const;

/** Creates a provider that records its requests. The lookups get the given results, one after the other. */
function createProvider(given: Partial<PaymentProvider> = {}, lookups: readonly PaymentLookupResult[] = []) {
  const requests: (readonly [name: string, request: object])[] = [];
  const found = [...lookups];
  const answers: PaymentProvider = {
    authorize: async () => authorized,
    capture: async () => ({ outcome: "succeeded" }),
    void: async () => ({ outcome: "succeeded" }),
    refund: async () => ({ outcome: "succeeded" }),
    lookup: async () => found.shift() ?? { outcome: "unknown" },
    ...given,
  };
  const record =
    <Request extends object, Result>(name: string, answer: (request: Request) => Promise<Result>) =>
    (request: Request): Promise<Result> => {
      const { signal: _signal, ...rest } = request as { readonly signal: AbortSignal };
      requests.push([name, rest]);
      return answer(request);
    };
  const provider: PaymentProvider = {
    authorize: record("authorize", answers.authorize),
    capture: record("capture", answers.capture),
    void: record("void", answers.void),
    refund: record("refund", answers.refund),
    lookup: record("lookup", answers.lookup),
  };
  return { provider, requests, names: () => requests.map(([name]) => name) };
}

const execute = (
  operation: Partial<ClaimedPaymentOperation>,
  provider: PaymentProvider,
  { afterMs = 0, signal = new AbortController().signal, answerMsMax = 5_000 } = {},
) =>
  executePaymentOperation(createOperation(operation), {
    provider,
    keyring,
    loadPage: async () => page,
    now: new Date(createdAt.getTime() + afterMs),
    signal,
    answerMsMax,
  });

const failing = (): Promise<never> => Promise.reject(new Error("The provider is away."));

describe("an authorization", () => {
  const request = {
    connectionId: null,
    reference: "pay_1",
    idempotencyKey: "pop_1",
    amountMinor: 1_000,
    currency: "EUR",
  };

  it("sends the decrypted token, or the content of the provider's page", async () => {
    const { provider, requests } = createProvider();
    expect(await execute({}, provider)).toEqual({ outcome: authorized });
    await execute({ provider: "stripe", connectionId: "pcn_1" }, provider);
    expect(requests).toEqual([
      ["authorize", { ...request, token: "tok_success", checkout: null }],
      ["authorize", { ...request, connectionId: "pcn_1", token: null, checkout: page }],
    ]);
  });

  it.each(["tokenSealed", "tokenDataKey", "tokenKeyId"])("fails without %s", async (name) => {
    const { provider, requests } = createProvider();
    const { outcome, error } = await execute({ [name]: null }, provider);
    expect(outcome).toBeUndefined();
    expect(error).toMatchObject({
      message: "Payment pay_1 cannot be authorized: its payment token is missing.",
    });
    expect(requests).toEqual([]);
  });

  it("looks for the payment from the second attempt on, and is sent again only if it is unknown", async () => {
    const known = createProvider({}, [authorized]);
    expect(await execute({ attempts: 2 }, known.provider)).toEqual({ outcome: authorized });
    expect(known.names()).toEqual(["lookup"]);
    const unknown = createProvider();
    expect(await execute({ attempts: 2 }, unknown.provider)).toEqual({ outcome: authorized });
    expect(unknown.names()).toEqual(["lookup", "authorize"]);
    const voided = createProvider({}, [{ outcome: "voided", ...amounts }]);
    expect(await execute({ attempts: 2 }, voided.provider)).toEqual({
      outcome: { outcome: "declined", code: "voided" },
    });
  });

  it.each([
    ["test", 15 * minuteMs],
    ["stripe", 40 * minuteMs],
  ] as const)("at the provider %s times out after %i ms", async (provider, timeoutMs) => {
    expect(getAuthorizationRequestTimeoutMs({ provider })).toBe(timeoutMs);
    const timedOut = { outcome: { outcome: "timed_out" } };
    const late = createProvider({ authorize: async () => pending }, [{ outcome: "unknown" }, pending]);
    expect(await execute({ provider }, late.provider, { afterMs: timeoutMs - 1 })).toEqual({
      outcome: undefined,
    });
    expect(late.names()).toEqual(["authorize"]);
    expect(await execute({ provider }, late.provider, { afterMs: timeoutMs })).toEqual(timedOut);
    expect(await execute({ provider }, late.provider, { afterMs: timeoutMs })).toEqual(timedOut);
    expect(late.names()).toEqual(["authorize", "lookup", "lookup"]);
    const found = createProvider({}, [authorized]);
    expect(await execute({ provider }, found.provider, { afterMs: timeoutMs })).toEqual({
      outcome: authorized,
    });
  });

  it("times out also while the provider is away, unless the service stops", async () => {
    const { provider } = createProvider({ authorize: failing, lookup: failing });
    const error = expect.objectContaining({ message: "The provider is away." });
    expect(await execute({}, provider)).toEqual({ outcome: undefined, error });
    expect(await execute({}, provider, { afterMs: hourMs })).toEqual({
      outcome: { outcome: "timed_out" },
      error,
    });
    const stopped = AbortSignal.abort();
    expect((await execute({}, provider, { afterMs: hourMs, signal: stopped })).outcome).toBeUndefined();
  });
});

describe("an operation about an order's payment", () => {
  it.each(["capture", "refund", "void"] as const)("%s is sent once, and never times out", async (kind) => {
    const { provider, requests } = createProvider();
    expect(await execute({ kind, attempts: 3 }, provider, { afterMs: 1_000 * hourMs })).toEqual({
      outcome: { outcome: "succeeded" },
    });
    expect(requests).toEqual([
      [
        kind,
        {
          connectionId: null,
          reference: "pay_1",
          idempotencyKey: "pop_1",
          amountMinor: 1_000,
          currency: "EUR",
        },
      ],
    ]);
    const waiting = createProvider({ [kind]: async () => pending });
    expect(await execute({ kind }, waiting.provider, { afterMs: 1_000 * hourMs })).toEqual({
      outcome: undefined,
    });
    const away = createProvider({ [kind]: failing });
    expect((await execute({ kind }, away.provider, { afterMs: 1_000 * hourMs })).outcome).toBeUndefined();
  });
});

describe("the void of an abandoned payment", () => {
  const abandoned = { kind: "void", isAbandoned: true, attempts: 2 } as const;
  const voided = { ...authorized, outcome: "voided", voidedMinor: 1_000 } as const;
  const partly = { ...authorized, capturedMinor: 300, voidedMinor: 200 } as const;

  it("voids what is neither captured nor voided, with a key of this attempt", async () => {
    const { provider, requests } = createProvider({}, [partly, { ...partly, voidedMinor: 700 }]);
    expect(await execute(abandoned, provider)).toEqual({ outcome: { ...partly, voidedMinor: 700 } });
    expect(requests.map(([name]) => name)).toEqual(["lookup", "void", "lookup"]);
    expect(requests[1]?.[1]).toMatchObject({ idempotencyKey: "pop_1:2", amountMinor: 500 });
  });

  it.each<[name: string, found: PaymentLookupResult[], outcome: object | undefined, sends: boolean]>([
    [
      "unknown to the provider",
      [{ outcome: "unknown" }, { outcome: "unknown" }],
      { outcome: "succeeded" },
      true,
    ],
    [
      "voided before its authorization",
      [{ ...voided, ...amounts, amountMinor: 0 }],
      { outcome: "succeeded" },
      false,
    ],
    ["voided", [voided], { ...voided, outcome: "authorized" }, false],
    ["voided now", [authorized, voided], { ...voided, outcome: "authorized" }, true],
    [
      "declined",
      [{ outcome: "declined", code: "card_declined" }],
      { outcome: "declined", code: "card_declined" },
      false,
    ],
    ["captured", [{ ...authorized, capturedMinor: 1_000 }], { ...authorized, capturedMinor: 1_000 }, false],
    ["pending", [pending], undefined, false],
    ["not voided yet", [authorized, authorized], undefined, true],
    ["gone after the void", [authorized, { outcome: "unknown" }], { outcome: "succeeded" }, true],
  ])("that is %s has its outcome", async (_name, found, outcome, sends) => {
    const { provider, names } = createProvider({}, found);
    expect(await execute(abandoned, provider)).toEqual({ outcome });
    expect(names().includes("void")).toBe(sends);
  });

  it("that is unknown stays undecided if the provider has not voided it", async () => {
    const { provider, requests } = createProvider({ void: async () => pending });
    expect(await execute(abandoned, provider)).toEqual({ outcome: undefined });
    expect(requests[1]?.[1]).toMatchObject({ amountMinor: 1_000 });
  });

  it("closes the provider's page of a pending payment", async () => {
    const closed = { outcome: "declined", code: "payment_page_expired" } as const;
    const { provider, requests } = createProvider({}, [pending, closed]);
    expect(await execute({ ...abandoned, provider: "stripe" }, provider)).toEqual({ outcome: closed });
    expect(requests[1]).toMatchObject(["void", { amountMinor: 1_000 }]);
  });

  it("is not sent for a payment that the provider's page has declined", async () => {
    const declined = { outcome: "declined", code: "card_declined" } as const;
    const { provider, names } = createProvider({}, [declined]);
    expect(await execute({ ...abandoned, provider: "stripe" }, provider)).toEqual({ outcome: declined });
    expect(names()).toEqual(["lookup"]);
  });

  it("times out after 24 hours, and then reports a captured amount", async () => {
    const wait = (afterMs: number, found: PaymentLookupResult) =>
      execute(abandoned, createProvider({ void: async () => pending }, [found, found]).provider, { afterMs });
    expect(await wait(24 * hourMs - 1, pending)).toEqual({ outcome: undefined });
    expect(await wait(24 * hourMs, pending)).toEqual({ outcome: { outcome: "timed_out" } });
    expect(await wait(24 * hourMs, partly)).toEqual({ outcome: partly });
    expect(await wait(24 * hourMs - 1, partly)).toEqual({ outcome: undefined });
    expect(await wait(24 * hourMs, authorized)).toEqual({ outcome: { outcome: "timed_out" } });
    const away = createProvider({ lookup: failing });
    expect((await execute(abandoned, away.provider, { afterMs: 24 * hourMs })).outcome).toBeUndefined();
  });
});

describe("a provider that does not answer", () => {
  it("is given up after the time limit", async () => {
    const signals: AbortSignal[] = [];
    const { provider } = createProvider({
      capture: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    const { outcome, error } = await execute({ kind: "capture" }, provider, { answerMsMax: 20 });
    expect([outcome, signals[0]?.aborted]).toEqual([undefined, true]);
    expect(error).toMatchObject({ message: "The payment provider did not answer in time." });
  });

  it("has 10 s by default", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout");
    await executePaymentOperation(createOperation({ kind: "capture" }), {
      provider: createProvider().provider,
      keyring,
      loadPage: async () => page,
      now: createdAt,
      signal: new AbortController().signal,
    });
    expect(timeout).toHaveBeenCalledWith(10_000);
    timeout.mockRestore();
  });

  it("is not asked by a service that stops", async () => {
    const { provider, names } = createProvider();
    const { outcome, error } = await execute({ kind: "capture" }, provider, { signal: AbortSignal.abort() });
    expect([outcome, names()]).toEqual([undefined, []]);
    expect(error).toMatchObject({ name: "AbortError" });
  });

  it("leaves no listener at the signal", async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    expect(await raceAgainstAbortSignal(signal, async () => 1)).toBe(1);
    await expect(raceAgainstAbortSignal(signal, failing)).rejects.toThrow("away");
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(
      add.mock.calls.map(([, listener]) => listener),
    );
    expect(remove).toHaveBeenCalledTimes(2);
  });
});

it("the connection of a request decides which provider gets it", async () => {
  const test = createProvider();
  const connected = createProvider();
  const router = createPaymentProviderRouter({ test: test.provider, connected: connected.provider });
  const { signal } = new AbortController();
  for (const connectionId of [null, "pcn_1"]) {
    const request = {
      connectionId,
      reference: "pay_1",
      idempotencyKey: "pop_1",
      amountMinor: 1,
      currency: "EUR",
      signal,
    };
    await router.authorize({ ...request, token: null, checkout: null });
    for (const name of ["capture", "void", "refund", "lookup"] as const) await router[name](request);
  }
  const all = ["authorize", "capture", "void", "refund", "lookup"];
  expect([test.names(), connected.names()]).toEqual([all, all]);
  expect(
    test.requests.every(([, request]) => "connectionId" in request && request.connectionId === null),
  ).toBe(true);
});

describe("the decision of the test provider", () => {
  const payment = {
    ...amounts,
    status: "authorized",
    capturedMinor: 300,
    voidedMinor: 200,
    refundedMinor: 100,
  } as TestProviderPaymentRow;
  const ask = (amountMinor: number) => ({ amountMinor }) as Parameters<typeof decideTestProviderVoid>[1];

  it("about a capture or a void allows what is neither captured nor voided", () => {
    expect(decideTestProviderCapture(payment, ask(500))).toEqual({ capturedMinor: 800 });
    expect(decideTestProviderCapture(payment, ask(501))).toBe("amount_exceeds_authorized");
    expect(decideTestProviderVoid(payment, ask(500))).toEqual({ voidedMinor: 700, status: "authorized" });
    expect(decideTestProviderVoid(payment, ask(501))).toBe("amount_exceeds_authorized");
    expect(decideTestProviderVoid({ ...payment, capturedMinor: 0 }, ask(800))).toEqual({
      voidedMinor: 1_000,
      status: "voided",
    });
    for (const status of ["pending", "declined", "voided"] as const) {
      expect(decideTestProviderCapture({ ...payment, status }, ask(1))).toBe("payment_not_authorized");
      expect(decideTestProviderVoid({ ...payment, status }, ask(1))).toBe("payment_not_authorized");
    }
  });

  it("about a refund allows what is captured and not refunded", () => {
    expect(decideTestProviderRefund(payment, ask(200))).toEqual({ refundedMinor: 300 });
    expect(decideTestProviderRefund(payment, ask(201))).toBe("amount_exceeds_captured");
  });
});
