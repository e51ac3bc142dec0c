/** The settings of webhook endpoints that only GraphQL has: field filters and the order of deliveries. */
import { expect, it } from "vitest";
import { askGraph } from "#test/operations/cart-calls.ts";
import { installationOf } from "#test/operations/webhook-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeDeliveries, makeEvents } from "#test/webhooks/delivery-rows.ts";

const world = useWorld();
const answer = "id version fieldFilters { eventType fields } deliveryOrder";
let made = 0;

const create = async (options: object) => {
  made += 1;
  const installationId = await installationOf(world());
  const query = `mutation ($options: WebhookEndpointOptionsInput) { made: webhookEndpointCreate(
    installationId: "${installationId}", idempotencyKey: "options-${made}", options: $options,
    input: { url: "https://options-${made}.shop.example/", eventTypes: ["order.*"] }) { endpoint { ${answer} } } }`;
  return askGraph(world(), query, { options }, { token: "admin" });
};
const update = async (endpointId: string, input: object) => {
  made += 1;
  const query = `mutation ($input: WebhookEndpointUpdateInput!) { made: webhookEndpointUpdate(
    endpointId: "${endpointId}", idempotencyKey: "options-${made}", input: $input) { ${answer} } }`;
  return askGraph(world(), query, { input }, { token: "admin" });
};
const filter = (eventType: string, ...fields: string[]) => ({ fieldFilters: [{ eventType, fields }] });

it("an endpoint is created with filters and an order, which an update replaces and removes", async () => {
  const wanted = { ...filter("order.updated", "status", "paymentStatus"), deliveryOrder: "SUBJECT" };
  const { id, ...shown } = (await create(wanted)).data.endpoint;
  expect(shown).toEqual({ version: 1, ...wanted });
  expect((await update(id, { description: "x" })).data).toMatchObject({ ...wanted, version: 2 });
  expect((await update(id, wanted)).data).toMatchObject({ version: 2 });
  const other = filter("order.placed", "totals");
  expect((await update(id, other)).data).toMatchObject({ ...other, version: 3 });
  const none = { fieldFilters: [], deliveryOrder: "ANY" };
  expect((await update(id, none)).data).toEqual({ id, version: 4, ...none });
  expect((await create({})).data.endpoint).toMatchObject({ version: 1, ...none });
});

it.each([
  [
    filter("order.update", "status"),
    ["/fieldFilters/0/eventType", "order.updated"],
    '"order.update" is not an allowed event type; the nearest is order.updated.',
  ],
  [
    filter("order.*", "status"),
    ["/fieldFilters/0/eventType", "order.updated"],
    '"order.*" is not an allowed event type; the nearest is order.',
  ],
  [
    filter("order.updated", "status", "paymentStat"),
    ["/fieldFilters/0/fields/1", "paymentStatus"],
    '"paymentStat" is not an allowed field of the object of order.updated; the nearest is paymentStatus.',
  ],
  [
    filter("order.updated", "id"),
    ["/fieldFilters/0/fields/0", "status"],
    '"id" is not an allowed field of the object of order.updated; "allowed" lists the allowed ones.',
  ],
])("the filters %j are refused with the allowed names", async (options, [field, allowed], message) => {
  const expected = {
    code: "invalid_field",
    message: expect.stringContaining(message) as unknown,
    details: [{ field, code: "unknown", allowed: expect.arrayContaining([allowed]) as unknown }],
  };
  expect((await create(options)).error).toMatchObject(expected);
  const { id } = (await create({})).data.endpoint;
  expect((await update(id, options)).error).toMatchObject(expected);
});

it("empty and repeated filters are refused", async () => {
  const twice = {
    fieldFilters: [
      ...filter("order.updated", "status").fieldFilters,
      ...filter("order.updated", "lines").fieldFilters,
    ],
  };
  expect((await create(twice)).error).toMatchObject({
    details: [{ field: "/fieldFilters/1/eventType", code: "duplicate" }],
  });
  expect((await create(filter("order.updated"))).error).toMatchObject({
    details: [{ field: "/fieldFilters/0/fields", code: "too_short" }],
  });
  expect((await create(filter("order.updated", "status", "status"))).error).toMatchObject({
    details: [{ field: "/fieldFilters/0/fields/1", code: "duplicate" }],
  });
});

it("a delivery that waits for an earlier one shows no next attempt, and its retry is refused", async () => {
  const { id: endpointId } = (await create({ deliveryOrder: "SUBJECT" })).data.endpoint;
  const [held = ""] = await makeDeliveries(world(), await makeEvents(world(), 1), {
    endpointId,
    status: "pending",
  });
  await world()
    .database.db.updateTable("webhookDelivery")
    .set({ nextAttemptAt: "infinity" as never })
    .where("id", "=", held)
    .execute();
  const { data } = await askGraph(
    world(),
    `{ webhookDelivery(id: "${held}") { status nextAttemptAt } }`,
    {},
    { token: "admin" },
  );
  expect(data).toEqual({ status: "PENDING", nextAttemptAt: null });
  const retry = `mutation { webhookDeliveryRetry(deliveryId: "${held}", idempotencyKey: "held",
    input: { expectedAttemptCount: 0 }) { id } }`;
  expect((await askGraph(world(), retry, {}, { token: "admin" })).error).toMatchObject({
    code: "version_conflict",
    conflict: { reason: "waits_for_earlier_delivery" },
  });
});
