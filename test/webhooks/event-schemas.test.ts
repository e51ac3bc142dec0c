/**
 * Event bodies match the event catalog's schemas: every subject type, in every state that occurs in the demo
 * and in a whole purchase.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { runInTransaction } from "#database/transaction.ts";
import {
  eventEnvelopeSchema,
  listEventCatalogue,
  getEventObjectSchemaName,
  eventSubjectTypes,
} from "#webhooks/event-catalogue.ts";
import type { EventSubjectType } from "#webhooks/event-types.ts";
import { done, makeDelivered } from "#test/graph/return-calls.ts";
import { lineOf } from "#test/graph/order-money-calls.ts";
import { makeCode } from "#test/operations/cart-calls.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { purchaseMarked } from "#test/support/marked-purchase.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";

/** The table of each subject type. */
const tables: Readonly<Record<EventSubjectType, string>> = {
  cart: "cart",
  promotion: "promotion",
  checkout_session: "hosted_checkout_session",
  order: "sales_order",
  payment: "payment",
  refund: "refund",
  fulfillment: "fulfillment",
  return: "order_return",
  warranty: "warranty_registration",
  product: "product",
  variant: "variant",
  installation: "installation",
  api_key: "api_key",
  webhook_endpoint: "webhook_endpoint",
};

interface Row {
  readonly id: string;
  readonly merchantId: string;
}

describe("an event body", () => {
  const world = useWorld();
  let contract: Contract;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("date-time", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  ajv.addFormat("uri", (text) => URL.canParse(text));
  ajv.addFormat("locale", /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/);
  ajv.addFormat("country-code", /^[A-Z]{2}$/);
  const faultsOf = (schema: object, body: unknown): string[] => {
    const check = ajv.compile(schema);
    return check(body)
      ? []
      : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
  beforeAll(async () => {
    contract = await readContract(world());
    ajv.addSchema({ ...contract.document }, `${publicUrl}/openapi.json`);
    const address = {
      recipientName: "A B",
      line1: "C 1",
      city: "Utrecht",
      postalCode: "9876ZX",
      countryCode: "NL",
    };
    await makeCode(world(), "WELCOME");
    await purchaseMarked(world(), { address, email: "a@b.example", cardToken: "tok_unknown" });
    const order = await makeDelivered(world());
    await done(world(), "warrantyRegister", {
      id: order.id,
      input: { lineId: lineOf(order, "KIT-KVERN").id },
    });
    await makeEndpoint(world());
  });

  it("follows the schema of its type, with and without the subject", async () => {
    const events = await world()
      .database.db.selectFrom("event")
      .select(["type", "snapshot", "thin"])
      .execute();
    const schemas = new Map(
      listEventCatalogue(publicUrl).map(({ name, payloadSchema }): [string, object] => [name, payloadSchema]),
    );
    expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(25);
    for (const { type, snapshot, thin } of events)
      for (const body of [snapshot, thin])
        expect({ type, faults: faultsOf(schemas.get(type) ?? {}, JSON.parse(body)) }).toEqual({
          type,
          faults: [],
        });
  });

  it.each(eventSubjectTypes)("contains a %s as its document describes it", async (type) => {
    const { rows } =
      await sql<Row>`select id, merchant_id from ${sql.table(tables[type])} order by id limit 60`.execute(
        world().database.db,
      );
    expect(rows.length).toBeGreaterThan(0);
    const { anyOf } = contract.document.components.schemas[getEventObjectSchemaName(type)] as {
      anyOf: [{ $ref?: string }, object];
    };
    const [whole] = anyOf;
    const schema = whole.$ref === undefined ? whole : { $ref: `${publicUrl}/openapi.json${whole.$ref}` };
    const absolute = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/', `"${publicUrl}/openapi.json#/`),
    ) as object;
    for (const { id, merchantId } of rows) {
      const object = await runInTransaction(world().database.db, (transaction) =>
        world().app.services.render(transaction, { type, id, merchantId, object: undefined, batch: {} }),
      );
      expect({ id, faults: faultsOf(absolute, object) }).toEqual({ id, faults: [] });
      expect(object["id"]).toBe(id);
    }
  });

  it("fails the schema if it has another type or lacks a field", () => {
    const [first] = listEventCatalogue(publicUrl);
    if (first === undefined) throw new Error("There is no event type.");
    for (const name of Object.keys(eventEnvelopeSchema["properties"] as object)) {
      const { [name]: _left, ...rest } = first.example;
      expect(faultsOf(first.payloadSchema, rest)).not.toEqual([]);
    }
    expect(faultsOf(first.payloadSchema, { ...first.example, type: "order.placed" })).not.toEqual([]);
  });

  it("is documented in OpenAPI for each type, with headers and expected answers", () => {
    const { webhooks, components } = contract.document as unknown as {
      webhooks: Record<string, never>;
      components: { parameters: object };
    };
    const names = listEventCatalogue(publicUrl).map(({ name }) => name);
    expect(Object.keys(webhooks)).toEqual(names);
    for (const name of names) {
      const { post } = webhooks[name] as unknown as {
        post: { parameters: { $ref: string }[]; responses: object; requestBody: { content: object } };
      };
      const headers = post.parameters.map(
        ({ $ref }) => components.parameters[$ref.split("/").at(-1) as never] as { name: string; in: string },
      );
      expect(headers.map((header) => `${header.in} ${header.name}`)).toEqual(
        [
          "id",
          "timestamp",
          "signature",
          "event-type",
          "delivery-id",
          "installation-id",
          "attempt",
          "replay",
        ].map((part) => `header webhook-${part}`),
      );
      expect(Object.keys(post.responses).toSorted()).toEqual(["2XX", "410"]);
      expect(JSON.stringify(post.requestBody)).toContain(`"const":"${name}"`);
    }
  });
});
