/**
 * Texts that are code in SQL, HTML, templates, spreadsheets, terminals or headers. Every input treats such a
 * text as text or refuses it, and never fails with an internal error. Answers return it as written; pages,
 * tables and the log show it as text.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { requestOf, validCalls } from "#test/gateway/valid-calls.ts";
import { allowedRoles } from "#test/graph/role-table.ts";
import { askGraph, changeCart } from "#test/operations/cart-calls.ts";
import { changeEndpoint, installationOf, makeEndpoint, tryEndpoint } from "#test/operations/webhook-calls.ts";
import { digestTables } from "#test/support/all-rows.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { buyerOf, makePayableSession } from "#test/web/checkout/buyer.ts";
import { attackedFields, callWithText } from "./text-inputs.ts";

const world = useWorld("postgres", { environment: { CORS_ORIGINS: "https://shop.example" } });
let contract: Contract;
let client: TokenClient;

const html = `canary"><img src=x onerror=alert(1)><script>alert(1)</script>`;
/** A few texts with many attacks each, short enough to pass the length limits. */
const code = `canary'); drop table product;--"){__typename}#"><img src=x onerror=alert(1)>\${7*7}{{7*7}}<%=7*7%>`;
const texts = {
  "SQL, GraphQL, HTML and templates": code,
  "headers, paths and formats": "canary\r\nSet-Cookie: a=b/../../../../etc/passwd%s%n%00\\u0000$1",
} as const;
const controls = {
  "a terminal's and NUL": "canary\u001b[2J\u0000",
  "half a character": "canary\ud83d",
} as const;

beforeAll(async () => {
  contract = await readContract(world());
  client = await createTokenClient(world());
  await client.send({ url: "/api/v1/open/identity" });
});

const codesOf = ({ body }: Answer): string[] =>
  (body.errors ?? []).map(({ extensions }: { extensions: { code: string } }) => extensions.code);

function callField(field: string, text: string, inForms = false): Promise<Answer> {
  const { query, variables } = callWithText(field, text, inForms);
  const token = allowedRoles[field]?.includes("admin") === true ? "admin" : "operator";
  return world().graphql(query, { variables, token });
}

function expectNoFault(field: string, answer: Answer): void {
  expect([field, answer.status < 500, codesOf(answer)]).toEqual([
    field,
    true,
    expect.not.arrayContaining(["internal_error"]),
  ]);
}

describe("a code-like text in every text input of the graph", () => {
  it.each(Object.entries(texts))("%s is treated as text, or refused", async (_name, text) => {
    const refusedByForm: string[] = [];
    for (const field of attackedFields) {
      const answer = await callField(field, text);
      expectNoFault(field, answer);
      if (codesOf(answer).includes("malformed_request")) refusedByForm.push(field);
    }
    // Most calls must reach the code behind the format checks.
    expect(refusedByForm.length).toBeLessThan(attackedFields.length / 4);
  });

  it("a text instead of a code or a date is refused", async () => {
    let attacked = 0;
    for (const field of attackedFields) {
      const [plain, inForms] = [callWithText(field, code), callWithText(field, code, true)];
      if (JSON.stringify(plain) === JSON.stringify(inForms)) continue;
      expectNoFault(field, await callField(field, code, true));
      attacked += 1;
    }
    expect(attacked).toBeGreaterThan(10);
  });

  it.each(Object.entries(controls))(
    "%s control characters are refused, and the error names the field",
    async (_name, text) => {
      for (const field of attackedFields) {
        if (!JSON.stringify(callWithText(field, "canary").variables).includes("canary")) continue;
        const answer = await callField(field, text);
        expect([field, answer.status, codesOf(answer)]).toEqual([field, 400, ["invalid_field"]]);
      }
    },
  );

  it.each(Object.values(controls))("a name is refused like a text: %j", async (name) => {
    const input = { metadata: { [name]: "x" } };
    const refused = {
      status: 400,
      error: {
        code: "invalid_field",
        details: [{ field: "/variables/input/metadata", code: "control_character" }],
      },
    };
    expect(
      await tryEndpoint(world(), { installationId: await installationOf(world()), input }),
    ).toMatchObject(refused);
    const { endpoint: endpointId } = world().demo.webhooks;
    expect(await changeEndpoint(world(), "webhookEndpointUpdate", { endpointId, input })).toMatchObject(
      refused,
    );
  });

  it("no such text reaches the log, and all tables exist", async () => {
    expect(JSON.stringify(world().logged)).not.toContain("canary");
    expect(Object.keys(await digestTables(world()))).toContain("product");
  });
});

describe("a code-like text in every text input of the REST API", () => {
  const withText = (value: unknown, text: string): unknown => {
    if (typeof value === "string") return text;
    if (Array.isArray(value)) return value.map((item) => withText(item, text));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withText(item, text)]));
  };

  it.each(Object.keys(validCalls))("%s treats it as text, or refuses it", async (operationId) => {
    const operation = contract.operations.find((candidate) => candidate.operationId === operationId);
    const parts = await validCalls[operationId]?.make(world());
    if (operation === undefined || parts === undefined) throw new Error(`There is no ${operationId}.`);
    for (const text of [...Object.values(texts), ...Object.values(controls)]) {
      const path = Object.fromEntries(
        Object.keys(parts.path ?? {}).map((name) => [name, encodeURIComponent(text.toWellFormed())]),
      );
      const query = parts.query?.replaceAll(/=[^&]*/g, () => `=${encodeURIComponent(text.toWellFormed())}`);
      const attacked = [
        { ...parts, path },
        ...(query === undefined ? [] : [{ ...parts, query }]),
        ...(parts.body === undefined ? [] : [{ ...parts, body: withText(parts.body, text) }]),
      ];
      for (const call of attacked) await expectText(operationId, requestOf(operation, call));
    }
  });

  async function expectText(operationId: string, asked: ReturnType<typeof requestOf>): Promise<void> {
    const headers = { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": randomUUID() };
    const answer =
      validCalls[operationId]?.needs === "token"
        ? await client.send(asked)
        : await world().send({ ...asked, headers });
    expect([asked.url, answer.status < 500]).toEqual([asked.url, true]);
    expect(contract.faultsOf(operationId, answer.status, answer.body)).toEqual([]);
    expect(answer.headers["set-cookie"]).toBeUndefined();
  }
});

describe("a stored code-like text", () => {
  it("is returned as it was written", async () => {
    const { data } = await askGraph(
      world(),
      "mutation ($input: AppCreateInput!) { appCreate(input: $input) { name } }",
      { input: { name: code } },
      { token: "operator" },
    );
    expect(data).toEqual({ name: code });
    const { id } = await makeEndpoint(world(), { metadata: { note: code } });
    const { text, body } = await world().graphql(
      "query ($id: ID!) { webhookEndpoint(id: $id) { metadata } }",
      { variables: { id } },
    );
    expect(Object.values(body.data.webhookEndpoint.metadata)).toEqual([code]);
    expect(JSON.parse(text)).toEqual(body);
  });

  it("is escaped on the checkout page", async () => {
    const { url, cartId } = await makePayableSession(world());
    const address = { recipientName: html, line1: html, postalCode: "10115", city: html, countryCode: "DE" };
    const { error } = await changeCart(world(), "cartAddressSet", { cartId, input: { address } });
    const buyer = buyerOf(world(), url);
    const shown = await buyer.open();
    const refused = await buyer.send({
      action: "address",
      countryCode: "DE",
      recipientName: html,
      line1: html,
      city: html,
      postalCode: html,
      email: html,
    });
    expect(error?.code).toBe("address_invalid");
    for (const { text } of [shown, refused]) expect(text).not.toMatch(/<img src=x|<script>/);
    expect(refused.text).toContain("&lt;img src=x onerror=alert(1)&gt;");
  });

  it("is escaped on all other pages", async () => {
    const encoded = encodeURIComponent(html);
    const urls = [
      `/docs/${encoded}`,
      `/console?next=${encoded}`,
      `/console/${encoded}`,
      `/oauth/authorize?client_id=${encoded}&redirect_uri=${encoded}&scope=${encoded}`,
      `/checkout/${encoded}`,
      `/graphql?query=${encoded}`,
    ];
    for (const url of urls) {
      const { text, status } = await world().get(url, { accept: "text/html" });
      expect([url, status < 500, /<img|<script>/.test(text)]).toEqual([url, true, false]);
    }
  });

  it("is a JSON string in an event's body", async () => {
    await makeEndpoint(world(), { eventTypes: ["*"] });
    const translation = {
      locale: "en",
      slug: "canary",
      title: html,
      summary: code,
      description: texts["headers, paths and formats"],
    };
    const { data } = await askGraph(
      world(),
      "mutation ($input: ProductCreateInput!) { productCreate(input: $input) { id } }",
      { input: { translations: [translation] } },
      { token: "admin" },
    );
    const { db } = world().database;
    const { snapshot } = await db
      .selectFrom("event")
      .where("subjectId", "=", data.id)
      .select("snapshot")
      .executeTakeFirstOrThrow();
    expect(JSON.parse(snapshot).data.object.translations).toMatchObject([translation]);
    expect(snapshot).not.toMatch(/[\r\n]/);
  });
});
