/** The status of a cart at any millisecond, and the operations allowed in each status. */
import { describe, expect, it } from "vitest";
import type { CartAggregate, CartStatus } from "#commerce/carts/cart-aggregate.ts";
import {
  isCartPastRetention,
  hasNoRunningCheckoutSession,
  requireChangeableCart,
  getCartStatusAtTime,
} from "#commerce/carts/cart-status.ts";
import { Failure } from "#foundation/failure.ts";
import { storedCart } from "./stored-cart.ts";

const now = new Date("2026-06-01T12:00:00.000Z");
const at = (ms: number): string => new Date(now.getTime() + ms).toISOString();
const dayMs = 86_400_000;

type SessionStatus = NonNullable<CartAggregate["session"]>["status"];
const session = (status: SessionStatus, expiresInMs: number): CartAggregate["session"] => ({
  id: "chs_1",
  status,
  expiresAt: at(expiresInMs),
});

describe("a cart", () => {
  const cases: readonly (readonly [
    stored: CartStatus,
    expiresInMs: number,
    session: CartAggregate["session"],
    reads: CartStatus,
  ])[] = [
    ["active", 1, null, "active"],
    ["active", 0, null, "expired"],
    ["active", -1, null, "expired"],
    ["active", 1, session("canceled", 1), "active"],
    ["locked", 1, session("open", 1), "locked"],
    ["locked", 1, session("open", 0), "active"],
    ["locked", 1, session("open", -1), "active"],
    ["locked", -1, session("open", 1), "locked"],
    ["locked", 0, session("open", 0), "expired"],
    ["locked", 1, session("processing", -1), "locked"],
    ["locked", 1, session("canceled", 1), "active"],
    ["locked", 1, session("expired", 1), "active"],
    ["locked", 1, null, "active"],
    ["completed", -1, null, "completed"],
    ["revoked", -1, null, "revoked"],
    ["expired", -1, null, "expired"],
    ["merged", 1, null, "merged"],
  ];

  it.each(cases)(
    "stored as %s, expiring in %i ms, with the session %j, has the status %s",
    (status, expiresInMs, held, reads) => {
      expect(
        getCartStatusAtTime({ status, session: held, expiresAt: at(expiresInMs), endedAt: null }, now),
      ).toBe(reads);
    },
  );

  it.each(cases)(
    "stored as %s, expiring in %i ms, with the session %j, can be changed only if its status is active",
    (status, expiresInMs, held, reads) => {
      const cart = storedCart({ status, session: held, expiresAt: at(expiresInMs) });
      const refusal = caught(() => requireChangeableCart(cart, { expectedVersion: 99 }, now));
      expect(refusal?.code).toBe(reads === "active" ? "cart_version_conflict" : `cart_${reads}`);
      expect(refusal?.parts.conflict).toEqual({
        resource: "cart",
        id: cart.id,
        currentStatus: reads,
        currentVersion: cart.version,
        reason: null,
        data: {},
      });
      expect(caught(() => requireChangeableCart(cart, { expectedVersion: cart.version }, now))?.code).toBe(
        reads === "active" ? undefined : `cart_${reads}`,
      );
      expect(caught(() => requireChangeableCart(cart, { expectedVersion: null }, now))?.code).toBe(
        reads === "active" ? undefined : `cart_${reads}`,
      );
    },
  );

  it(
    "has no running session if the session is missing, ended or out of time; a session that is " +
      "being paid is running",
    () => {
      expect(hasNoRunningCheckoutSession({ session: null }, now)).toBe(true);
      for (const status of ["completed", "canceled", "expired"] as const)
        expect(hasNoRunningCheckoutSession({ session: session(status, 1) }, now)).toBe(true);
      expect(hasNoRunningCheckoutSession({ session: session("processing", -1) }, now)).toBe(false);
    },
  );

  it.each([
    ["revoked", at(-90 * dayMs + 1), at(-1), false],
    ["revoked", at(-90 * dayMs), at(-1), true],
    ["merged", at(-90 * dayMs), at(dayMs), true],
    ["expired", null, at(-90 * dayMs + 1), false],
    ["expired", null, at(-90 * dayMs), true],
    ["active", null, at(-90 * dayMs), true],
    ["active", null, at(-1), false],
    ["active", null, at(1), false],
  ] as const)(
    "%s since %s, expiring at %s, is no longer found: %s",
    (status, endedAt, expiresAt, expected) => {
      expect(isCartPastRetention({ status, session: null, endedAt, expiresAt }, now)).toBe(expected);
    },
  );
});

function caught(work: () => void): Failure | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  return undefined;
}
