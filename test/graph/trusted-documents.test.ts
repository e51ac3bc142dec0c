/** Trusted documents: registering, running by hash, removing, and tokens that may run nothing else. */
import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { createCachedTrustedDocumentFinder, trustedDocumentLimits } from "#access/trusted-documents.ts";
import { runInTransaction } from "#database/transaction.ts";
import type { InProcessEventMap } from "#foundation/events.ts";
import { statementsAndAnswerOf, useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

const world = useWorld();
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

const roleQuery = "query Role { viewer { role } }";
const productQuery =
  "query Tent($slug: String!) { publicProduct(merchantSlug: $slug, productSlug: $slug) { id } }";
const cartMutation = "mutation NewCart($input: CartCreateInput!) { cartCreate(input: $input) { id } }";

const expensiveField = (_: unknown, index: number): string =>
  `list${index}: products(first: 100) { edges { node { variants { id sku prices { amount { currency } } } } } }`;

interface GivenDocument {
  readonly id?: string;
  readonly document: string;
}

const register = (documents: readonly GivenDocument[], token = "admin"): Promise<Answer> =>
  world().graphql(
    `mutation ($input: TrustedDocumentsRegisterInput!) { trustedDocumentsRegister(input: $input) {
      added documents { id sha256 name operation document lastUsedAt } } }`,
    { variables: { input: { documents } }, token },
  );

async function registerOne(document: string): Promise<{ id: string; sha256: string }> {
  const { body } = await register([{ document }]);
  return body.data.trustedDocumentsRegister.documents[0];
}

const remove = (id: string): Promise<Answer> =>
  world().graphql("mutation ($id: ID!) { trustedDocumentRemove(input: { trustedDocumentId: $id }) { id } }", {
    variables: { id },
  });

interface Request {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly token?: string;
}

/** Sends a POST request with a body, or a GET request with a query string. */
function send({ body, query = {}, token = world().demo.tokens.storefront }: Request): Promise<Answer> {
  const text = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const headers = { authorization: `Bearer ${token}` };
  return body === undefined
    ? world().send({ method: "GET", url: `/graphql?${new URLSearchParams(text).toString()}`, headers })
    : world().send({ method: "POST", url: "/graphql", headers, body });
}

const errorOf = ({ status, body }: Answer): unknown => {
  const { code, details } = body.errors[0].extensions;
  return { status, code, rule: details?.[0]?.code ?? null };
};
const apollo = (hash: string): object => ({ persistedQuery: { version: 1, sha256Hash: hash } });
const role = { data: { viewer: { role: "storefront" } } };

describe("registering trusted documents", () => {
  it("stores each document with its hash, name and kind of operation", async () => {
    const { body } = await register([
      { document: roleQuery },
      { id: hashOf(cartMutation), document: cartMutation },
    ]);
    expect(body.data.trustedDocumentsRegister).toMatchObject({
      added: 2,
      documents: [
        {
          sha256: hashOf(roleQuery),
          name: "Role",
          operation: "QUERY",
          document: roleQuery,
          lastUsedAt: null,
        },
        { sha256: hashOf(cartMutation), name: "NewCart", operation: "MUTATION" },
      ],
    });
  });

  it("changes nothing if it is repeated, also with the same document twice", async () => {
    const first = await register([{ document: productQuery }, { document: productQuery }]);
    expect(first.body.data.trustedDocumentsRegister.added).toBe(1);
    const again = await register([{ document: productQuery }]);
    expect(again.body.data.trustedDocumentsRegister).toMatchObject({
      added: 0,
      documents: [{ id: first.body.data.trustedDocumentsRegister.documents[0].id }],
    });
  });

  it("refuses all documents if one has a fault, and names the document, line and column", async () => {
    const before = await listed();
    const { body } = await register([
      { document: "query Fine { viewer { role } }" },
      { document: "query Wrong {\n  viewer { rolle }\n}" },
      { document: "query Broken {" },
    ]);
    const { code, details } = body.errors[0].extensions;
    expect(code).toBe("invalid_field");
    expect(details).toMatchObject([
      { field: "/documents/1/document", code: "invalid_document" },
      { field: "/documents/2/document", code: "invalid_document" },
    ]);
    expect(details[0].message).toMatch(
      /^The document 2 \(Wrong\), line 2, column 12: Cannot query field "rolle"/,
    );
    expect(details[1].message).toMatch(/^The document 3 \(Broken\), line 1, column 15: Syntax Error/);
    expect(await listed()).toEqual(before);
  });

  it.each<readonly [name: string, document: () => GivenDocument, rule: string, message: RegExp]>([
    ["a wrong hash", () => ({ id: "0".repeat(64), document: roleQuery }), "hash_mismatch", /another value/],
    [
      "a document of more than 16 384 characters",
      () => ({ document: `query Long { viewer { role } } #${"x".repeat(trustedDocumentLimits.lengthMax)}` }),
      "too_long",
      /at most 16384/,
    ],
    [
      "a document deeper than the limit",
      () => ({
        document: `query Deep { __schema ${"{ types { fields { type ".repeat(6)}{ name }${" } } }".repeat(6)} }`,
      }),
      "invalid_document",
      /./,
    ],
    [
      "a document that costs too much",
      () => ({ document: `query Dear { ${Array.from({ length: 30 }, expensiveField).join(" ")} }` }),
      "invalid_document",
      /points; the limit is 20000/,
    ],
    ["a document without a name", () => ({ document: "{ viewer { role } }" }), "invalid_document", /name/],
    [
      "a document with two operations",
      () => ({ document: `${roleQuery} query Other { viewer { role } }` }),
      "invalid_document",
      /exactly one operation/,
    ],
  ])("refuses %s", async (_name, document, rule, message) => {
    const { details } = (await register([document()])).body.errors[0].extensions;
    expect(details[0].code).toBe(rule);
    expect(details[0].message).toMatch(message);
  });

  it("refuses an empty list and more than 200 documents", async () => {
    const many = Array.from({ length: 201 }, () => ({ document: roleQuery }));
    for (const documents of [[], many]) {
      const { details } = (await register(documents)).body.errors[0].extensions;
      expect(details).toMatchObject([{ field: "/documents", code: "out_of_range" }]);
    }
  });
});

async function listed(): Promise<unknown> {
  const { body } = await world().graphql("{ trustedDocuments { edges { node { sha256 } } } }");
  return body.data.trustedDocuments.edges;
}

describe("running a trusted document", () => {
  it("accepts documentId and with Apollo's extension, by POST and by GET", async () => {
    const { sha256 } = await registerOne(roleQuery);
    for (const named of [{ documentId: `sha256:${sha256}` }, { extensions: apollo(sha256) }]) {
      expect((await send({ body: named })).body).toMatchObject(role);
      expect((await send({ query: named })).body).toMatchObject(role);
    }
  });

  it("takes variables from the body and from the query string", async () => {
    const { sha256 } = await registerOne(productQuery);
    const named = { documentId: `sha256:${sha256}`, variables: { slug: "none" } };
    // Without its variable, the document would be refused as malformed_request.
    for (const answer of [await send({ body: named }), await send({ query: named })])
      expect(errorOf(answer)).toMatchObject({ code: "merchant_not_found" });
  });

  it("answers trusted_document_not_found for an unknown hash, another merchant and the platform", async () => {
    const { sha256 } = await registerOne(roleQuery);
    const unknown = { status: 404, code: "trusted_document_not_found", rule: null };
    expect(errorOf(await send({ body: { extensions: apollo("0".repeat(64)) } }))).toEqual(unknown);
    const { body } = await world().graphql(
      `mutation ($id: ID!) { internalTokenCreate(input: { name: "x", role: STOREFRONT, merchantId: $id }) { value } }`,
      { variables: { id: world().demo.merchants.second.id }, token: "operator" },
    );
    for (const token of [body.data.internalTokenCreate.value, world().demo.tokens.operator])
      expect(errorOf(await send({ body: { documentId: `sha256:${sha256}` }, token }))).toEqual(unknown);
  });

  it("refuses a text that does not have the hash, and runs a text that has it", async () => {
    const { sha256 } = await registerOne(roleQuery);
    const tampered = { query: "query Role { viewer { kind: role } }", documentId: `sha256:${sha256}` };
    expect(errorOf(await send({ body: tampered }))).toEqual({
      status: 400,
      code: "malformed_request",
      rule: "hash_mismatch",
    });
    expect((await send({ body: { ...tampered, query: roleQuery } })).body).toMatchObject(role);
  });

  it.each([
    ["documentId without sha256:", { documentId: "0".repeat(64) }, "pattern_mismatch"],
    ["documentId in upper case", { documentId: `sha256:${"A".repeat(64)}` }, "pattern_mismatch"],
    ["documentId that is a number", { documentId: 7 }, "pattern_mismatch"],
    ["a malformed sha256Hash", { extensions: apollo("x") }, "pattern_mismatch"],
    [
      "two different hashes",
      { documentId: `sha256:${"0".repeat(64)}`, extensions: apollo("1".repeat(64)) },
      "hash_mismatch",
    ],
  ])("refuses %s", async (_name, body, rule) => {
    expect(errorOf(await send({ body }))).toEqual({ status: 400, code: "malformed_request", rule });
  });

  it("refuses mutations and free text by GET", async () => {
    const { sha256 } = await registerOne(cartMutation);
    const named = { documentId: `sha256:${sha256}` };
    const refused = await send({ query: named });
    expect(errorOf(refused)).toEqual({ status: 405, code: "method_not_allowed", rule: null });
    expect((await send({ body: named })).body.errors[0].message).toContain("input");
    expect(errorOf(await send({ query: { ...named, query: "{ viewer { role } }" } }))).toEqual({
      status: 400,
      code: "malformed_request",
      rule: "not_allowed",
    });
    expect((await send({ query: { query: roleQuery } })).status).toBe(405);
  });

  it("keeps the limits of the caller's role", async () => {
    const { sha256 } = await registerOne("query Keys { apiKeys(first: 1) { edges { node { id } } } }");
    expect(errorOf(await send({ body: { documentId: `sha256:${sha256}` } }))).toMatchObject({
      status: 403,
      code: "role_not_allowed",
    });
  });

  it("records the last use of the document", async () => {
    const { id, sha256 } = await registerOne("query Again { viewer { role } }");
    await send({ body: { documentId: `sha256:${sha256}` } });
    await expect.poll(async () => (await rowOf(id))?.lastUsedAt).toEqual(world().clock.now());
  });
});

const rowOf = (id: string): Promise<{ lastUsedAt: Date | null } | undefined> =>
  world()
    .database.db.selectFrom("trustedDocument")
    .select("lastUsedAt")
    .where("id", "=", id)
    .executeTakeFirst();

describe("removing a trusted document", () => {
  it("refuses the next request with its hash, and registering it again allows the next one", async () => {
    const { id, sha256 } = await registerOne("query Gone { viewer { role } }");
    const named = { documentId: `sha256:${sha256}` };
    expect((await send({ body: named })).body).toMatchObject(role);
    expect((await remove(id)).body.data.trustedDocumentRemove.id).toBe(id);
    expect(errorOf(await send({ body: named }))).toMatchObject({ code: "trusted_document_not_found" });
    await registerOne("query Gone { viewer { role } }");
    expect((await send({ body: named })).body).toMatchObject(role);
    expect((await remove(id)).body.errors[0].extensions.code).toBe("resource_not_found");
  });

  it("takes effect in another process when its notice arrives", async () => {
    const { id, sha256 } = await registerOne("query Elsewhere { viewer { role } }");
    const merchantId = world().demo.merchants.first.id;
    const events = new EventEmitter<InProcessEventMap>();
    const { db } = world().database;
    const other = createCachedTrustedDocumentFinder({
      db,
      clock: world().clock,
      events,
      isCurrent: () => true,
    });
    other.close();
    expect((await other.find(merchantId, sha256))?.id).toBe(id);
    await runInTransaction(db, (transaction) =>
      transaction.deleteFrom("trustedDocument").where("id", "=", id).execute(),
    );
    // The document is cached, so the other process finds it without a statement until the notice arrives.
    const [statements, found] = await statementsAndAnswerOf(world(), () => other.find(merchantId, sha256));
    expect([statements, found?.id]).toEqual([[], id]);
    events.emit("noticeReceived", "trusted_documents");
    expect(await other.find(merchantId, sha256)).toBeUndefined();
    await remove((await registerOne("query Notice { viewer { role } }")).id);
    expect(world().statements.some((text) => text.includes("pg_notify"))).toBe(true);
  });
});

describe("a token with the documents TRUSTED_ONLY", () => {
  const create = (input: string): Promise<Answer> =>
    world().graphql(
      `mutation { internalTokenCreate(input: { name: "shop", documents: TRUSTED_ONLY, ${input} }) {
        value internalToken { documents } } }`,
      { token: "operator" },
    );

  it("runs trusted documents, and refuses text, text with a hash, and requests without both", async () => {
    const { sha256 } = await registerOne(roleQuery);
    const made = await create(`role: STOREFRONT, merchantId: "${world().demo.merchants.first.id}"`);
    const { value: token, internalToken } = made.body.data.internalTokenCreate;
    expect(internalToken).toEqual({ documents: "TRUSTED_ONLY" });
    const named = { documentId: `sha256:${sha256}` };
    expect((await send({ body: named, token })).body).toMatchObject(role);
    for (const body of [{ query: roleQuery }, { ...named, query: roleQuery }]) {
      const refused = await send({ body, token });
      expect(errorOf(refused)).toEqual({ status: 403, code: "trusted_document_required", rule: null });
      expect(refused.body.errors[0].message).toContain('send "documentId"');
    }
  });

  it("may not send a request without a document", async () => {
    const made = await create(`role: ADMIN, merchantId: "${world().demo.merchants.first.id}"`);
    const token = made.body.data.internalTokenCreate.value;
    for (const body of [{ variables: {} }, {}])
      expect(errorOf(await send({ body, token }))).toEqual({
        status: 403,
        code: "trusted_document_required",
        rule: null,
      });
  });

  it("needs a merchant", async () => {
    const { errors } = (await create("role: ANALYST")).body;
    expect(errors[0].extensions).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/documents", code: "not_allowed" }],
    });
  });
});
