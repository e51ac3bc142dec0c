/** Validation reports each error of a query once per location. */
import { expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();

it.each(["query", "subscription"])(
  "a %s that does not fit the schema is reported once per error",
  async (kind) => {
    const field = kind === "query" ? "cart" : "cartChanged";
    const { status, body } = await world().graphql(`${kind} { ${field}(id: "x") { nope zzz } }`);
    const { errors } = body as { errors: { message: string }[] };
    expect(status).toBe(400);
    expect(errors.map(({ message }) => message)).toEqual([
      'Cannot query field "nope" on type "Cart".',
      'Cannot query field "zzz" on type "Cart".',
    ]);
  },
);
