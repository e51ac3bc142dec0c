/**
 * The simulation reports payments that were repeated without a fault, or that took longer than their attempts
 * allow.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { findLatePayments } from "#soak/simulation/payment-delays.ts";
import { drive, openCheckout, submitted } from "#test/commerce/payments/checkouts.ts";
import { createWorld, type World } from "#test/support/world.ts";

const none = { kills: 0, cuts: 0, lostPayments: 0 };

describe("a paid checkout", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld("postgres");
    await sql`truncate payment cascade`.execute(world.database.db);
    await submitted(world, await openCheckout(world), "tok_success");
    await drive(world);
    return () => world[Symbol.asyncDispose]();
  });

  /** Sets the attempts of the authorization, and the time after which its outcome was saved. */
  const attempted = async (attempts: number, seconds: number): Promise<void> => {
    const { rows } = await sql`update payment_operation
      set attempts = ${attempts}, settled_at = created_at + make_interval(secs => ${seconds})
      returning id`.execute(world.database.db);
    expect(rows).toHaveLength(1);
  };
  const find = (faults = none): Promise<string[]> => findLatePayments(world.database.db, faults);

  it("is not reported if it was authorized at once", async () => {
    expect(await find()).toEqual([]);
  });

  it("is reported if more attempts were made than the faults explain", async () => {
    await attempted(3, 1);
    expect(await find({ ...none, cuts: 1, lostPayments: 1 })).toEqual([]);
    expect(await find({ ...none, kills: 1 })).toEqual([]);
    expect(await find({ ...none, cuts: 1 })).toEqual([
      "Payment operations were repeated 2 times; the faults explain 1 times.",
    ]);
  });

  it.each([
    { attempts: 1, allowed: 40 },
    { attempts: 3, allowed: 100 },
    { attempts: 6, allowed: 220 },
  ])("may take $allowed s with $attempts attempts", async ({ attempts, allowed }) => {
    await attempted(attempts, allowed);
    expect(await find({ ...none, kills: 1 })).toEqual([]);
    await attempted(attempts, allowed + 1);
    expect(await find({ ...none, kills: 1 })).toEqual([
      expect.stringMatching(
        new RegExp(
          `^The authorize pop_\\w+ had an outcome only after ${allowed + 1}000 ms and ${attempts} attempts.$`,
        ),
      ),
    ]);
  });
});
