/** What GraphiQL opens with runs on the demo data, for who reads, with a known number of statements. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cartWay, exampleQueries } from "#web/example-queries.ts";
import { createWorld, type World } from "#test/support/world.ts";

/** Beside the statement that verifies the token. */
const statementsOf: Readonly<Record<string, number>> = { Search: 5, Products: 4, Markets: 4, "Who am I": 2, Carts: 3 };

describe.each(["pglite", "postgres"] as const)("GraphiQL's example queries on %s", (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(exampleQueries)("$title runs and costs the statements it should", async ({ title, query }) => {
    for (const token of ["admin", "analyst"]) {
      world.statements.length = 0;
      const { status, body } = await world.graphql(query, { token });
      expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
      expect(JSON.stringify(body.data).length).toBeGreaterThan(50);
      const statements = world.statements.filter((text) => !text.includes("internal_token"));
      expect(statements.length, statements.join("\n\n")).toBe(statementsOf[title]);
    }
  });

  it("a frontend's whole way runs operation by operation, as its tab says", async () => {
    const variables = JSON.parse(cartWay.variables ?? "{}") as Record<string, string>;
    const run = async (operationName: string) => {
      const headers = { authorization: `Bearer ${world.demo.tokens.storefront}` };
      // As GraphiQL does it: the whole document, the operation's name, and of the variables those that the operation has.
      const { body } = await world.send({ method: "POST", url: "/graphql", headers, body: { query: cartWay.query, operationName, variables } });
      expect({ operationName, errors: body.errors }).toEqual({ operationName, errors: undefined });
      return body.data;
    };
    const { publicProduct } = await run("Find");
    variables["variantId"] = publicProduct.variants[0].id;
    const { cartCreate } = await run("Open");
    variables["cartId"] = cartCreate.id;
    variables["lineId"] = cartCreate.lines[0].id;
    const unit = cartCreate.lines[0].unitPrice.amountMinor;
    expect((await run("Open")).cartCreate).toEqual(cartCreate);
    expect((await run("Fill")).cartLinesUpdate).toMatchObject({
      version: 2,
      totalQuantity: 2,
      totals: { total: { amountMinor: 2 * unit }, estimated: true },
    });
    const { cartAddressSet } = await run("Address");
    expect(cartAddressSet).toMatchObject({ address: { city: "Berlin", recipientInitials: "A. B." }, serviceability: { status: "DELIVERABLE" } });
    const [option] = cartAddressSet.quote.deliveryOptions;
    variables["optionId"] = option.id;
    const shipping = option.price.amountMinor;
    expect((await run("Deliver")).cartDeliveryOptionSelect.totals).toMatchObject({ total: { amountMinor: 2 * unit + shipping }, estimated: false });
    expect((await run("Promotion")).cartPromotionApply).toMatchObject({ state: "APPLIED", discount: { amountMinor: (2 * unit) / 10 } });
    expect((await run("Look")).cart).toMatchObject({ status: "ACTIVE", version: 5, totals: { total: { amountMinor: 2 * unit * 0.9 + shipping } } });
  });
});
