/**
 * The refusals that all cart operations share. Each refusal must write nothing. Called inside a suite that
 * has a world.
 */
import { describe, expect, it } from "vitest";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import type { World } from "#test/support/world.ts";
import {
  callCart,
  type CartOperation,
  cartOperations,
  cartsUrl,
  makeCart,
  makeForeignCart,
  withoutTrace,
} from "./cart-calls.ts";

export interface Refused {
  readonly world: () => World;
  /** A valid body for a new cart with one line. */
  readonly body: unknown;
}

export function describeCommonRefusals(operation: CartOperation, { world, body }: Refused): void {
  const { method, path, scope } = cartOperations[operation];
  const isChange = method !== "GET";
  const cart = async (): Promise<string> => (await makeCart(world(), { lines: { "KIT-KVERN": 1 } })).id;

  describe("refuses", () => {
    it("requests without credentials and with a wrong key", async () => {
      const url = `${cartsUrl}/${await cart()}${path}`;
      const headers = { "idempotency-key": "k" };
      expectError(await withoutTrace(world(), () => world().send({ method, url, body, headers })), {
        status: 401,
        code: "credentials_missing",
        headers: { "www-authenticate": challenge },
      });
      const wrong = { ...headers, authorization: `Bearer ${unknownKey()}` };
      expectError(await withoutTrace(world(), () => world().send({ method, url, body, headers: wrong })), {
        status: 401,
        code: "api_key_invalid",
        headers: { "www-authenticate": challengeInvalid },
      });
    });

    const holders = { "catalog:read": "catalogRead", "checkout:quote": "checkoutQuote" } as const;

    it(`every key without ${scope} before it reads the body; that scope alone is enough`, async () => {
      const cartId = await cart();
      const keys = (
        ["noScope", "catalogRead", "checkoutQuote", "webhooksRead", "webhooksWrite"] as const
      ).filter((key) => key !== holders[scope]);
      for (const key of keys) {
        const broken = isChange ? { body: "{ broken" } : {};
        expectError(
          await withoutTrace(world(), () => callCart(world(), operation, { cartId, key, ...broken })),
          {
            status: 403,
            code: "scope_missing",
            details: [{ in: "header", field: "Authorization", code: "scope_missing", allowed: [scope] }],
          },
        );
      }
      const { status, body: answered } = await callCart(world(), operation, {
        cartId,
        key: holders[scope],
        body,
      });
      expect([200, 404, 409]).toContain(status);
      expect(answered.error?.code).not.toBe("scope_missing");
    });

    it('foreign, missing and malformed cart ids with "not found"', async () => {
      const own = await cart();
      const ids = [
        await makeForeignCart(world()),
        "cart_00000000000000000000000000",
        own.toUpperCase(),
        own.slice(0, -1),
        own.replace("cart_", "crt_"),
        "1",
        "%00",
        "%ED%A0%80",
        "..%2f..",
        "x".repeat(400),
      ];
      for (const cartId of ids) {
        const answer = await withoutTrace(world(), () => callCart(world(), operation, { cartId, body }));
        expect([cartId, answer.status, answer.body.error.conflict]).toEqual([cartId, 404, null]);
        expect(["cart_not_found", "route_not_found"]).toContain(answer.body.error.code);
      }
      const foreign = await callCart(world(), operation, { cartId: ids[0] ?? "", body });
      expectError(foreign, { status: 404, code: "cart_not_found" });
      expectError(await callCart(world(), operation, { cartId: own, key: "otherMerchant", body }), {
        status: 404,
        code: "cart_not_found",
      });
    });

    it("every query parameter", async () => {
      const headers = { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": "p" };
      const url = `${cartsUrl}/${await cart()}${path}?verbose=1`;
      expectError(await withoutTrace(world(), () => world().send({ method, url, headers, body })), {
        status: 400,
        code: "unknown_parameter",
        details: [{ in: "query", field: "verbose", code: "unknown" }],
      });
    });
  });
  if (isChange) describeFormRefusals(operation, { world, body, cart });
}

/** Refusals of operations that take a body and an idempotency key. */
function describeFormRefusals(
  operation: CartOperation,
  { world, body, cart }: Refused & { readonly cart: () => Promise<string> },
): void {
  describe("refuses because of the request's form", () => {
    it("requests without an Idempotency-Key and with a malformed key", async () => {
      const { method, path } = cartOperations[operation];
      const authorization = `Bearer ${world().demo.keys.full}`;
      const url = `${cartsUrl}/${await cart()}${path}`;
      expectError(
        await withoutTrace(world(), () => world().send({ method, url, body, headers: { authorization } })),
        {
          status: 400,
          code: "idempotency_key_required",
          details: [{ in: "header", field: "Idempotency-Key", code: "required" }],
        },
      );
      const headers = { authorization, "idempotency-key": "a b" };
      expectError(await withoutTrace(world(), () => world().send({ method, url, body, headers })), {
        status: 400,
        code: "idempotency_key_invalid",
        details: [{ in: "header", field: "Idempotency-Key", code: "pattern_mismatch" }],
      });
    });

    it.each([
      ["no body", undefined, "missing_body", ""],
      ["an empty body", "", "missing_body", ""],
      ["broken JSON", "{", "invalid_json", null],
      ["a body that is a list", "[]", "invalid_field", ""],
      ["null", "null", "invalid_field", ""],
      ["more than 64 KiB", JSON.stringify({ x: "x".repeat(64 * 1024) }), "request_too_large", null],
      ["a body nested deeper than 16 levels", `${"[".repeat(17)}${"]".repeat(17)}`, "invalid_json", null],
      ["a key that reaches the prototype", '{"__proto__":{}}', "unknown_field", "/__proto__"],
    ] as const)("a request with %s", async (_name, sent, code, field) => {
      const cartId = await cart();
      const answer = await withoutTrace(world(), () => callCart(world(), operation, { cartId, body: sent }));
      expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 400, code });
      if (code === "missing_body")
        expect(answer.body.error.message).toMatch(
          /^The request must have a JSON body with the field "(?:expectedVersion|code|address)"\.$/,
        );
      if (field !== null)
        expect(answer.body.error.details.map((detail: { field: string }) => detail.field)).toContain(field);
    });

    it("an unknown field by name", async () => {
      const cartId = await cart();
      const answer = await withoutTrace(world(), () =>
        callCart(world(), operation, { cartId, body: { ...(body as object), surprise: 1 } }),
      );
      expectError(answer, {
        status: 400,
        code: "unknown_field",
        details: [{ in: "body", field: "/surprise", code: "unknown" }],
      });
    });
  });
}

export type BodyFault = readonly [name: string, body: unknown, code: string, details: readonly string[]];

/** Each row: a description, the body, the error code, and `field rule` of every detail. */
export function describeBodyFaults(
  operation: CartOperation,
  { world, faults }: { readonly world: () => World; readonly faults: readonly BodyFault[] },
): void {
  describe("returns a detail for every fault of the body", () => {
    it.each(faults)("%s", async (_name, body, code, details) => {
      const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      const answer = await withoutTrace(world(), () => callCart(world(), operation, { cartId, body }));
      expect({
        status: answer.status,
        code: answer.body.error?.code,
        details: answer.body.error?.details
          .map(
            (detail: { in: string; field: string; code: string }) =>
              `${detail.in} ${detail.field} ${detail.code}`,
          )
          .toSorted(),
        conflict: answer.body.error?.conflict,
      }).toEqual({
        status: 400,
        code,
        details: details.map((detail) => `body ${detail}`).toSorted(),
        conflict: null,
      });
    });
  });
}
