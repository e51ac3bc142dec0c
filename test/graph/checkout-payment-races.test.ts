/**
 * Concurrent ends of one checkout: exactly one wins, and the other callers get an error. Limits hold for any
 * number of concurrent requests.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect, it, describe } from "vitest";
import {
  type Checkout,
  callSession,
  drive,
  ledgerOf,
  ordersOf,
  paymentsOf,
  sessionOf,
  stockOf,
  submit,
  submitted,
} from "#test/commerce/payments/checkouts.ts";
import { askGraph, changeCart, makeCart, makeCode } from "#test/operations/cart-calls.ts";
import { makeSession, sweepSessions } from "#test/operations/checkout-calls.ts";
import { manyConnections } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";

/**
 * Enough rounds for each delay at least once. PGlite has one connection, so fewer interleavings are possible.
 * `npm run soak -- --only checkout` races for hours.
 */
const roundsOn = { pglite: 16, postgres: 64 } as const;
const minute = 60_000;

describe.each(["pglite", "postgres"] as const)("on %s", (engine) => {
  const getWorld = useWorld(engine, { poolSize: manyConnections });
  const rounds = roundsOn[engine];

  /** Opens a checkout of digital goods, which needs no delivery. */
  const openDigital = async (cartId?: string, code?: string): Promise<Checkout> => {
    const id = cartId ?? (await makeCart(getWorld(), { lines: { "GFT-KART": 1 } })).id;
    if (code !== undefined)
      expect(
        (await changeCart(getWorld(), "cartPromotionApply", { cartId: id, input: { code } })).error,
      ).toBeUndefined();
    return makeSession(getWorld(), { cartId: id });
  };

  it("one use of a code and twenty checkouts: one is paid, the others reach no provider", async () => {
    const world = getWorld();
    const promotionId = await makeCode(world, "LASTONE", { usageLimit: 1 });
    const checkouts: Checkout[] = [];
    for (let count = 0; count < 20; count += 1) checkouts.push(await openDigital(undefined, "LASTONE"));
    const answers = await Promise.all(checkouts.map((checkout) => submit(world, checkout)));
    const won = checkouts.filter((_, index) => answers[index]?.error === undefined);
    expect(won).toHaveLength(1);
    const refused = answers
      .filter(({ error }) => error !== undefined)
      .map(({ error }) => [error.code, error.conflict.reason, error.conflict.resource]);
    expect(refused).toEqual(
      Array.from({ length: 19 }, () => [
        "promotion_not_applicable",
        "usage_limit_reached",
        "checkout_session",
      ]),
    );
    await drive(world);
    for (const checkout of checkouts) {
      const isWon = won.includes(checkout);
      expect(await sessionOf(world, checkout)).toMatchObject({ status: isWon ? "completed" : "open" });
      expect(await ledgerOf(world, checkout)).toHaveLength(isWon ? 1 : 0);
      expect(await paymentsOf(world, checkout)).toHaveLength(isWon ? 1 : 0);
    }
    const { used } = await world.database.db
      .selectFrom("promotion")
      .select("used")
      .where("id", "=", promotionId)
      .executeTakeFirstOrThrow();
    expect(used).toBe(1);
  });

  it(`canceling against submitting and completing, ${rounds} times: exactly one succeeds`, async () => {
    const world = getWorld();
    const before = await stockOf(world, "GFT-KART");
    const outcomes = { canceled: 0, completed: 0 };
    let cartId: string | undefined;
    for (let round = 0; round < rounds; round += 1) {
      const checkout: Checkout = await openDigital(cartId);
      // The two sides start with a delay by turns, from none to a sufficient one.
      const wait = async (isLate: boolean): Promise<void> => (isLate ? sleep(round % 16) : undefined);
      const pay = async (): Promise<unknown> => {
        await wait(round % 2 === 1);
        const { error } = await submit(world, checkout);
        await drive(world);
        return error?.code;
      };
      const cancel = async (): Promise<unknown> => {
        await wait(round % 2 === 0);
        return (
          await callSession(world, "hostedCheckoutSessionCancel", {
            id: checkout.id,
            input: { reason: "TEST" },
          })
        ).error?.code;
      };
      const complete = async (): Promise<unknown> =>
        (await callSession(world, "hostedCheckoutSessionComplete", { id: checkout.id })).error?.code;
      const [paid, canceled] = await Promise.all([pay(), cancel(), complete()]);
      const { status, orderId } = await sessionOf(world, checkout);
      const orders = await ordersOf(world, checkout);
      if (status === "canceled") {
        expect([paid, canceled, orderId, orders]).toEqual(["checkout_session_canceled", undefined, null, []]);
        outcomes.canceled += 1;
        cartId = checkout.cartId;
      } else {
        expect([status, paid]).toEqual(["completed", undefined]);
        expect(["checkout_session_processing", "checkout_session_completed"]).toContain(canceled);
        expect(orders.map(({ id }) => id)).toEqual([orderId]);
        outcomes.completed += 1;
        cartId = undefined;
      }
    }
    expect(outcomes.canceled + outcomes.completed).toBe(rounds);
    expect(Math.min(outcomes.completed, outcomes.canceled)).toBeGreaterThan(0);
    const after = await stockOf(world, "GFT-KART");
    expect(after).toEqual({ ...before, onHand: before.onHand - outcomes.completed });
    expect(after.reserved).toBe(after.promised);
  }, 300_000);

  it("the session's end against its submission: it is either expired and released, or paid", async () => {
    const world = getWorld();
    for (let round = 0; round < 20; round += 1) {
      const checkout = await openDigital();
      world.clock.advance(60 * minute - 1);
      const submitting = submit(world, checkout);
      world.clock.advance(round % 2);
      const [{ error }] = await Promise.all([submitting, sweepSessions(world)]);
      await drive(world);
      // A sweep skips sessions that the submission has locked, and a late submission writes nothing. The next
      // sweep expires the session.
      await sweepSessions(world);
      const { status } = await sessionOf(world, checkout);
      expect(await ordersOf(world, checkout)).toHaveLength(status === "completed" ? 1 : 0);
      expect([status, error?.code]).toEqual(
        error === undefined ? ["completed", undefined] : ["expired", "checkout_session_expired"],
      );
      const { reserved, promised } = await stockOf(world, "GFT-KART");
      expect(reserved).toBe(promised);
    }
  });

  it("failing a checkout against the provider's answer: one wins, money is voided if needed", async () => {
    const world = getWorld();
    for (let round = 0; round < 20; round += 1) {
      const checkout = await openDigital();
      await submitted(world, checkout, "tok_success");
      const giveUp = callSession(world, "hostedCheckoutSessionFail", {
        id: checkout.id,
        input: { reason: "OTHER" },
      });
      const [{ error }] = await Promise.all([giveUp, drive(world), drive(world)]);
      await drive(world);
      const { status } = await sessionOf(world, checkout);
      const orders = await ordersOf(world, checkout);
      if (error === undefined) expect([status, orders]).toEqual(["open", []]);
      else
        expect([status, error.code, orders.length]).toEqual(["completed", "checkout_session_completed", 1]);
      const { rows } = await sql<{ left: number }>`
        select (b.amount_minor - b.voided_minor)::int as left from test_provider_payment b join payment p
        on p.id = b.reference where p.session_id = ${checkout.id}`.execute(world.database.db);
      expect(rows.map(({ left }) => left > 0)).toEqual([error !== undefined]);
    }
  });

  it("ten concurrent submissions of a checkout authorize one payment", async () => {
    const world = getWorld();
    const checkout = await openDigital();
    const answers = await Promise.all(Array.from({ length: 10 }, () => submit(world, checkout)));
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
    await Promise.all([drive(world), drive(world), drive(world)]);
    expect(await ledgerOf(world, checkout)).toHaveLength(1);
    const { data } = await askGraph(
      world,
      "query ($id: ID!) { hostedCheckoutSession(id: $id) { status paymentStatus } }",
      { id: checkout.id },
    );
    expect(data).toEqual({ status: "COMPLETED", paymentStatus: "PAID" });
  });
});
