/**
 * Tests the payment driver against a scripted provider: an operation with a known outcome is never sent
 * again, and an operation without a known outcome is never dropped.
 */
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PaymentOperationOutcome } from "#commerce/payments/execute-payment-operation.ts";
import {
  createPaymentOperationWorker,
  runDuePaymentOperations,
  type PaymentOperationDriverOptions,
} from "#commerce/payments/driver.ts";
import {
  type ClaimedPaymentOperation,
  recordPaymentOperationResult,
  paymentOperationLeaseMs,
  findNextPaymentOperationDueAt,
  queuePaymentOperation,
} from "#commerce/payments/payment-operations.ts";
import type { AuthorizedPaymentResult, PaymentProvider } from "#commerce/payments/provider.ts";
import { startPayment } from "#commerce/payments/payment-rows.ts";
import { runInTransaction } from "#database/transaction.ts";
import { manyConnections } from "#test/support/databases.ts";
import { createWorld, type World } from "#test/support/world.ts";

const held: AuthorizedPaymentResult = {
  outcome: "authorized",
  amountMinor: 1000,
  capturedMinor: 0,
  voidedMinor: 0,
  refundedMinor: 0,
};
const minute = 60_000;

describe.each(["pglite", "postgres"] as const)("the payment driver on %s", (engine) => {
  let world: World;
  let sessions: { readonly id: string; readonly merchantId: string }[];
  beforeAll(async () => {
    world = await createWorld(engine, { poolSize: manyConnections });
    const { db } = world.database;
    const { rows } = await sql<{ id: string; merchantId: string }>`
      insert into hosted_checkout_session (id, merchant_id, cart_id, status, expires_at, created_at,
      updated_at, success_url, cancel_url, country, currency,
        locale, amount_total_minor)
      select 'chs_' || lpad(n::text, 26, '0'), c.merchant_id, c.id, 'expired', c.updated_at, c.updated_at,
      c.updated_at, '', '', c.country, c.currency, c.locale, 0
      from (select * from cart order by id limit 1) c, generate_series(1, 12) n
      returning id, merchant_id`.execute(db);
    sessions = rows;
    return () => world[Symbol.asyncDispose]();
  });
  // Deletes the demo's payments too, so that only the test's payments exist.
  beforeEach(async () => {
    await sql`truncate payment cascade`.execute(world.database.db);
  });

  const start = (index = 0, token = "tok_any"): Promise<string> => {
    const { id: sessionId = "", merchantId = "" } = sessions[index] ?? {};
    const { db } = world.database;
    const now = world.clock.now();
    const { keyring } = world.app.services;
    return runInTransaction(db, (transaction) =>
      startPayment(transaction, {
        merchantId,
        sessionId,
        amountMinor: 1000,
        currency: "EUR",
        chosen: { provider: "test", connectionId: null },
        token,
        keyring,
        now,
        events: createInProcessEventEmitter(),
      }),
    );
  };
  const queue = (paymentId: string, kind: "capture" | "refund" | "void"): Promise<string> =>
    runInTransaction(world.database.db, (transaction) =>
      queuePaymentOperation(transaction, {
        merchantId: sessions[0]?.merchantId ?? "",
        paymentId,
        kind,
        amountMinor: 1000,
        now: world.clock.now(),
        events: createInProcessEventEmitter(),
      }),
    );

  interface ScriptedDriver {
    readonly calls: string[];
    readonly settled: string[];
    readonly parts: PaymentOperationDriverOptions;
  }
  const scriptDriver = (answers: Partial<PaymentProvider>): ScriptedDriver => {
    const calls: string[] = [];
    const settled: string[] = [];
    const silent = async () => Promise.reject(new Error("No answer."));
    const recorded =
      <Asked extends { readonly reference: string }, Answer>(
        name: string,
        answer: (asked: Asked) => Promise<Answer>,
      ) =>
      (asked: Asked) => {
        calls.push(name);
        return answer(asked);
      };
    const provider: PaymentProvider = {
      authorize: recorded("authorize", answers.authorize ?? silent),
      capture: recorded("capture", answers.capture ?? silent),
      void: recorded("void", answers.void ?? silent),
      refund: recorded("refund", answers.refund ?? silent),
      lookup: recorded("lookup", answers.lookup ?? silent),
    };
    const settle = async (
      { id, kind }: ClaimedPaymentOperation,
      outcome: PaymentOperationOutcome,
    ): Promise<void> => {
      await runInTransaction(world.database.db, (transaction) =>
        recordPaymentOperationResult(transaction, { id, failureCode: null, now: world.clock.now() }),
      );
      settled.push(`${kind} ${outcome.outcome}`);
    };
    return { calls, settled, parts: { ...world.app.payments.parts, workersMax: 8, provider, settle } };
  };

  it("the provider receives the token and the operation's key, and its answer is settled", async () => {
    const paymentId = await start(0, "tok_secret");
    const { id } = await world.database.db
      .selectFrom("paymentOperation")
      .select("id")
      .executeTakeFirstOrThrow();
    const requests: unknown[] = [];
    const { parts, settled } = scriptDriver({
      authorize: async ({ reference, idempotencyKey, amountMinor, currency, token }) => {
        requests.push({ reference, idempotencyKey, amountMinor, currency, token });
        return held;
      },
    });
    await runDuePaymentOperations(parts);
    await runDuePaymentOperations(parts);
    expect(requests).toEqual([
      { reference: paymentId, idempotencyKey: id, amountMinor: 1000, currency: "EUR", token: "tok_secret" },
    ]);
    expect(settled).toEqual(["authorize authorized"]);
  });

  it("an unanswered authorization is repeated after a lookup, and times out after 15 minutes", async () => {
    await start();
    const begun = world.clock.now().getTime();
    const { parts, calls, settled } = scriptDriver({ lookup: async () => ({ outcome: "unknown" }) });
    const dueAfterMs: number[] = [];
    while (settled.length === 0) {
      await runDuePaymentOperations(parts);
      const operation = await world.database.db
        .selectFrom("paymentOperation")
        .select(["dueAt", "status"])
        .executeTakeFirstOrThrow();
      if (operation.status !== "pending") break;
      dueAfterMs.push(operation.dueAt.getTime() - world.clock.now().getTime());
      world.clock.at = new Date(operation.dueAt.getTime() - 1);
      await runDuePaymentOperations(parts);
      world.clock.advance(1);
    }
    expect(dueAfterMs.slice(0, 6)).toEqual([1000, 2000, 5000, 15_000, 60_000, 60_000]);
    expect(world.clock.now().getTime() - begun).toBe(15 * minute);
    expect(settled).toEqual(["authorize timed_out"]);
    const attempts = calls.filter((name) => name === "authorize").length;
    expect(attempts).toBe(dueAfterMs.length);
    // Each repeated authorization follows a lookup, and the last attempt is only a lookup.
    expect(calls).toEqual([
      "authorize",
      ...Array.from({ length: attempts - 1 }, () => ["lookup", "authorize"]).flat(),
      "lookup",
    ]);
  });

  it.each([
    ["authorized", held],
    ["declined", { outcome: "declined", code: "card_declined" }],
    ["declined", { ...held, outcome: "voided", voidedMinor: 1000 }],
  ] as const)("a lookup finds the outcome of a lost answer: %s", async (outcome, found) => {
    await start();
    const { parts, calls, settled } = scriptDriver({ lookup: async () => found });
    await runDuePaymentOperations(parts);
    world.clock.advance(1000);
    await runDuePaymentOperations(parts);
    expect(calls).toEqual(["authorize", "lookup"]);
    expect(settled).toEqual([`authorize ${outcome}`]);
  });

  it("a leased operation cannot be claimed again until its lease expires", async () => {
    await start();
    const dead = scriptDriver({ authorize: () => Promise.resolve(held) });
    await expect(
      runDuePaymentOperations({ ...dead.parts, settle: () => Promise.reject(new Error("killed")) }),
    ).rejects.toThrow("killed");
    world.clock.advance(paymentOperationLeaseMs - 1);
    const { parts, calls, settled } = scriptDriver({ lookup: async () => held });
    await runDuePaymentOperations(parts);
    expect(calls).toEqual([]);
    world.clock.advance(1);
    await runDuePaymentOperations(parts);
    expect([calls, settled]).toEqual([["lookup"], ["authorize authorized"]]);
  });

  it("two drivers run each operation once", async () => {
    await Promise.all(sessions.map((_, index) => start(index)));
    const { parts, calls, settled } = scriptDriver({ authorize: async () => held });
    await Promise.all([runDuePaymentOperations(parts), runDuePaymentOperations(parts)]);
    expect(calls).toEqual(sessions.map(() => "authorize"));
    expect(settled).toHaveLength(sessions.length);
  });

  it("eight operations run at once, and a slow operation does not delay the others", async () => {
    const slow = await start(0);
    const others = await Promise.all(sessions.slice(1).map((_, index) => start(index + 1)));
    const release = Promise.withResolvers<AuthorizedPaymentResult>();
    const eight = Promise.withResolvers<AuthorizedPaymentResult>();
    let asking = 0;
    let most = 0;
    const { parts, settled } = scriptDriver({
      authorize: async ({ reference }) => {
        asking += 1;
        most = Math.max(most, asking);
        if (asking === 8) eight.resolve(held);
        const answer = await (reference === slow ? release : eight).promise;
        asking -= 1;
        return answer;
      },
    });
    const driven = runDuePaymentOperations(parts);
    await expect.poll(() => settled.length).toBe(others.length);
    release.resolve(held);
    await driven;
    expect(settled).toHaveLength(sessions.length);
    expect(most).toBe(8);
  });

  it.each([1, 3])("no more than %i operations run at once with as many workers", async (workersMax) => {
    await Promise.all(sessions.map((_, index) => start(index)));
    let asking = 0;
    let most = 0;
    const { parts, settled } = scriptDriver({
      authorize: async () => {
        most = Math.max(most, (asking += 1));
        await setImmediate();
        asking -= 1;
        return held;
      },
    });
    await runDuePaymentOperations({ ...parts, workersMax });
    expect([settled.length, most <= workersMax]).toEqual([sessions.length, true]);
  });

  it("the number of workers leaves half of the connections to requests", () => {
    expect(world.app.payments.parts.workersMax).toBe({ pglite: 4, postgres: 5 }[engine]);
  });

  it("an operation that waits for an earlier one does not determine the next due time", async () => {
    const paymentId = await start();
    const { parts } = scriptDriver({ authorize: async () => ({ outcome: "pending" }) });
    world.clock.advance(1);
    await queue(paymentId, "capture");
    await runDuePaymentOperations(parts);
    const { db } = world.database;
    const { dueAt } = await db
      .selectFrom("paymentOperation")
      .select("dueAt")
      .where("kind", "=", "authorize")
      .executeTakeFirstOrThrow();
    expect(dueAt > world.clock.now()).toBe(true);
    expect(await findNextPaymentOperationDueAt(db)).toEqual(dueAt);
  });

  it("operations of one payment run one after another", async () => {
    const paymentId = await start();
    world.clock.advance(1);
    await queue(paymentId, "capture");
    const { parts, calls } = scriptDriver({
      authorize: async () => ({ outcome: "pending" }),
      capture: async () => ({ outcome: "succeeded" }),
    });
    await runDuePaymentOperations(parts);
    expect(calls).toEqual(["authorize"]);
    const answering = scriptDriver({
      lookup: async () => held,
      capture: async () => ({ outcome: "succeeded" }),
    });
    world.clock.advance(1000);
    await runDuePaymentOperations(answering.parts);
    expect(answering.settled).toEqual(["authorize authorized", "capture succeeded"]);
  });

  it("an abandoned payment is looked up for 24 hours at growing intervals", async () => {
    const paymentId = await start();
    await sql`delete from payment_operation`.execute(world.database.db);
    await queue(paymentId, "void");
    const begun = world.clock.now().getTime();
    const { parts, calls, settled } = scriptDriver({ lookup: async () => ({ outcome: "pending" }) });
    const after: number[] = [];
    for (let round = 0; settled.length === 0 && round < 200; round += 1) {
      await runDuePaymentOperations(parts);
      const { dueAt } = await world.database.db
        .selectFrom("paymentOperation")
        .select("dueAt")
        .executeTakeFirstOrThrow();
      after.push((dueAt.getTime() - world.clock.now().getTime()) / minute);
      world.clock.at = dueAt;
    }
    expect(after.slice(0, 6)).toEqual([1, 2, 4, 8, 15, 15]);
    expect(settled).toEqual(["void timed_out"]);
    expect(world.clock.now().getTime() - begun).toBeGreaterThanOrEqual(24 * 60 * minute);
    expect(new Set(calls)).toEqual(new Set(["lookup"]));
  });

  it("a running driver finds queued and due operations; a stopped driver claims none", async () => {
    const { parts, settled } = scriptDriver({ authorize: async () => held });
    const driver = createPaymentOperationWorker(parts);
    driver.wake();
    driver.start();
    await start(0);
    driver.wake();
    await expect.poll(() => settled).toEqual(["authorize authorized"]);
    await start(1);
    await expect.poll(() => settled).toHaveLength(2);
    await driver.stop();
    await start(2);
    driver.wake();
    await driver.stop();
    expect(settled).toHaveLength(2);
  });

  it("a driver that is stopped during a request saves the answer before it ends", async () => {
    await start();
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<AuthorizedPaymentResult>();
    const { parts, settled } = scriptDriver({
      authorize: () => {
        asked.resolve();
        return release.promise;
      },
    });
    const driver = createPaymentOperationWorker(parts);
    driver.start();
    await asked.promise;
    const stopped = driver.stop();
    release.resolve(held);
    await stopped;
    expect(settled).toEqual(["authorize authorized"]);
  });
});
