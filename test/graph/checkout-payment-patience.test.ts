/**
 * A provider that does not answer, is slow, unreachable or refuses: payments wait for the provider's answer,
 * and no money is lost.
 */
import { expect, it } from "vitest";
import {
  createPaymentOperationWorker,
  runDuePaymentOperations,
  type PaymentOperationDriverOptions,
} from "#commerce/payments/driver.ts";
import { paymentOperationLeaseMs } from "#commerce/payments/payment-operations.ts";
import type { PaymentProvider } from "#commerce/payments/provider.ts";
import {
  callSession,
  type Checkout,
  drive,
  ledgerOf,
  lost,
  openCheckout,
  ordersOf,
  paymentsOf,
  sessionOf,
  submitted,
  publishedEventTypes,
} from "#test/commerce/payments/checkouts.ts";
import { useWorld } from "#test/support/use-world.ts";

const getWorld = useWorld();
const minute = 60_000;
const hour = 60 * minute;

/** A provider call that never answers and ignores its abort signal. */
const silent = async (): Promise<never> => new Promise<never>(() => undefined);
const fails = async (): Promise<never> => Promise.reject(new Error("Out of reach."));
const refuses = (code: string) => async () => ({ outcome: "declined", code }) as const;

const partsWith = (
  behave: (provider: PaymentProvider) => Partial<PaymentProvider>,
): PaymentOperationDriverOptions => {
  const { parts } = getWorld().app.payments;
  return { ...parts, provider: { ...parts.provider, ...behave(parts.provider) } };
};

interface OperationSeen {
  readonly kind: string;
  readonly status: string;
  readonly isLeased: boolean;
  readonly dueInMs: number;
}

async function operationsOf({ id }: Checkout): Promise<OperationSeen[]> {
  const { database, clock } = getWorld();
  const rows = await database.db
    .selectFrom("paymentOperation as o")
    .innerJoin("payment as p", "p.id", "o.paymentId")
    .select(["o.kind", "o.status", "o.leasedUntil", "o.dueAt"])
    .where("p.sessionId", "=", id)
    .orderBy("o.id")
    .execute();
  return rows.map(({ kind, status, leasedUntil, dueAt }) => ({
    kind,
    status,
    isLeased: leasedUntil !== null,
    dueInMs: dueAt.getTime() - clock.now().getTime(),
  }));
}

/** A checkout that the storefront failed before the first provider request. */
async function givenUp(): Promise<Checkout> {
  const world = getWorld();
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_success");
  await drive(world, ({ authorize }) => ({ authorize: lost(authorize) }));
  const { error } = await callSession(world, "hostedCheckoutSessionFail", {
    id: checkout.id,
    input: { reason: "OTHER" },
  });
  expect(error).toBeUndefined();
  world.clock.advance(1);
  return checkout;
}

const count = (events: readonly string[], type: string): number =>
  events.filter((one) => one === type).length;

it("a provider request that takes too long is aborted and repeated", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_success");
  await runDuePaymentOperations({ ...partsWith(() => ({ authorize: silent })), answerMsMax: 10 });
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "processing" });
  expect(await operationsOf(checkout)).toEqual([
    { kind: "authorize", status: "pending", isLeased: false, dueInMs: 1000 },
  ]);
  world.clock.advance(1000);
  await drive(world);
  expect(await ordersOf(world, checkout)).toHaveLength(1);
  expect(await ledgerOf(world, checkout)).toHaveLength(1);
});

it.each([0, 16 * minute])(
  "stopped during a provider request, %i ms after the submission, the next start continues",
  async (afterMs) => {
    const world = getWorld();
    const checkout = await openCheckout(world);
    await submitted(world, checkout, "tok_success");
    const requestSent = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const hang = async (signal: AbortSignal): Promise<never> => {
      signals.push(signal);
      requestSent.resolve();
      return silent();
    };
    // The provider has authorized the payment.
    const { provider } = world.app.payments.parts;
    if (afterMs > 0) await drive(world, ({ authorize }) => ({ authorize: lost(authorize) }));
    world.clock.advance(afterMs);
    const behave = (): Partial<PaymentProvider> => ({
      authorize: async (question) => {
        await provider.authorize(question);
        return hang(question.signal);
      },
      lookup: ({ signal }) => hang(signal),
    });
    const driver = createPaymentOperationWorker(partsWith(behave), { stopMsMax: 0 });
    driver.start();
    await requestSent.promise;
    await driver.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await sessionOf(world, checkout)).toMatchObject({ status: "processing" });
    expect(await operationsOf(checkout)).toEqual([
      { kind: "authorize", status: "pending", isLeased: false, dueInMs: 0 },
    ]);
    await drive(world);
    expect(await ledgerOf(world, checkout)).toHaveLength(1);
    expect(await ordersOf(world, checkout)).toHaveLength(1);
  },
);

it("an unreachable provider is asked until it answers; the session reopens after 15 minutes", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_success");
  await drive(world, ({ authorize }) => ({ authorize: lost(authorize) }));
  world.clock.advance(15 * minute);
  await drive(world, () => ({ lookup: fails }));
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "open" });
  for (let hours = 0; hours < 48; hours += 1) {
    world.clock.advance(hour);
    if (hours % 2 === 0) await drive(world, () => ({ lookup: fails }));
    else await runDuePaymentOperations({ ...partsWith(() => ({ lookup: silent })), answerMsMax: 1 });
  }
  expect((await operationsOf(checkout)).map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    "authorize failed",
    "void pending",
  ]);
  expect(await publishedEventTypes(world, checkout)).not.toContain("payment.refund_required");
  world.clock.advance(15 * minute);
  await drive(world);
  const { amountMinor } = checkout.amountTotal;
  expect(await ledgerOf(world, checkout)).toEqual([
    `authorize ${amountMinor} authorized`,
    `void ${amountMinor} succeeded`,
  ]);
  expect(await paymentsOf(world, checkout)).toMatchObject([{ status: "canceled", voidedMinor: amountMinor }]);
  expect(count(await publishedEventTypes(world, checkout), "payment.refund_required")).toBe(1);
});

it("a payment unresolved after a day is given up, with an event that money may be held", async () => {
  const world = getWorld();
  const checkout = await givenUp();
  const unresolved = (): Partial<PaymentProvider> => ({ lookup: async () => ({ outcome: "pending" }) });
  await drive(world, unresolved);
  expect(await publishedEventTypes(world, checkout)).not.toContain("payment.refund_required");
  world.clock.advance(24 * hour);
  await drive(world, unresolved);
  await drive(world);
  expect((await operationsOf(checkout)).map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    "authorize failed",
    "void failed",
  ]);
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "canceled", failureCode: "unresolved", voidedMinor: 0 },
  ]);
  expect(count(await publishedEventTypes(world, checkout), "payment.refund_required")).toBe(1);
});

it.each(["an authorization", "nothing"])(
  "killed between voiding %s and storing it, the next run has the same result and events",
  async (what) => {
    const world = getWorld();
    const seen: unknown[] = [];
    for (const isKilled of [false, true]) {
      const checkout = await openCheckout(world);
      await submitted(world, checkout, "tok_success");
      if (what !== "nothing") await drive(world, ({ authorize }) => ({ authorize: lost(authorize) }));
      expect(
        (
          await callSession(world, "hostedCheckoutSessionFail", {
            id: checkout.id,
            input: { reason: "OTHER" },
          })
        ).error,
      ).toBeUndefined();
      world.clock.advance(1);
      if (isKilled) {
        const killed = { ...partsWith(() => ({})), settle: () => Promise.reject(new Error("killed")) };
        await expect(runDuePaymentOperations(killed)).rejects.toThrow("killed");
        expect(await ledgerOf(world, checkout)).toContain(
          `void ${checkout.amountTotal.amountMinor} succeeded`,
        );
        world.clock.advance(paymentOperationLeaseMs);
      }
      await drive(world);
      seen.push({
        payments: await paymentsOf(world, checkout),
        events: (await publishedEventTypes(world, checkout)).toSorted(),
        ledger: await ledgerOf(world, checkout),
      });
    }
    expect(seen[1]).toEqual(seen[0]);
    const isHeld = what !== "nothing";
    expect(seen[0]).toMatchObject({
      payments: [
        { status: "canceled", voidedMinor: isHeld ? expect.toSatisfy((minor: number) => minor > 0) : 0 },
      ],
    });
    expect((seen[0] as { events: string[] }).events.includes("payment.refund_required")).toBe(isHeld);
  },
);

it("an authorization that arrives just before the void is voided, with an event", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { amountMinor } = checkout.amountTotal;
  await submitted(world, checkout, "tok_success");
  expect(
    (await callSession(world, "hostedCheckoutSessionFail", { id: checkout.id, input: { reason: "OTHER" } }))
      .error,
  ).toBeUndefined();
  await drive(world, (provider) => ({
    void: async (request) => {
      await provider.authorize({
        ...request,
        idempotencyKey: `${request.idempotencyKey}-late`,
        token: "tok_success",
        checkout: null,
      });
      return provider.void(request);
    },
  }));
  expect(await paymentsOf(world, checkout)).toMatchObject([{ status: "canceled", voidedMinor: amountMinor }]);
  expect(await publishedEventTypes(world, checkout)).toContain("payment.refund_required");
});

it("a captured part is refunded even if the provider refuses to void the rest", async () => {
  const world = getWorld();
  const checkout = await givenUp();
  const { amountMinor } = checkout.amountTotal;
  const { provider } = world.app.payments.parts;
  const { id: reference } = await world.database.db
    .selectFrom("payment")
    .select("id")
    .where("sessionId", "=", checkout.id)
    .executeTakeFirstOrThrow();
  await provider.capture({
    connectionId: null,
    currency: "EUR",
    reference,
    idempotencyKey: `${reference}-elsewhere`,
    amountMinor: 100,
    signal: new AbortController().signal,
  });
  const stubborn = (): Partial<PaymentProvider> => ({ void: refuses("locked") });
  await drive(world, stubborn);
  expect(await publishedEventTypes(world, checkout)).not.toContain("payment.refund_required");
  world.clock.advance(24 * hour);
  await drive(world, stubborn);
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "refunded", amountMinor, capturedMinor: 100, voidedMinor: 0, refundedMinor: 100 },
  ]);
});

it("a refused refund of a late payment is repeated forever, ever more rarely, with one event", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { amountMinor } = checkout.amountTotal;
  await submitted(world, checkout, "tok_late_success");
  await drive(world);
  expect(
    (await callSession(world, "hostedCheckoutSessionFail", { id: checkout.id, input: { reason: "OTHER" } }))
      .error,
  ).toBeUndefined();
  world.clock.advance(30 * minute);
  const waits: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    await drive(world, () => ({ refund: refuses("account_closed") }));
    const open = (await operationsOf(checkout)).filter(({ status }) => status === "pending");
    expect(open).toMatchObject([{ kind: "refund", isLeased: false }]);
    waits.push((open[0]?.dueInMs ?? 0) / minute);
    world.clock.advance(open[0]?.dueInMs ?? 0);
  }
  expect(waits).toEqual([1, 5, 30, 120, 480, 1440, 1440, 1440]);
  expect(await refundsOf(checkout)).toEqual([{ status: "pending", amountMinor }]);
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "captured", refundedMinor: 0, failureCode: "account_closed" },
  ]);
  await drive(world);
  expect(await refundsOf(checkout)).toEqual([{ status: "succeeded", amountMinor }]);
  expect(await paymentsOf(world, checkout)).toMatchObject([
    { status: "refunded", refundedMinor: amountMinor },
  ]);
  const events = await publishedEventTypes(world, checkout);
  const types = [
    "payment.refund_required",
    "refund.created",
    "payment.failed",
    "refund.failed",
    "refund.succeeded",
  ];
  expect(types.map((type) => count(events, type))).toEqual([1, 1, 1, 0, 1]);
});

function refundsOf({ id }: Checkout): Promise<{ status: string; amountMinor: number }[]> {
  return getWorld()
    .database.db.selectFrom("refund")
    .innerJoin("payment", "payment.id", "refund.paymentId")
    .select(["refund.status", "refund.amountMinor"])
    .where("payment.sessionId", "=", id)
    .execute();
}
