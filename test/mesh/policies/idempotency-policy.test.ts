/** The plugin `idempotency.ts` runs a mutation only once for each idempotency key. */
import { createHash } from "node:crypto";
import { type DocumentNode, type ExecutionResult, GraphQLError, parse } from "graphql";
import { describe, expect, it, vi } from "vitest";
import type { Viewer } from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";
import type { GraphqlContext, GraphqlContextOptions } from "#graph/context.ts";
import { markAsBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import idempotencyPlugin from "#mesh/plugins/idempotency.ts";
import { getFailureOfGraphqlError, toGraphqlError } from "#mesh/public-error.ts";
import {
  createApiKeyViewer,
  createInternalViewer,
  createSmallContext,
  createSmallSchema,
  createSmallServices,
  executeWithPlugins,
} from "./small-graph.ts";

type Prepare = (input: unknown, services: unknown) => Promise<unknown>;
type Open = (context: GraphqlContext, args: Readonly<Record<string, unknown>>) => unknown;

/** Creates a schema with work before the transaction, services, and a function that executes documents. */
function createShop(before: { readonly prepare?: Prepare; readonly open?: Open } = {}) {
  const schema = createSmallSchema();
  const field = schema.getMutationType()?.getFields()["change"];
  if (field !== undefined) field.extensions = { change: { ...before, failures: [] } as never };
  const small = createSmallServices();
  const contexts: GraphqlContext[] = [];
  let calls = 0;
  const run = (_args: unknown, context: GraphqlContext): object => {
    contexts.push(context);
    calls += 1;
    return { id: String(calls), name: () => failing.shift()?.() ?? "done" };
  };
  const failing: (() => never)[] = [];
  const execute = (
    document: DocumentNode | string,
    options: Partial<GraphqlContextOptions> & { readonly operationName?: string } = {},
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<ExecutionResult> =>
    executeWithPlugins([idempotencyPlugin()], {
      schema,
      document: typeof document === "string" ? parse(document) : document,
      context: createSmallContext(small.services, { viewer: createInternalViewer("admin"), ...options }),
      rootValue: { change: run, touch: run, echo: () => "echo" },
      variables,
      ...(options.operationName === undefined ? {} : { operationName: options.operationName }),
    }).catch((error: unknown) => ({ errors: [toGraphqlError(error)] }));
  return { ...small, execute, contexts, failing, countCalls: () => calls };
}

const codesOf = ({ errors = [] }: ExecutionResult): string[] =>
  errors.map((error) => getFailureOfGraphqlError(error).code);
const detailsOf = ({ errors = [] }: ExecutionResult): unknown =>
  errors.map((error) => getFailureOfGraphqlError(error).parts.details);

describe("a GraphQL mutation with the argument idempotencyKey", () => {
  const withKey = 'mutation { touch(idempotencyKey: "key-1") { id } }';

  it("runs once, in a transaction, and a repetition gets the first answer", async () => {
    const shop = createShop();
    const onOnce = vi.fn<(answer: object) => void>();
    const first = await shop.execute(withKey, { onOnce });
    const recorded = {
      status: 200,
      contentType: "application/json",
      body: '{"data":{"touch":{"id":"1"}}}',
    };
    expect(onOnce.mock.calls).toEqual([[{ recorded, isReplay: false }]]);
    expect(first).toEqual({ data: { touch: { id: "1" } } });
    expect(await shop.execute(withKey)).toEqual(first);
    expect(shop.countCalls()).toBe(1);
    expect(shop.contexts[0]?.db).toBe(shop.transaction);
    expect(shop.changes[0]).toMatchObject({ ownerId: "tok_1", merchantId: "mer_1", key: "key-1" });
  });

  it("runs each time without a key, and outside of a transaction", async () => {
    const shop = createShop();
    await shop.execute("mutation { touch { id } }");
    await shop.execute("mutation { touch(idempotencyKey: null) { id } }");
    await shop.execute('mutation { touch(note: "key-1") { id } }');
    await shop.execute("mutation ($key: String) { touch(idempotencyKey: $key) { id } }", {}, { key: null });
    expect([shop.countCalls(), shop.changes]).toEqual([4, []]);
    expect(shop.contexts[0]?.db).not.toBe(shop.transaction);
  });

  it.each<[name: string, text: string, variables: Record<string, unknown>]>([
    ["a variable", "mutation ($key: String) { touch(idempotencyKey: $key) { id } }", { key: "key-1" }],
    ["a default value", 'mutation ($key: String = "key-1") { touch(idempotencyKey: $key) { id } }', {}],
    ["a quoted text", 'mutation { touch(idempotencyKey: "\\"key-1\\"") { id } }', {}],
    ["an inline fragment", 'mutation { ... { touch(idempotencyKey: "key-1") { id } } }', {}],
    [
      "a fragment",
      "fragment B on Mutation { touch { id } } mutation { ...A } " +
        'fragment A on Mutation { touch(idempotencyKey: "key-1") { id } }',
      {},
    ],
    ["a field beside __typename", 'mutation { __typename touch(idempotencyKey: "key-1") { id } }', {}],
    [
      "a variable with a default value",
      'mutation ($key: String = "other") { touch(idempotencyKey: $key) { id } }',
      { key: "key-1" },
    ],
  ])("takes the key from %s", async (_name, text, variables) => {
    const shop = createShop();
    expect((await shop.execute(text, {}, variables)).errors).toBeUndefined();
    expect(shop.changes.map(({ key }) => key)).toEqual(["key-1"]);
  });

  it("has no key in a fragment that is missing, or in a default value that is no text", async () => {
    const shop = createShop();
    await shop.execute("mutation { ...A touch { id } }");
    await shop.execute("mutation ($key: String = null) { touch(idempotencyKey: $key) { id } }");
    expect(shop.changes).toEqual([]);
  });

  it("is refused if its key is malformed, or if it has several root fields", async () => {
    const shop = createShop();
    const malformed = await shop.execute('mutation { touch(idempotencyKey: "a b") { id } }');
    expect(codesOf(malformed)).toEqual(["idempotency_key_invalid"]);
    expect(detailsOf(malformed)).toEqual([
      [
        {
          in: "body",
          field: "/idempotencyKey",
          code: "pattern_mismatch",
          message:
            '"idempotencyKey" must have 1 to 255 printable ASCII characters, without space, ", \\, comma and semicolon.',
        },
      ],
    ]);
    const several = await shop.execute(
      'mutation { first: touch { id } second: touch(idempotencyKey: "key-1") { id } }',
    );
    expect(codesOf(several)).toEqual(["idempotency_key_invalid"]);
    expect(detailsOf(several)).toMatchObject([
      [
        {
          code: "single_field",
          message: '"idempotencyKey" is allowed only in a document with exactly one root field.',
        },
      ],
    ]);
    expect([shop.countCalls(), shop.changes]).toEqual([0, []]);
  });

  it.each<[viewer: Viewer, refused: boolean]>([
    [createApiKeyViewer("catalog:read"), true],
    [{ kind: "buyer", merchantId: "mer_1", sessionId: "ses_1", cartId: "cart_1" }, true],
    [{ kind: "anonymous" }, true],
    [createInternalViewer("storefront"), false],
  ])("accepts keys only of internal tokens: %o", async (viewer, refused) => {
    const shop = createShop();
    expect(codesOf(await shop.execute(withKey, { viewer }))).toEqual(refused ? ["role_not_allowed"] : []);
    expect(shop.countCalls()).toBe(refused ? 0 : 1);
  });

  it("is rolled back if its result has errors, and runs again with the same key", async () => {
    const shop = createShop();
    const cause = createFailure("cart_not_found");
    shop.failing.push(() => {
      throw cause;
    });
    const text = 'mutation { touch(idempotencyKey: "key-1") { name } }';
    const refused = await shop.execute(text);
    expect(refused.data).toEqual({ touch: { name: null } });
    expect(codesOf(refused)).toEqual(["cart_not_found"]);
    expect(await shop.execute(text)).toEqual({ data: { touch: { name: "done" } } });
  });

  it("gives the database layer the resolver's error, so that conflicts are tried again", async () => {
    const shop = createShop();
    const cause = createFailure("cart_not_found");
    shop.failing.push(() => {
      throw cause;
    });
    const thrown: unknown[] = [];
    const doOnce = vi.fn<
      (claim: unknown, work: (transaction: never) => Promise<unknown>) => Promise<unknown>
    >(async (_claim, work) =>
      work({} as never).catch((error: unknown) => {
        thrown.push(error);
        throw error;
      }),
    );
    const schema = createSmallSchema();
    await executeWithPlugins([idempotencyPlugin()], {
      schema,
      document: parse('mutation { touch(idempotencyKey: "key-1") { name } }'),
      context: createSmallContext(
        { ...shop.services, doOnce: doOnce as never },
        {
          viewer: createInternalViewer("admin"),
        },
      ),
      rootValue: { touch: { name: () => shop.failing.shift()?.() } },
    });
    expect(thrown).toMatchObject([
      { cause, message: "The transaction is rolled back, because the document's result has errors." },
    ]);
  });

  it("answers a failure of the idempotency record with data null, and throws other errors", async () => {
    const shop = createShop();
    await shop.execute(withKey);
    const reused = await shop.execute('mutation { touch(idempotencyKey: "key-1") { name } }');
    expect([reused.data, codesOf(reused)]).toEqual([null, ["idempotency_key_reused"]]);
    expect(reused.errors?.[0]).toBeInstanceOf(GraphQLError);
    const broken = createShop();
    await expect(
      executeWithPlugins([idempotencyPlugin()], {
        schema: createSmallSchema(),
        document: parse(withKey),
        context: createSmallContext(
          { ...broken.services, doOnce: () => Promise.reject(new Error("The database is down.")) },
          { viewer: createInternalViewer("admin") },
        ),
      }),
    ).rejects.toThrow("The database is down.");
  });

  it("does not concern queries, nor executions without a caller", async () => {
    const shop = createShop();
    expect(await shop.execute("{ echo }")).toEqual({ data: { echo: "echo" } });
    const both = 'query Read { echo } mutation Write { touch(idempotencyKey: "key-1") { id } }';
    expect(await shop.execute(both, { operationName: "Read" })).toEqual({ data: { echo: "echo" } });
    expect(shop.changes).toEqual([]);
    await shop.execute(both, { operationName: "Write" });
    expect(shop.changes).toHaveLength(1);
    const document = parse(withKey);
    const result = await executeWithPlugins([idempotencyPlugin()], {
      schema: createSmallSchema(),
      document,
      context: {} as never,
    });
    expect(result).toEqual({ data: { touch: null } });
  });
});

describe("the fingerprint of a GraphQL mutation", () => {
  const fingerprintOf = async (
    text: string,
    variables: Record<string, unknown> = {},
    options: Partial<GraphqlContextOptions> & { readonly operationName?: string } = {},
  ): Promise<string> => {
    const shop = createShop();
    await shop.execute(text, options, variables);
    return Buffer.from(shop.changes[0]?.fingerprint ?? []).toString("hex");
  };
  const named = (name: string, value = "id"): string =>
    `mutation ${name}($a: String, $b: String) { touch(idempotencyKey: "k") { ${value} } }`;

  it("is the SHA-256 of the printed operation, its name, its variables and the buyer reference", async () => {
    const content =
      String.raw`{"buyerReference":"buyer-1","document":"mutation One($a: String, $b: String) {\n  ` +
      String.raw`touch(idempotencyKey: \"k\") {\n    id\n  }\n}","operationName":"One","variables":{"a":"x"}}`;
    expect(await fingerprintOf(named("One"), { a: "x", c: "y" }, { buyerReference: "buyer-1" })).toBe(
      createHash("sha256").update(content).digest("hex"),
    );
  });

  it("depends on the operation, its name, its variables and the buyer, and on no other operation", async () => {
    const first = await fingerprintOf(named("One"), { a: "x" });
    const same = await fingerprintOf(
      `${named("One")} ${named("Two", "name")}`,
      { a: "x", c: "other" },
      {
        operationName: "One",
      },
    );
    expect(same).toBe(first);
    const others = await Promise.all([
      fingerprintOf(named("One", "name"), { a: "x" }),
      fingerprintOf(named("Two"), { a: "x" }),
      fingerprintOf(named("One"), { a: "y" }),
      fingerprintOf(named("One"), { b: "x" }),
      fingerprintOf(named("One"), { a: null }),
      fingerprintOf(named("One")),
      fingerprintOf(named("One"), { a: "x" }, { buyerReference: "buyer-1" }),
      fingerprintOf(named("").replace("mutation ", "mutation"), { a: "x" }),
    ]);
    expect(new Set([first, ...others]).size).toBe(others.length + 1);
  });
});

describe("work before the transaction of a mutation", () => {
  const text = 'mutation ($name: String!) { change(idempotencyKey: "key-1", input: { name: $name }) { id } }';
  const lockAndRead = { sql: "select 1" };

  it("runs with the coerced input, and the resolver and the transaction get its results", async () => {
    const prepare = vi.fn<Prepare>(async () => "resolved");
    const open = vi.fn<Open>(() => lockAndRead);
    const shop = createShop({ prepare, open });
    await shop.execute(text, {}, { name: "shop" });
    expect(prepare.mock.calls).toEqual([[{ name: "shop" }, shop.services]]);
    expect(open.mock.calls.map(([, args]) => args)).toEqual([
      { idempotencyKey: "key-1", input: { name: "shop" } },
    ]);
    expect(shop.contexts[0]?.prepared).toBe("resolved");
    expect(shop.changes[0]?.lockAndRead).toBe(lockAndRead);
  });

  it.each<[viewer: Viewer, prepares: boolean]>([
    [createInternalViewer("admin"), true],
    [createInternalViewer("operator"), true],
    [createInternalViewer("storefront"), false],
    [createInternalViewer("analyst"), false],
  ])("runs only for callers who may run the mutation: %o", async (viewer, prepares) => {
    const prepare = vi.fn<Prepare>(async () => "resolved");
    const shop = createShop({ prepare });
    await shop.execute(text, { viewer }, { name: "shop" });
    expect([prepare.mock.calls.length, shop.contexts[0]?.prepared]).toEqual(
      prepares ? [1, "resolved"] : [0, undefined],
    );
  });

  it("does not run if the variables are invalid; the executor refuses them", async () => {
    const prepare = vi.fn<Prepare>(async () => "resolved");
    const shop = createShop({ prepare });
    const { data, errors = [] } = await shop.execute(text, {}, { name: 1 });
    expect(data).toBeUndefined();
    expect(errors[0]?.message).toContain('Variable "$name" got invalid value 1');
    expect(prepare).not.toHaveBeenCalled();
  });

  it("is found again for the same document, and for the operation that runs", async () => {
    const open = vi.fn<Open>(() => lockAndRead);
    const shop = createShop({ open });
    const document = parse(text);
    await shop.execute(document, {}, { name: "shop" });
    await shop.execute(document, {}, { name: "shop" });
    expect(open).toHaveBeenCalledTimes(2);
    const both = parse(
      'mutation One { touch(idempotencyKey: "one") { id } } ' +
        'mutation Two { change(idempotencyKey: "two", input: { name: "shop" }) { id } }',
    );
    await shop.execute(both, { operationName: "One" });
    expect(open).toHaveBeenCalledTimes(2);
    await shop.execute(both, { operationName: "Two" });
    expect(open).toHaveBeenCalledTimes(3);
  });
});

describe("a REST mutation", () => {
  const rest = '@rest(method: PUT, path: "/x", tag: "x", response: "X") @requires';
  const viewer = createApiKeyViewer("catalog:read");
  const operation = (directives: string): DocumentNode =>
    markAsBuiltInGraphqlDocument(
      parse(`mutation write ${rest} ${directives} { data: touch { id } }`),
      "write",
    );
  const claim = { ownerId: "ins_1", merchantId: "mer_1", key: "key-1", fingerprint: Buffer.from("1") };
  const record = (result: ExecutionResult) => ({
    status: 201,
    contentType: "text/plain",
    body: `stored ${JSON.stringify(result)}`,
  });

  it("with @idempotent is refused without a key, and does not run", async () => {
    const shop = createShop();
    expect(codesOf(await shop.execute(operation("@idempotent"), { viewer }))).toEqual([
      "idempotency_key_required",
    ]);
    expect(shop.countCalls()).toBe(0);
    expect(await shop.execute(operation(""), { viewer })).toEqual({ data: { data: { id: "1" } } });
  });

  it("runs once for the key in the context, which gets the stored answer", async () => {
    const shop = createShop();
    const onOnce = vi.fn<(answer: object) => void>();
    const once = { claim, record };
    const document = operation("@idempotent");
    const first = await shop.execute(document, { viewer, once, onOnce });
    expect(first).toEqual({ data: { data: { id: "1" } } });
    const repeated = await shop.execute(document, { viewer, once, onOnce });
    expect(repeated).toEqual({ data: null });
    const recorded = record({ data: { data: { id: "1" } } });
    expect(onOnce.mock.calls).toEqual([[{ recorded, isReplay: false }], [{ recorded, isReplay: true }]]);
    expect(shop.countCalls()).toBe(1);
  });

  it("is answered from the stored result if the request asks for it", async () => {
    const shop = createShop();
    const once = {
      claim,
      isAnsweredFromRecord: true,
      record: () => ({ status: 200, contentType: "application/json", body: '{"data":{"stored":1}}' }),
    };
    const document = operation("@idempotent");
    expect(await shop.execute(document, { viewer, once })).toEqual({ data: { stored: 1 } });
  });

  it("takes no key from an argument", async () => {
    const shop = createShop();
    const document = markAsBuiltInGraphqlDocument(
      parse('mutation write { touch(idempotencyKey: "key-1") { id } }'),
      "write",
    );
    await shop.execute(document, { viewer });
    expect([shop.countCalls(), shop.changes]).toEqual([1, []]);
  });

  it("prepares its transaction for apps, with the values of the contract schema", async () => {
    const prepare = vi.fn<Prepare>(async () => "resolved");
    const shop = createShop({ prepare });
    const document = markAsBuiltInGraphqlDocument(
      parse('mutation write { change(input: { name: "shop" }) { id } }'),
      "write",
    );
    await shop.execute(document, { viewer, once: { claim, record } });
    expect(prepare.mock.calls).toEqual([[{ name: "shop" }, shop.services]]);
  });
});
