/**
 * The answer of each cart operation in each state of the cart, with the same code and conflict over REST and
 * GraphQL. The state is checked before the version, and both before the promotion code.
 */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  berlin,
  callCart,
  cartConflict,
  changeCart,
  eventsOf,
  makeCart,
  makeCode,
  readCart,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { type CartInState, type CartState, cartStates, lockCart } from "#test/operations/cart-states.ts";
import { useWorld } from "#test/support/use-world.ts";

const operations = ["set address", "apply", "remove", "revoke", "read"] as const;
type Operation = (typeof operations)[number];

interface Row {
  /** The status that a read returns; null if the cart is not found. */
  readonly reads: string | null;
  /** The error codes in the order of `operations`; "ok" for a 200. */
  readonly answers: readonly [setAddress: string, apply: string, remove: string, revoke: string];
}

const all = (code: string): Row["answers"] => [code, code, code, code];
const gone: Row = { reads: null, answers: all("cart_not_found") };
const ended = (status: string): Row => ({ reads: status, answers: all(`cart_${status}`) });

const table: Readonly<Record<CartState, Row>> = {
  active: { reads: "active", answers: all("ok") },
  "active without a code": { reads: "active", answers: ["ok", "ok", "promotion_not_present", "ok"] },
  "active without lines": { reads: "active", answers: ["ok", "cart_empty", "ok", "ok"] },
  locked: ended("locked"),
  "locked while it is paid": ended("locked"),
  "locked by a session that ran out": { reads: "active", answers: all("ok") },
  completed: ended("completed"),
  revoked: ended("revoked"),
  "expired by the clock": ended("expired"),
  "expired, and written": ended("expired"),
  "locked by a session that ran out, then expired": ended("expired"),
  merged: ended("merged"),
  "revoked 90 days ago": gone,
  "expired 90 days ago": gone,
  "another merchant's": gone,
  "not there": gone,
};

interface Answered {
  readonly code: string;
  readonly conflict: unknown;
}

describe.each(["postgres"] as const)("carts on %s", (engine) => {
  const world = useWorld(engine);
  let start: Date;
  beforeAll(async () => {
    await makeCode(world(), "MATRIX");
    start = world().clock.now();
  });
  afterEach(() => {
    world().clock.at = start;
  });

  /** Sends `expectedVersion` where the operation accepts it. */
  const bodyOf = (operation: Operation, expectedVersion: number): Record<string, unknown> | undefined => {
    if (operation === "set address") return { address: berlin, expectedVersion };
    if (operation === "apply") return { code: "matrix", expectedVersion };
    return operation === "read" ? undefined : { expectedVersion };
  };

  const overRest = async (operation: Operation, cartId: string, body: unknown): Promise<Answered> => {
    const name = {
      "set address": "setPublicCartAddress",
      apply: "applyPublicCartPromotion",
      remove: "removePublicCartPromotion",
      revoke: "revokePublicCart",
      read: "getPublicCart",
    } as const;
    const answer = await callCart(world(), name[operation], { cartId, body });
    const { error } = answer.body;
    expect([200, error === undefined ? 200 : 404, error?.conflict ? 409 : 404]).toContain(answer.status);
    return { code: error?.code ?? "ok", conflict: error?.conflict ?? null };
  };

  const overGraphql = async (
    operation: Operation,
    cartId: string,
    input: Record<string, unknown> | undefined,
  ): Promise<Answered> => {
    const field = {
      "set address": "cartAddressSet",
      apply: "cartPromotionApply",
      remove: "cartPromotionRemove",
      revoke: "cartRevoke",
    } as const;
    const { status, data, error } =
      operation === "read"
        ? await readCart(world(), cartId)
        : await changeCart(world(), field[operation], { cartId, input: input ?? {} });
    expect(status).toBe(200);
    // A GraphQL query answers null for an unknown cart.
    if (operation === "read") return { code: data === null ? "cart_not_found" : "ok", conflict: null };
    return { code: error?.code ?? "ok", conflict: error?.conflict ?? null };
  };
  const interfaces = { rest: overRest, graphql: overGraphql };

  const cases = (Object.keys(table) as CartState[]).flatMap((state) =>
    (["rest", "graphql"] as const).flatMap((interfaceName) =>
      operations.map((operation, column) => {
        const { reads, answers } = table[state];
        const expected = answers[column] ?? (reads === null ? "cart_not_found" : "ok");
        return { state, interfaceName, operation, reads, expected };
      }),
    ),
  );

  it.each(cases)(
    "$state: $operation over $interfaceName answers $expected",
    async ({ state, interfaceName, operation, reads, expected }) => {
      const { cartId, version }: CartInState = await cartStates[state](world());
      const ask = (sentVersion: number): Promise<Answered> =>
        interfaces[interfaceName](operation, cartId, bodyOf(operation, sentVersion));
      const isVersioned = expected !== "cart_not_found" && expected !== "ok";
      const status = reads ?? "";
      const refused = {
        code: expected,
        conflict: isVersioned ? cartConflict({ code: "cart_locked", id: cartId, status, version }) : null,
      };
      if (expected !== "ok") {
        expect(await withoutTrace(world(), () => ask(version))).toEqual(refused);
        // Ended and unknown carts answer their state for every expected version.
        if (reads !== "active") expect(await withoutTrace(world(), () => ask(999))).toEqual(refused);
      }
      if (reads === "active" && operation !== "read") {
        const conflict = cartConflict({ code: "cart_version_conflict", id: cartId, status, version });
        expect(await withoutTrace(world(), () => ask(version + 1))).toEqual({
          code: "cart_version_conflict",
          conflict,
        });
      }
      if (expected === "ok") expect(await ask(version)).toEqual({ code: "ok", conflict: null });
    },
  );

  it.each(Object.keys(table) as CartState[])("%s: reads with its status and version", async (state) => {
    const { cartId, version } = await cartStates[state](world());
    const { body } = await callCart(world(), "getPublicCart", { cartId });
    const { reads } = table[state];
    if (reads === null) return expect(body.error.code).toBe("cart_not_found");
    return expect([body.data.status, body.data.version]).toEqual([reads, version]);
  });

  it("answer the state for an unknown code and a wrong version: the code is looked up last", async () => {
    const { cartId } = await cartStates.revoked(world());
    for (const body of [{ code: "nobody-knows" }, { code: "nobody-knows", expectedVersion: 999 }])
      expect((await callCart(world(), "applyPublicCartPromotion", { cartId, body })).body.error.code).toBe(
        "cart_revoked",
      );
  });

  it("with an expired session are unlocked by the next change, which ends the session", async () => {
    const { db } = world().database;
    const { cartId, version } = await cartStates["locked by a session that ran out"](world());
    const session = () =>
      db
        .selectFrom("hostedCheckoutSession")
        .select(["status", "version"])
        .where("cartId", "=", cartId)
        .executeTakeFirstOrThrow();
    expect(await session()).toEqual({ status: "open", version: 1 });
    expect((await callCart(world(), "getPublicCart", { cartId })).body.data).toMatchObject({
      status: "active",
      checkout: null,
    });
    const { body } = await callCart(world(), "applyPublicCartPromotion", {
      cartId,
      body: { code: "matrix" },
    });
    expect([body.data?.cartVersion, await session()]).toEqual([version, { status: "open", version: 1 }]);
    const { status } = await callCart(world(), "setPublicCartAddress", { cartId, body: { address: berlin } });
    expect([status, await session()]).toEqual([200, { status: "expired", version: 2 }]);
    expect(
      (await eventsOf(world(), cartId))
        .filter((event) => event.version === version + 1)
        .map(({ type }) => type),
    ).toEqual(["cart.address_set", "cart.unlocked"]);
    expect(
      await db.selectFrom("cart").select(["status", "version"]).where("id", "=", cartId).execute(),
    ).toEqual([{ status: "active", version: version + 1 }]);
  });

  it("that are locked return their checkout, and keep their address until it ends", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    await lockCart(world(), { cartId, version: 2 });
    world().clock.advance(45 * 60_000);
    const read = async () => (await callCart(world(), "getPublicCart", { cartId })).body.data;
    expect(await read()).toMatchObject({
      status: "locked",
      checkout: { sessionId: expect.stringMatching(/^chs_/), status: "open" },
      address: { city: "Berlin" },
      warnings: [],
    });
    world().clock.advance(15 * 60_000);
    expect(await read()).toMatchObject({
      status: "active",
      checkout: null,
      address: null,
      warnings: [{ code: "address_expired" }],
    });
  });

  it("that became an order return the order's id", async () => {
    const { cartId } = await cartStates.completed(world());
    expect((await callCart(world(), "getPublicCart", { cartId })).body.data).toMatchObject({
      status: "completed",
      orderId: expect.stringMatching(/^ord_/),
      checkout: { status: "completed" },
    });
  });

  const dayMs = 86_400_000;

  it.each([
    ["revoked", 90],
    ["completed", 90],
    ["merged", 90],
    ["expired by the clock", 90],
    ["expired, and written", 90],
  ] as const)("that are %s can be read for %i days, to the millisecond", async (state, days) => {
    const { cartId } = await cartStates[state](world());
    world().clock.advance(days * dayMs - 1);
    expect((await callCart(world(), "getPublicCart", { cartId })).status).toBe(200);
    world().clock.advance(1);
    expect((await callCart(world(), "getPublicCart", { cartId })).body.error.code).toBe("cart_not_found");
  });

  it("expire 30 days after their last change; reads and changes without effect do not count", async () => {
    const { cartId } = await cartStates.active(world());
    world().clock.advance(30 * dayMs - 1);
    await callCart(world(), "applyPublicCartPromotion", { cartId, body: { code: "matrix" } });
    expect((await callCart(world(), "getPublicCart", { cartId })).body.data.status).toBe("active");
    world().clock.advance(1);
    expect((await callCart(world(), "getPublicCart", { cartId })).body.data.status).toBe("expired");
  });
});
