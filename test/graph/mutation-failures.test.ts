/**
 * The description of a mutation lists the error codes that the mutation can answer. The list is compared with
 * the code of the mutation; `createWorld` compares it with every answer of a mutation in the tests.
 */
import { describe, expect, it } from "vitest";
import { commonMutationFailures } from "#graph/mutation-failures.ts";
import graph from "#graph/schema.ts";
import { findUndocumentedFailures } from "#test/support/documented-failures.ts";
import { findReachableFailures } from "#test/support/reachable-failures.ts";

const mutations = Object.values(graph.getMutationType()?.getFields() ?? {});
const reachable = findReachableFailures(mutations.map(({ name }) => name));

/** Codes that are in the code of a mutation, and that the mutation never answers. */
const unanswered: Readonly<Record<string, readonly string[]>> = {
  // The code is also the reason why an order cannot be canceled.
  orderCancel: ["merchant_suspended"],
  orderCancellationApprove: ["merchant_suspended"],
  // The codes are reasons in the answer: a delivery is skipped, an item is not imported.
  webhookDeliveriesReplay: [
    "delivery_in_progress",
    "delivery_already_succeeded",
    "delivery_payload_expired",
    "delivery_replay_limit_reached",
  ],
  productsImport: [
    "invalid_locale",
    "product_not_found",
    "resource_not_found",
    "version_conflict",
    "already_exists",
    "still_in_use",
    "invalid_state",
  ],
};

/** The order of a part always exists; for a buyer who may not see it, the part does not exist. */
const withOrderOfPart = /^(?:payment|fulfillment(?!Create)|return(?!Request)|warrantyClaim)/;

/** `answer` does the work of this mutation, because its command has nothing to store. */
const answered: Readonly<Record<string, readonly string[]>> = {
  buyerSessionCreate: ["api_key_invalid", "api_key_expired"],
};

/** Codes that no list of a mutation needs to repeat: `defineMutation` adds them, or every mutation has them. */
const general = new Set<string>([
  ...commonMutationFailures,
  "missing_field",
  "merchant_not_found",
  "idempotency_key_required",
]);

describe("the error codes of a mutation", () => {
  it.each(mutations)("$name: are those of its code", ({ name, extensions }) => {
    const expected = [...(reachable.get(name) ?? []), ...(answered[name] ?? [])].filter(
      (code) =>
        unanswered[name]?.includes(code) !== true &&
        !(code === "order_not_found" && withOrderOfPart.test(name)),
    );
    const documented: readonly string[] = extensions.change?.failures ?? [];
    const specific = (codes: readonly string[]): string[] =>
      codes.filter((code) => !general.has(code)).toSorted();
    expect(specific(documented)).toEqual(specific(expected));
    for (const code of expected) expect([...general, ...documented]).toContain(code);
  });

  it.each(mutations)("$name: are in its description, each once", ({ description, extensions }) => {
    const codes = extensions.change?.failures ?? [];
    expect(new Set(codes).size).toBe(codes.length);
    if (codes.length > 0)
      expect(description).toMatch(
        new RegExp(String.raw` Error codes: ${codes.map((code) => `\`${code}\``).join(", ")}\.$`),
      );
    for (const code of commonMutationFailures) expect(codes).not.toContain(code);
  });

  it("are compared with the answers of all tests", () => {
    const query = 'mutation { a: appCreate(input: {}) { id } b: cartRevoke(cartId: "x", input: {}) { id } }';
    const errors = [
      { path: ["a"], extensions: { code: "invalid_field" } },
      { path: ["a"], extensions: { code: "cart_locked" } },
      { path: ["b"], extensions: { code: "cart_locked" } },
      { path: ["b", "id"], extensions: { code: "order_not_found" } },
    ];
    expect(findUndocumentedFailures({ query }, { data: null, errors })).toEqual([
      "appCreate: cart_locked",
      "cartRevoke: order_not_found",
    ]);
    expect(findUndocumentedFailures({ query }, { errors })).toEqual([]);
    expect(findUndocumentedFailures({ query: "{ a: viewer { role } }" }, { data: null, errors })).toEqual([]);
  });
});
