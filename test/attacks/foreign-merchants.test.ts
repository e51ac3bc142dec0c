/**
 * Ways to another merchant's data other than ids in id arguments (those: graph/foreign-ids,
 * gateway/foreign-ids): cursors, used idempotency keys, streams, report filters, pages, searches.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { createPerson } from "#test/oauth/people.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { createWebhook, endpointsUrl, makeEndpoint, receiver } from "#test/operations/webhook-calls.ts";
import { useStreams } from "#test/graph/live/streams.ts";
import { useWorld } from "#test/support/use-world.ts";
import { askAs, scriptHeaders, signInAs } from "#test/web/console/console-calls.ts";

const world = useWorld("postgres", { environment: { PORT: "0" }, role: "gateway" });
/** The token of the second merchant's admin. */
let token = "";

beforeAll(async () => {
  await world().app.listen();
  const input = { name: "Stranger", role: "ADMIN", merchantId: world().demo.merchants.second.id };
  const made = await askGraph(
    world(),
    "mutation ($input: InternalTokenCreateInput!) { internalTokenCreate(input: $input) { value } }",
    { input },
    { token: "operator" },
  );
  token = made.data.value;
});

describe("a cursor", () => {
  it.each([
    "products",
    "orders",
    "carts",
    "promotions",
    "installations",
    "auditEntries",
    "apiRequests",
    "apiKeys",
    "staffAccounts",
  ])("of another merchant's %s works in the own list like an unknown position", async (list) => {
    const asked = `edges { cursor node { id } }`;
    const idsOf = async (args: string, of: string): Promise<string[]> => {
      const { body } = await world().graphql(`{ ${list}${args} { ${asked} } }`, { token: of });
      return (body.data?.[list]?.edges ?? []).map(({ node }: { node: { id: string } }) => node.id);
    };
    const { body } = await world().graphql(`{ ${list}(first: 100) { ${asked} } }`);
    const cursors: string[] = body.data[list].edges.map(({ cursor }: { cursor: string }) => cursor);
    const own = await idsOf("(first: 100)", token);
    for (const cursor of cursors.slice(0, 5))
      for (const args of [
        `(first: 100, after: ${JSON.stringify(cursor)})`,
        `(last: 100, before: ${JSON.stringify(cursor)})`,
      ])
        for (const id of await idsOf(args, token)) expect(own).toContain(id);
  });
});

describe("an idempotency key", () => {
  it("used by another merchant can be used again: the other's answer is never returned", async () => {
    const headers = { "idempotency-key": "the-very-same-key-of-both" };
    const body = { url: receiver(), eventTypes: ["*"] };
    const mine = await createWebhook(world(), { key: "full", headers, body });
    const theirs = await createWebhook(world(), { key: "otherMerchant", headers, body });
    expect([mine.status, theirs.status, theirs.headers["idempotent-replayed"]]).toEqual([200, 200, "false"]);
    expect(theirs.body.data.endpoint.id).not.toBe(mine.body.data.endpoint.id);
    expect(theirs.body.data.secret.value).not.toBe(mine.body.data.secret.value);
    const again = await world().send({
      method: "POST",
      url: endpointsUrl,
      headers: { ...headers, authorization: `Bearer ${world().demo.keys.otherMerchant}` },
      body,
    });
    expect(again.body.data.endpoint.id).toBe(theirs.body.data.endpoint.id);
  });
});

describe("a stream", () => {
  const followed = useStreams(world);

  it("of another merchant's object starts like one of an unknown object", async () => {
    const { demo } = world();
    const { id: endpointId } = await makeEndpoint(world());
    const subjects = [
      ["cartChanged", "id", demo.carts.active, "id"],
      ["orderChanged", "id", demo.orders.delivered, "id"],
      ["deliveryChanged", "endpointId", endpointId, "readAnew"],
    ] as const;
    for (const [field, argument, id, selection] of subjects) {
      const answers: string[] = [];
      for (const asked of [id, `${id.slice(0, -26)}${"0".repeat(26)}`]) {
        const stream = await followed({
          token,
          query: `subscription { ${field}(${argument}: "${asked}") { ${selection} } }`,
        });
        answers.push(
          JSON.stringify(await stream.next())
            .replaceAll(/req_\w{26}/g, "req")
            .replaceAll(asked, "id"),
        );
      }
      expect(JSON.parse(answers[0] ?? "")).toMatchObject({ data: { [field]: null } });
      expect(answers[1]).toBe(answers[0]);
    }
  });
});

describe("a text search", () => {
  it("finds no unpublished product of another merchant", async () => {
    const { db } = world().database;
    const hidden = await db
      .selectFrom("product")
      .innerJoin("variant", "variant.productId", "product.id")
      .select(["product.id", "sku"])
      .where("product.status", "!=", "published")
      .limit(3)
      .execute();
    expect(hidden.length).toBeGreaterThan(0);
    for (const { id, sku } of hidden) {
      const { text } = await world().get(
        `/api/v1/search?q=${encodeURIComponent(sku)}&locale=en&market=DE&sort=relevance&page=1&pageSize=50`,
      );
      expect(text).not.toContain(id);
    }
  });

  it("reveals nothing through a filter of a report", async () => {
    const { endpoint: id } = world().demo.webhooks;
    const { started } = await world()
      .database.db.selectFrom("webhookAttempt")
      .innerJoin("webhookDelivery", "webhookDelivery.id", "deliveryId")
      .where("endpointId", "=", id)
      .select("startedAt as started")
      .executeTakeFirstOrThrow();
    const day = started.toISOString().slice(0, 10);
    const asked = async (endpointId: string, of: string): Promise<unknown> => {
      const url = `/reports/webhook-health.csv?from=${day}&to=${day}&timeZone=UTC&endpointId=${endpointId}`;
      const { status, text } = await world().get(url, { authorization: `Bearer ${of}` });
      return { status, text };
    };
    const foreign = await asked(id, token);
    expect(foreign).toEqual({ status: 200, text: expect.stringMatching(/^day,startsAt/) });
    expect(await asked(`${id.slice(0, -26)}${"0".repeat(26)}`, token)).toEqual(foreign);
    // The merchant's own admin does get an answer, so there is something to hide.
    expect(await asked(id, world().demo.tokens.admin)).not.toEqual(foreign);
  });
});

describe("a staff member of another merchant", () => {
  it("sees in the console what the merchant's token sees, and cannot name another merchant", async () => {
    const { email } = await createPerson(world(), "second");
    const cookie = await signInAs(world(), email);
    const { first } = world().demo.merchants;
    const { body } = await askAs(
      world(),
      cookie,
      `{
        merchant(id: "${first.id}") { id }
        order(id: "${world().demo.orders.delivered}") { id }
        orders(merchantId: "${first.id}") { totalCount }
      }`,
      scriptHeaders(world()),
    );
    expect(JSON.stringify(body.data ?? {})).not.toMatch(/:\s*"\w|[1-9]/);
  });
});
