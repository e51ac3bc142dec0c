/**
 * The host name of a new endpoint is resolved before any lock is taken, and refused by REST and GraphQL if it
 * resolves to a private address.
 */
import { sql } from "kysely";
import { beforeEach, describe, expect, it } from "vitest";
import { withoutTrace } from "#test/operations/cart-calls.ts";
import {
  changeEndpoint,
  clearEndpoints,
  createWebhook,
  installationOf,
  makeEndpoint,
  tryEndpoint,
} from "#test/operations/webhook-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

const inside = "https://inside.example.com/hooks";
const refusal = {
  code: "webhook_url_not_allowed",
  details: [{ in: "body", field: "/url", code: "resolves_inside" }],
};

describe.each(["pglite", "postgres"] as const)("the name of an endpoint on %s", (engine) => {
  const asked: string[] = [];
  /** A statement on the root handle throws inside of a transaction. */
  const faults: unknown[] = [];
  const world = useWorld(engine, {
    resolveName: async (name) => {
      asked.push(name);
      await sql`select 1`.execute(world().database.db).catch((error: unknown) => faults.push(error));
      return name.startsWith("inside") ? ["93.184.215.14", "10.0.0.1"] : ["93.184.215.14"];
    },
  });
  beforeEach(async () => {
    await clearEndpoints(world());
    asked.length = 0;
  });

  it("is resolved once, outside of any transaction, by REST and GraphQL", async () => {
    await makeEndpoint(world(), { url: "https://rest.example.com/hooks" });
    const { id } = await makeEndpoint(world(), { url: "https://rest.example.com/others" });
    await tryEndpoint(world(), {
      installationId: await installationOf(world()),
      input: { url: "https://graph.example.com/" },
    });
    await changeEndpoint(world(), "webhookEndpointUpdate", {
      endpointId: id,
      input: { url: "https://moved.example.com/" },
    });
    await changeEndpoint(world(), "webhookEndpointUpdate", {
      endpointId: id,
      input: { description: "Here" },
    });
    expect(asked).toEqual(["rest.example.com", "graph.example.com", "moved.example.com"]);
    expect(faults).toEqual([]);
  });

  it("is refused if one of its addresses is private", async () => {
    const body = { url: inside, eventTypes: ["*"] };
    const rest = await withoutTrace(world(), () => createWebhook(world(), { body }));
    expect([rest.status, rest.body.error]).toMatchObject([400, refusal]);
    const installationId = await installationOf(world());
    const made = await withoutTrace(world(), () =>
      tryEndpoint(world(), { installationId, input: { url: inside.replace("inside", "inside-2") } }),
    );
    expect(made.error).toMatchObject(refusal);
    const { id } = await makeEndpoint(world());
    const input = { url: inside.replace("inside", "inside-3") };
    expect(
      (
        await withoutTrace(world(), () =>
          changeEndpoint(world(), "webhookEndpointUpdate", { endpointId: id, input }),
        )
      ).error,
    ).toMatchObject(refusal);
    expect(faults).toEqual([]);
  });

  it("is found anywhere in a GraphQL document: inline, in a default, under another name", async () => {
    const installationId = await installationOf(world());
    const field = (input: string): string =>
      `made: webhookEndpointCreate(installationId: "${installationId}", idempotencyKey: "k", ` +
      `input: ${input}) { endpoint { id } }`;
    const url = (number: number): string =>
      `url: "${inside.replace("inside", `inside-at-${number}`)}", eventTypes: ["*"]`;
    const documents = [
      `mutation { ${field(`{ ${url(1)} }`)} }`,
      `mutation ($input: PublicWebhookCreateRequest! = { ${url(2)} }) { ${field("$input")} }`,
      `mutation { ...F } fragment F on Mutation { ${field(`{ ${url(3)} }`)} }`,
    ];
    for (const document of documents) {
      const { body } = await withoutTrace(world(), () => world().graphql(document));
      expect(body.errors?.[0]?.extensions).toMatchObject(refusal);
    }
    expect(faults).toEqual([]);
  });

  it("is not looked up for a receiver on this machine or for an invalid URL", async () => {
    await makeEndpoint(world(), { url: "http://localhost:9099/hooks" });
    for (const url of ["http://inside.example.com/", "https://10.0.0.1/", "https://inside/"])
      await createWebhook(world(), { body: { url, eventTypes: ["*"] } });
    expect(asked).toEqual([]);
  });
});

describe("a receiver on this machine", () => {
  const open = useWorld();
  const closed = useWorld("postgres", { environment: { WEBHOOK_ALLOW_LOOPBACK: "0" } });
  const local = ["http://localhost:9099/hooks", "http://127.0.0.1:9099/hooks", "https://[::1]:9443/"];
  const input = (url: string) => ({ body: { url, eventTypes: ["*"] } });

  it("may be registered by a merchant in test mode, as the demo's receivers are", async () => {
    for (const url of local)
      expect([url, (await createWebhook(open(), input(url))).status]).toEqual([url, 200]);
    for (const url of ["http://192.168.0.7:9099/", "http://169.254.169.254/", "http://localhost:80/"])
      expect([url, (await createWebhook(open(), input(url))).body.error?.code]).toEqual([
        url,
        "webhook_url_not_allowed",
      ]);
  });

  it("may not be registered by a merchant in live mode, or if the setting forbids it", async () => {
    const { db } = open().database;
    await db
      .updateTable("merchant")
      .set({ mode: "live" })
      .where("id", "=", open().demo.merchants.second.id)
      .execute();
    for (const url of local) {
      const live = await withoutTrace(open(), () =>
        createWebhook(open(), { ...input(url), key: "otherMerchant" }),
      );
      const off = await withoutTrace(closed(), () => createWebhook(closed(), input(url)));
      for (const { status, body } of [live, off])
        expect([url, status, body.error.code]).toEqual([url, 400, "webhook_url_not_allowed"]);
    }
  });
});
