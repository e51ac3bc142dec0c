/**
 * Guesses of promotion codes over REST are limited per cart and per credential for ten minutes. The limit
 * also refuses valid codes.
 */
import { describe, expect, it } from "vitest";
import { callCart, makeCart, makeCode, writtenRows } from "#test/operations/cart-calls.ts";
import { expectError } from "#test/support/expect-error.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

describe("the limit of guessed promotion codes", () => {
  const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "1" } });
  const apply = (cartId: string, body: unknown, key: "full" | "checkoutQuote" = "full"): Promise<Answer> =>
    callCart(world(), "applyPublicCartPromotion", { cartId, body, key });
  const cart = async (): Promise<string> => (await makeCart(world(), { lines: { "KIT-KVERN": 1 } })).id;
  const exhausted = (bucket: string, retryAfterSeconds: number) =>
    ({
      status: 429,
      code: "rate_limited",
      retryAfterSeconds,
      details: [{ in: "limit", field: bucket, code: "quota_exceeded" }],
    }) as const;

  it("refuses every code for a cart after ten failures, for ten minutes; other carts continue", async () => {
    await makeCode(world(), "VALID");
    await makeCode(world(), "DEAR", { minimumSubtotalMinor: 1_000_000, currency: "EUR" });
    const [guessed, other] = [await cart(), await cart()];
    for (let count = 0; count < 5; count += 1) {
      expect((await apply(guessed, { code: `guess-${count}` })).status).toBe(404);
      expect((await apply(guessed, { code: "dear" })).status).toBe(409);
    }
    const before = await writtenRows(world());
    expectError(await apply(guessed, { code: "guess" }), exhausted("promo-fail", 600));
    expectError(await apply(guessed, { code: "valid" }), exhausted("promo-fail", 600));
    // Another credential cannot continue on the same cart.
    expectError(await apply(guessed, { code: "valid" }, "checkoutQuote"), exhausted("promo-fail", 600));
    expect(await writtenRows(world())).toBe(before);
    expect((await apply(other, { code: "valid" })).status).toBe(200);
    world().clock.advance(600_000);
    expect((await apply(guessed, { code: "valid" })).status).toBe(200);
  });

  it("does not count malformed requests, version conflicts and empty carts", async () => {
    const guessed = await cart();
    const { id: empty } = await makeCart(world());
    for (let count = 0; count < 11; count += 1) {
      expect((await apply(guessed, { code: "" })).status).toBe(400);
      expect((await apply(guessed, { code: "x y" })).status).toBe(400);
      expect((await apply(guessed, { code: "valid", expectedVersion: 9 })).status).toBe(409);
      expect((await apply(empty, { code: "valid" })).status).toBe(409);
    }
    expect((await apply(guessed, { code: "valid" })).status).toBe(200);
  });

  it("refuses a credential after sixty failures on any carts; other credentials continue", async () => {
    world().clock.advance(600_000);
    for (let round = 0; round < 6; round += 1) {
      const guessed = await cart();
      for (let count = 0; count < 10; count += 1)
        expect((await apply(guessed, { code: "wrong" })).status).toBe(404);
    }
    const fresh = await cart();
    expectError(await apply(fresh, { code: "valid" }), exhausted("promo-fail", 600));
    expect((await apply(fresh, { code: "valid" }, "checkoutQuote")).status).toBe(200);
    expect((await callCart(world(), "getPublicCart", { cartId: fresh })).status).toBe(200);
  });
});
