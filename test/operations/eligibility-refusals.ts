/** The refusals of both eligibility operations of an order. Called inside a suite that has a world. */
import { describe, expect, it } from "vitest";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { insertOrder } from "#test/support/orders.ts";
import type { World } from "#test/support/world.ts";
import { withoutTrace } from "./cart-calls.ts";

export const urlOf = (orderId: string, question: string): string =>
  `/api/v1/open/storefront/orders/${orderId}/${question}`;

export function describeEligibilityRefusals(question: string, world: () => World): void {
  const read = (orderId: string, key?: Parameters<World["getWithKey"]>[1]) =>
    world().getWithKey(urlOf(orderId, question), key);

  describe("refuses", () => {
    it("requests without credentials, with a wrong key, and with keys without catalog:read", async () => {
      const { id } = await insertOrder(world());
      const url = urlOf(id, question);
      const without = await withoutTrace(world(), () => world().get(url));
      expectError(without, {
        status: 401,
        code: "credentials_missing",
        headers: { "www-authenticate": challenge },
      });
      const wrong = await withoutTrace(world(), () =>
        world().get(url, { authorization: `Bearer ${unknownKey()}` }),
      );
      expectError(wrong, {
        status: 401,
        code: "api_key_invalid",
        headers: { "www-authenticate": challengeInvalid },
      });
      for (const key of ["noScope", "checkoutQuote", "webhooksRead", "webhooksWrite"] as const)
        expectError(await withoutTrace(world(), () => read(id, key)), {
          status: 403,
          code: "scope_missing",
          details: [
            { in: "header", field: "Authorization", code: "scope_missing", allowed: ["catalog:read"] },
          ],
        });
      expect((await read(id, "catalogRead")).status).toBe(200);
    });

    it("foreign, missing and malformed order ids", async () => {
      const { id } = await insertOrder(world());
      expectError(await withoutTrace(world(), () => read(id, "otherMerchant")), {
        status: 404,
        code: "order_not_found",
      });
      for (const orderId of [
        "ord_00000000000000000000000000",
        id.toUpperCase(),
        id.slice(0, -1),
        id.replace("ord_", "cart_"),
        "1",
        "%00",
      ]) {
        const answer = await withoutTrace(world(), () => read(orderId));
        expect([orderId, answer.status, answer.body.error.code]).toEqual([orderId, 404, "order_not_found"]);
      }
    });

    it("a query parameter and a body", async () => {
      const { id } = await insertOrder(world());
      const url = urlOf(id, question);
      expectError(await world().getWithKey(`${url}?verbose=1`), {
        status: 400,
        code: "unknown_parameter",
        details: [{ in: "query", field: "verbose", code: "unknown" }],
      });
      const headers = { authorization: `Bearer ${world().demo.keys.full}` };
      expectError(await world().send({ method: "GET", url, headers, body: "{}" }), {
        status: 400,
        code: "unexpected_body",
        details: [{ in: "body", field: "", code: "body_not_allowed" }],
      });
    });
  });
}
