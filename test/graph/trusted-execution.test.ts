/**
 * A trusted document is answered as the same text is: with the same status, headers and body. The text is
 * executed by Yoga and the executor of Mesh, the trusted document mostly by a compiled query. A text that is
 * sent repeatedly is executed by a compiled query too.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { getOperationAST, parse } from "graphql";
import { describe, expect, it, vi } from "vitest";
import { hashGraphqlDocumentText } from "#access/trusted-documents.ts";
import { createId } from "#foundation/ids.ts";
import graph from "#graph/schema.ts";
import { toGraphqlHttpAnswer } from "#graphql/failures.ts";
import { preparedFromRequest } from "#graphql/repeated-texts.ts";
import { compileGraphqlDocument } from "#mesh/compiled-query.ts";
import { exampleGroups } from "#pages/graphiql/examples.ts";
import { manyRuns } from "#test/support/properties.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { generateQuery } from "./random-query.ts";
import { roleCalls } from "./role-calls.ts";

// Counts the answers without Yoga, and the queries that were compiled.
vi.mock("#graphql/failures.ts", { spy: true });
vi.mock("#mesh/compiled-query.ts", { spy: true });
const world = useWorld();

const countDirectAnswers = (): number => vi.mocked(toGraphqlHttpAnswer).mock.calls.length;
const countCompiled = (): number =>
  vi.mocked(compileGraphqlDocument).mock.results.filter(({ value }) => value !== undefined).length;

const tokens = ["storefront", "admin", "analyst"] as const;

interface Call {
  readonly text: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly token?: (typeof tokens)[number];
}

/** Stores a document without the checks of a registration. */
async function store(text: string): Promise<string> {
  const operation = getOperationAST(parse(text));
  const sha256 = hashGraphqlDocumentText(text);
  await world()
    .database.db.insertInto("trustedDocument")
    .values({
      id: createId("trustedDocument"),
      merchantId: world().demo.merchants.first.id,
      sha256,
      name: operation?.name?.value ?? "",
      operation: operation?.operation ?? "query",
      document: text,
      createdAt: world().clock.now(),
    })
    .onConflict((conflict) => conflict.columns(["merchantId", "sha256"]).doNothing())
    .execute();
  return `sha256:${sha256}`;
}

const send = (body: object, token: Call["token"] = "admin"): Promise<Answer> =>
  world().send({
    method: "POST",
    url: "/graphql",
    headers: { authorization: `Bearer ${world().demo.tokens[token]}` },
    body,
  });

/**
 * The parts of an answer that do not differ between two requests. The executor of Mesh adds fields and errors
 * in the order in which their promises end, so their order is not compared.
 */
const comparable = ({ status, headers, text }: Answer): object => {
  const { errors, ...body } = JSON.parse(text.replaceAll(/"requestId":"[^"]+"/g, '"requestId":""')) as {
    readonly errors?: readonly { readonly path?: unknown }[];
  };
  return {
    status,
    type: headers["content-type"],
    caching: headers["cache-control"],
    retryAfter: headers["retry-after"],
    replayed: headers["idempotent-replayed"],
    length: headers["content-length"],
    body,
    errors: errors?.toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other))),
  };
};

async function expectSameAnswer({ text, variables, token }: Call): Promise<Answer> {
  const documentId = await store(text);
  const asText = await send({ query: text, variables }, token);
  const asTrusted = await send({ documentId, variables }, token);
  expect(asText.text, text).not.toContain('"internal_error"');
  expect(comparable(asTrusted), text).toEqual(comparable(asText));
  return asTrusted;
}

/** The mutations whose call succeeds and gives its result a new id. */
const successes: ReadonlySet<string> = new Set(["appCreate", "buyerSessionCreate"]);
const isMutation = (field: string): boolean => field in (graph.getMutationType()?.getFields() ?? {});
const clientSources = JSON.parse(
  readFileSync(new URL("../../clients/graphql/src/generated/sources.json", import.meta.url), "utf8"),
) as { readonly documents: readonly string[] };

describe("a trusted document is answered as its text", () => {
  it.each(Object.entries(roleCalls).filter(([field]) => !successes.has(field)))(
    "for a call of %s",
    async (field, call) => {
      const text = `${isMutation(field) ? "mutation" : "query"} Call { ${call} }`;
      const before = countDirectAnswers();
      for (const token of tokens) await expectSameAnswer({ text, token });
      expect(countDirectAnswers()).toBe(before + 3);
    },
  );

  const examples = exampleGroups
    .flatMap(({ roles, examples: list }) =>
      list.map(({ title, query, variables }) => ({ title, roles, text: query, variables })),
    )
    .filter(({ text }) => !text.includes("mutation "));
  it.each(examples)("for the example $title of GraphiQL", async ({ roles, text, variables }) => {
    const values = JSON.parse(variables ?? "{}") as Record<string, unknown>;
    for (const token of tokens.filter((name) => roles.includes(name)))
      await expectSameAnswer({ text, token, variables: values });
  });

  it("for the documents of the GraphQL clients, with and without their variables", async () => {
    const { merchantSlug: merchant, productSlug: slug } = world().demo.products[0] ?? {};
    for (const text of clientSources.documents)
      for (const variables of [{ merchant, slug, q: "tent" }, {}, { merchant: 7, q: null, after: "x" }])
        await expectSameAnswer({ text, variables });
  });

  it("and a text that is sent again and again is answered as with its first request", async () => {
    const { merchantSlug: merchant, productSlug: slug } = world().demo.products[0] ?? {};
    const [answersBefore, compiledBefore] = [countDirectAnswers(), countCompiled()];
    for (const document of clientSources.documents.filter((text) => text.includes("query "))) {
      // The comment makes the text differ from those of other tests.
      const query = `${document}\n# again and again`;
      const answers: Answer[] = [];
      while (answers.length <= preparedFromRequest)
        answers.push(await send({ query, variables: { merchant, slug, q: "tent" } }));
      const [first, ...others] = answers.map(comparable);
      for (const answer of others) expect(answer, query).toEqual(first);
    }
    // The last two requests with each text are answered without Yoga.
    expect(countCompiled()).toBeGreaterThan(compiledBefore);
    expect(countDirectAnswers() - answersBefore).toBe(2 * (countCompiled() - compiledBefore));
  });

  it("for a change with an idempotency key, which is made once", async () => {
    const text = `mutation Create($key: String!, $input: CartCreateInput!) {
      cartCreate(idempotencyKey: $key, input: $input) { id version }
    }`;
    const variables = { key: "trusted-1", input: { market: "DE" } };
    const asText = await send({ query: text, variables });
    expect(asText.headers["idempotent-replayed"]).toBe("false");
    const asTrusted = await send({ documentId: await store(text), variables });
    expect(asTrusted.headers["idempotent-replayed"]).toBe("true");
    expect(asTrusted.body.data).toEqual(asText.body.data);
  });

  it("for directives with a variable that has a default value, at the root and below", async () => {
    const text = `query Directives($yes: Boolean! = true, $no: Boolean = false) {
      viewer @include(if: $yes) { role @include(if: $yes) ... @skip(if: $yes) { api { serverTime } } }
      skipped: viewer @include(if: $no) { role }
    }`;
    const { body } = await expectSameAnswer({ text, token: "admin" });
    expect(body.data).toEqual({ viewer: { role: "admin" } });
  });

  it("for generated queries, most of which are valid and compiled", async () => {
    const [answersBefore, compiledBefore] = [countDirectAnswers(), countCompiled()];
    const { numRuns } = manyRuns(300);
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (g) => {
        const { text, variables } = generateQuery(g, world().demo);
        const token = g(fc.constantFrom, ...tokens);
        await expectSameAnswer({ text, variables, token });
      }),
      { numRuns, endOnFailure: true },
    );
    expect(countDirectAnswers() - answersBefore).toBeGreaterThan(numRuns * 0.8);
    expect(countCompiled() - compiledBefore).toBeGreaterThan(numRuns * 0.4);
  });
});
