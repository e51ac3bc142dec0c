/**
 * Every example of GraphiQL's picker runs on the demo data with the tokens of its group. Frequent examples
 * run a known number of statements.
 */
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { addListRows } from "#bench/list-rows.ts";
import { seedBulkOrders } from "#demo/bulk/seed-bulk-orders.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { exampleQueries } from "#pages/graphiql/example-queries.ts";
import { cartWorkflowExample, orderWorkflowExample } from "#pages/graphiql/workflow-examples.ts";
import { exampleGroups } from "#pages/graphiql/examples.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { createWorld, type World } from "#test/support/world.ts";

/** The numbers of statements, without the statement that verifies the token. */
const statementsOf: Readonly<Record<string, number>> = {
  Search: 2,
  Products: 4,
  Markets: 4,
  "Who am I": 2,
  Carts: 3,
  Orders: 4,
  Webhooks: 5,
};

describe.each(["pglite", "postgres"] as const)("GraphiQL's example queries on %s", (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(exampleQueries)("$title runs its number of statements", async ({ title, query }) => {
    for (const token of ["admin", "analyst"]) {
      world.statements.length = 0;
      const { status, body } = await world.graphql(query, { token });
      expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
      expect(JSON.stringify(body.data).length).toBeGreaterThan(50);
      // The token, and stems and vocabulary entries of words, are loaded once and then cached.
      const statements = world.statements.filter(
        (text) => !/internal_token|ts_lexize|search_synonym y/.test(text),
      );
      expect(statements.length, statements.join("\n\n")).toBe(statementsOf[title]);
    }
  });

  it.runIf(engine === "postgres")(
    "lists of carts and orders work with generated and copied rows",
    async () => {
      const { db } = world.database;
      const keyring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
      const { id: merchantId } = world.demo.merchants.first;
      await seedBulkOrders(db, { merchantId, count: 40, now: world.clock.now(), keyring });
      const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
      const client = new Client({
        connectionString: databaseUrl(inject("postgresUrl"), rows[0]?.name ?? ""),
      });
      await client.connect();
      try {
        await addListRows(client, 150);
      } finally {
        await client.end();
      }
      for (const { title, query } of exampleQueries.filter(({ title: name }) =>
        /^(?:Carts|Orders)$/.test(name),
      ))
        for (const page of ["first: 30", "last: 30"]) {
          const { status, body } = await world.graphql(query.replace(/(?:first|last): 20/, page), {
            token: "admin",
          });
          expect({ title, page, status, errors: body.errors }).toEqual({
            title,
            page,
            status: 200,
            errors: undefined,
          });
          expect(body.data[title.toLowerCase()].edges).toHaveLength(30);
        }
    },
  );

  const cases = exampleGroups.flatMap(({ title: group, roles, examples }) =>
    // The workflow examples need variables of earlier steps: the test below runs them.
    examples
      .filter((example) => example !== cartWorkflowExample && example !== orderWorkflowExample)
      .map((example) => ({ group, roles, example, title: example.title })),
  );

  it.each(cases)(
    "$group: $title runs with each of its roles on existing data",
    async ({ roles, example }) => {
      for (const role of roles) {
        const variables = JSON.parse(example.variables ?? "{}") as Record<string, unknown>;
        const { status, body } = await world.graphql(example.query, { token: role, variables });
        expect({ role, status, errors: body.errors }).toEqual({ role, status: 200, errors: undefined });
        expect(body.extensions.cost.requested).toBeLessThanOrEqual(body.extensions.cost.limit);
      }
    },
  );

  /**
   * Sends the whole document like GraphiQL, with the operation's name and only the variables of the
   * operation.
   */
  const runnerOf =
    (
      { query }: { readonly query: string },
      variables: Record<string, unknown>,
      token: "storefront" | "admin",
    ) =>
    async (operationName: string) => {
      const headers = { authorization: `Bearer ${world.demo.tokens[token]}` };
      const { body } = await world.send({
        method: "POST",
        url: "/graphql",
        headers,
        body: { query, operationName, variables },
      });
      expect({ operationName, errors: body.errors }).toEqual({ operationName, errors: undefined });
      return body.data;
    };

  it("the workflow examples of a cart and an order run operation by operation, in their order", async () => {
    const variables = JSON.parse(cartWorkflowExample.variables ?? "{}") as Record<string, string>;
    const run = runnerOf(cartWorkflowExample, variables, "storefront");
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
    expect(cartAddressSet).toMatchObject({
      address: { city: "Berlin", recipientInitials: "A. B." },
      serviceability: { status: "DELIVERABLE" },
    });
    const [option] = cartAddressSet.quote.deliveryOptions;
    variables["optionId"] = option.id;
    const shipping = option.price.amountMinor;
    expect((await run("Deliver")).cartDeliveryOptionSelect.totals).toMatchObject({
      total: { amountMinor: 2 * unit + shipping },
      estimated: false,
    });
    expect((await run("Promotion")).cartPromotionApply).toMatchObject({
      state: "APPLIED",
      discount: { amountMinor: (2 * unit) / 10 },
    });
    expect((await run("Look")).cart).toMatchObject({
      status: "ACTIVE",
      version: 5,
      totals: { total: { amountMinor: 2 * unit * 0.9 + shipping } },
    });

    const order: Record<string, unknown> = {
      ...(JSON.parse(orderWorkflowExample.variables ?? "{}") as object),
      cartId: variables["cartId"],
    };
    const go = runnerOf(orderWorkflowExample, order, "admin");
    const { hostedCheckoutSessionCreate: session } = await go("Checkout");
    expect(session.amountTotal).toEqual({ amountMinor: 2 * unit * 0.9 + shipping, currency: "EUR" });
    Object.assign(order, session.amountTotal, { sessionId: session.id });
    expect((await go("Submit")).hostedCheckoutSessionSubmit).toEqual({
      status: "PROCESSING",
      paymentStatus: "PROCESSING",
    });
    await world.app.payments.drive();
    const { hostedCheckoutSession: completed } = await go("Session");
    expect(completed).toMatchObject({
      status: "COMPLETED",
      paymentStatus: "PAID",
      cart: { status: "COMPLETED" },
    });
    order["orderId"] = completed.orderId;
    const { order: placed } = await go("Order");
    expect(placed).toMatchObject({
      status: "PENDING",
      paymentStatus: "AUTHORIZED",
      cancellationEligibility: { decision: "ALLOWED", scope: "ORDER" },
    });
    Object.assign(order, { paymentId: placed.payments[0].id, lineId: placed.lines[0].id });
    expect((await go("Confirm")).orderConfirm.status).toBe("CONFIRMED");
    await go("Capture");
    await world.app.payments.drive();
    const { fulfillmentCreate } = await go("Fulfill");
    expect(fulfillmentCreate).toMatchObject({
      status: "PENDING",
      lines: [{ lineId: order["lineId"], quantity: 2 }],
    });
    order["fulfillmentId"] = fulfillmentCreate.id;
    expect((await go("Pack")).fulfillmentPack.status).toBe("PACKING");
    expect((await go("Ship")).fulfillmentShip.status).toBe("SHIPPED");
    expect((await go("Deliver")).fulfillmentDeliver.status).toBe("DELIVERED");
    expect((await go("AfterSales")).order).toMatchObject({
      status: "COMPLETED",
      afterSalesEligibility: { decision: "ELIGIBLE" },
    });
    expect((await go("Return")).returnRequest.status).toBe("APPROVED");
  });
});
