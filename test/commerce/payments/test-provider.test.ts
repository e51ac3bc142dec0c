/**
 * Tests the built-in payment provider: the token decides the result, a repeated request gets the same result,
 * and the recorded amounts are always consistent.
 */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import type { PaymentProviderRequest, PaymentProvider } from "#commerce/payments/provider.ts";
import {
  createTestPaymentProvider,
  lateSuccessMs,
  slowAnswerMs,
} from "#commerce/payments/test/test-provider.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { describeOnBoth, manyConnections } from "#test/support/databases.ts";
import { TestClock } from "#test/support/test-clock.ts";

const held = { outcome: "authorized", amountMinor: 1000, capturedMinor: 0, voidedMinor: 0, refundedMinor: 0 };
const { signal } = new AbortController();

describeOnBoth("the test provider", (open) => {
  const clock = new TestClock();
  const waits: number[] = [];
  let database: OpenedDatabase;
  let provider: PaymentProvider;
  let count = 0;
  beforeAll(async () => {
    database = await open({ poolSize: manyConnections });
    provider = createTestPaymentProvider({ db: database.db, clock, wait: async (ms) => void waits.push(ms) });
  });

  const asked = (reference: string, amountMinor = 1000): PaymentProviderRequest => ({
    connectionId: null,
    reference,
    idempotencyKey: `key-${++count}`,
    amountMinor,
    currency: "EUR",
    signal,
  });
  const authorize = (reference: string, token: string, key = asked(reference)) =>
    provider.authorize({ ...key, token, checkout: null });
  const lookup = (reference: string) =>
    provider.lookup({ connectionId: null, reference, currency: "EUR", signal });
  const entriesOf = (reference: string) =>
    database.db
      .selectFrom("testProviderEntry")
      .select(["kind", "amountMinor", "outcome"])
      .where("reference", "=", reference)
      .orderBy("outcome")
      .execute();

  it.each([
    ["tok_success", held, held],
    ["tok_slow", held, held],
    [
      "tok_decline",
      { outcome: "declined", code: "card_declined" },
      { outcome: "declined", code: "card_declined" },
    ],
    [
      "tok_decline_insufficient_funds",
      { outcome: "declined", code: "insufficient_funds" },
      { outcome: "declined", code: "insufficient_funds" },
    ],
    [
      "tok_decline_expired_card",
      { outcome: "declined", code: "expired_card" },
      { outcome: "declined", code: "expired_card" },
    ],
    [
      "tok_decline_incorrect_cvc",
      { outcome: "declined", code: "incorrect_cvc" },
      { outcome: "declined", code: "incorrect_cvc" },
    ],
    ["tok_late_success", { outcome: "pending" }, { outcome: "pending" }],
    ["tok_challenge", { outcome: "pending" }, { outcome: "pending" }],
    ["tok_challenge_decline", { outcome: "pending" }, { outcome: "pending" }],
    [
      "tok_of_nobody",
      { outcome: "declined", code: "token_unknown" },
      { outcome: "declined", code: "token_unknown" },
    ],
  ])(
    "%s gets its result, the same result when repeated, and the matching lookup result",
    async (token, answer, found) => {
      const first = asked(`pay-${token}`);
      expect(await authorize(first.reference, token, first)).toEqual(answer);
      expect(await authorize(first.reference, token, first)).toEqual(answer);
      expect(await lookup(first.reference)).toEqual(found);
      expect(await entriesOf(first.reference)).toHaveLength(1);
    },
  );

  it("tok_slow is authorized before its answer, which is delayed by three seconds", async () => {
    waits.length = 0;
    const slow = createTestPaymentProvider({
      db: database.db,
      clock,
      wait: async (ms) => {
        waits.push(ms);
        expect(await lookup("pay-slow")).toEqual(held);
        throw new Error("given up");
      },
    });
    await expect(slow.authorize({ ...asked("pay-slow"), token: "tok_slow", checkout: null })).rejects.toThrow(
      "given up",
    );
    expect(waits).toEqual([slowAnswerMs]);
  });

  it("an aborted signal ends the wait for tok_slow", async () => {
    const patience = new AbortController();
    const answer = createTestPaymentProvider({ db: database.db, clock }).authorize({
      ...asked("pay-impatient"),
      token: "tok_slow",
      checkout: null,
      signal: patience.signal,
    });
    patience.abort();
    await expect(answer).rejects.toThrow("aborted");
  });

  it("tok_late_success cannot be stopped before it is decided, and is captured when it is", async () => {
    await authorize("pay-late", "tok_late_success");
    expect(await provider.void(asked("pay-late"))).toEqual({ outcome: "pending" });
    clock.advance(lateSuccessMs - 1);
    expect([await lookup("pay-late"), await provider.void(asked("pay-late"))]).toEqual([
      { outcome: "pending" },
      { outcome: "pending" },
    ]);
    clock.advance(1);
    expect(await lookup("pay-late")).toEqual({ ...held, capturedMinor: 1000 });
    expect(await provider.void(asked("pay-late"))).toEqual({
      outcome: "declined",
      code: "amount_exceeds_authorized",
    });
    expect(await provider.refund(asked("pay-late"))).toEqual({ outcome: "succeeded" });
    expect(await lookup("pay-late")).toEqual({ ...held, capturedMinor: 1000, refundedMinor: 1000 });
  });

  it("an authorization that arrives after its void is declined", async () => {
    const voided = asked("pay-tomb");
    expect(await provider.void(voided)).toEqual({ outcome: "succeeded" });
    expect(await provider.void(voided)).toEqual({ outcome: "succeeded" });
    expect(await authorize("pay-tomb", "tok_success")).toEqual({
      outcome: "declined",
      code: "reference_used",
    });
    expect(await lookup("pay-tomb")).toEqual({
      outcome: "voided",
      amountMinor: 0,
      capturedMinor: 0,
      voidedMinor: 0,
      refundedMinor: 0,
    });
  });

  it("a fully voided payment is found with its amounts", async () => {
    await authorize("pay-gone", "tok_success");
    await provider.void(asked("pay-gone"));
    expect(await lookup("pay-gone")).toEqual({ ...held, outcome: "voided", voidedMinor: 1000 });
  });

  it.each([
    ["tok_success", "tok_success"],
    ["tok_slow", "tok_slow"],
    ["tok_late_success", "tok_late_success"],
    ["tok_decline", "tok_decline"],
    ["tok_decline_insufficient_funds", "tok_decline_insufficient_funds"],
    ["4242424242424242", "unknown"],
    ["tok_success ", "unknown"],
    ["toString", "unknown"],
  ])("the token %s is stored as %s", async (token, kept) => {
    const reference = `pay-kept-${token}`;
    await authorize(reference, token);
    const { rows } = await sql<{
      books: object;
    }>`select to_jsonb(b) as books from test_provider_payment b where reference = ${reference}`.execute(
      database.db,
    );
    expect(rows).toMatchObject([{ books: { token: kept } }]);
  });

  it("a capture, void or refund above the available amount is declined", async () => {
    await authorize("pay-sums", "tok_success");
    const tooMuch = (code: string) => ({ outcome: "declined", code });
    expect(await provider.refund(asked("pay-sums", 1))).toEqual(tooMuch("amount_exceeds_captured"));
    expect(await provider.capture(asked("pay-sums", 1001))).toEqual(tooMuch("amount_exceeds_authorized"));
    const part = asked("pay-sums", 600);
    expect([await provider.capture(part), await provider.capture(part)]).toEqual([
      { outcome: "succeeded" },
      { outcome: "succeeded" },
    ]);
    expect(await provider.void(asked("pay-sums", 401))).toEqual(tooMuch("amount_exceeds_authorized"));
    expect(await provider.void(asked("pay-sums", 400))).toEqual({ outcome: "succeeded" });
    expect(await provider.capture(asked("pay-sums", 1))).toEqual(tooMuch("amount_exceeds_authorized"));
    expect(await provider.refund(asked("pay-sums", 601))).toEqual(tooMuch("amount_exceeds_captured"));
    expect(await provider.refund(asked("pay-sums", 600))).toEqual({ outcome: "succeeded" });
    expect(await lookup("pay-sums")).toEqual({
      ...held,
      capturedMinor: 600,
      voidedMinor: 400,
      refundedMinor: 600,
    });
  });

  it("captures of declined or unknown payments are declined", async () => {
    await authorize("pay-declined", "tok_decline");
    expect(await provider.capture(asked("pay-declined"))).toEqual({
      outcome: "declined",
      code: "payment_not_authorized",
    });
    expect(await provider.capture(asked("pay-unheard"))).toEqual({
      outcome: "declined",
      code: "payment_unknown",
    });
    expect(await lookup("pay-unheard")).toEqual({ outcome: "unknown" });
  });

  it("the same request sent ten times at once is carried out once", async () => {
    const once = asked("pay-many");
    const authorized = await Promise.all(
      Array.from({ length: 10 }, () => authorize("pay-many", "tok_success", once)),
    );
    expect(authorized).toEqual(Array.from({ length: 10 }, () => held));
    const part = asked("pay-many", 600);
    await Promise.all(Array.from({ length: 10 }, () => provider.capture(part)));
    expect(await lookup("pay-many")).toEqual({ ...held, capturedMinor: 600 });
    expect(await entriesOf("pay-many")).toEqual([
      { kind: "authorize", amountMinor: 1000, outcome: "authorized" },
      { kind: "capture", amountMinor: 600, outcome: "succeeded" },
    ]);
  });
});
