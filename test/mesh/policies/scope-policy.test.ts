/** The plugin `scope.ts` executes a REST document only for callers with the credential and scope it requires. */
import { type DocumentNode, getOperationAST, type GraphQLError, parse } from "graphql";
import { describe, expect, it, vi } from "vitest";
import type { Viewer } from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  getRestDocumentSecurityAndIdempotency,
  readRequiredCredentialOfOperation,
  requireRateLimitBucketName,
} from "#mesh/operation-security.ts";
import scopePlugin from "#mesh/plugins/scope.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";
import {
  createApiKeyViewer,
  createInternalViewer,
  createOauthViewer,
  createSmallContext,
  createSmallSchema,
  createSmallServices,
  executeWithPlugins,
  smallPublicUrl,
} from "./small-graph.ts";

const schema = createSmallSchema();
const { services } = createSmallServices();

const restDocument = (security: string, name = "readItem"): DocumentNode =>
  parse(`query ${name} @rest(method: GET, path: "/x", tag: "x", response: "X") ${security} {
    data: item(id: "1") { id } }`);

interface Attempt {
  readonly document: DocumentNode;
  readonly viewer?: Viewer | undefined;
  readonly operationName?: string;
}

/** Executes a document and returns the codes of the errors and whether the resolver ran. */
async function attempt({ document, viewer, operationName }: Attempt) {
  const item = vi.fn<() => object>(() => ({ id: "1" }));
  const context = createSmallContext(services, {});
  const { data, errors = [] } = await executeWithPlugins([scopePlugin()], {
    schema,
    document,
    context: { ...context, viewer: viewer as Viewer },
    rootValue: { item },
    ...(operationName === undefined ? {} : { operationName }),
  });
  const failures = errors.map((error) => getFailureOfGraphqlError(error));
  return { data, failures, codes: failures.map(({ code }) => code), isExecuted: item.mock.calls.length > 0 };
}

const buyer: Viewer = { kind: "buyer", merchantId: "mer_1", sessionId: "ses_1", cartId: "cart_1" };
const system: Viewer = { kind: "system", merchantId: "mer_1" };
const anonymous: Viewer = { kind: "anonymous" };

const everyCaller = {
  anonymous,
  buyer,
  system,
  admin: createInternalViewer("admin"),
  "key without scopes": createApiKeyViewer(),
  "key with another scope": createApiKeyViewer("checkout:quote"),
  "key with the scope": createApiKeyViewer("catalog:read"),
  "token without scopes": createOauthViewer(),
  "token with another scope": createOauthViewer("checkout:quote"),
  "token with the scope": createOauthViewer("catalog:read"),
};

const refusals = {
  '@requires(scope: "catalog:read")': {
    anonymous: "credentials_missing",
    buyer: "credentials_missing",
    system: "credentials_missing",
    admin: "role_not_allowed",
    "key without scopes": "scope_missing",
    "key with another scope": "scope_missing",
    "token without scopes": "scope_missing",
    "token with another scope": "scope_missing",
  },
  "@requires": {
    anonymous: "credentials_missing",
    buyer: "credentials_missing",
    system: "credentials_missing",
    admin: "role_not_allowed",
  },
  "@oauth": {
    anonymous: "credentials_missing",
    buyer: "credentials_missing",
    system: "credentials_missing",
    admin: "role_not_allowed",
    "key without scopes": "oauth_token_invalid",
    "key with another scope": "oauth_token_invalid",
    "key with the scope": "oauth_token_invalid",
  },
  '@anonymous(bucket: "anon-search")': {},
} satisfies Record<string, Partial<Record<keyof typeof everyCaller, string>>>;

describe("a document with @rest", () => {
  for (const [security, refused] of Object.entries(refusals))
    it.each(Object.entries(everyCaller))(`with ${security} is decided for: %s`, async (name, viewer) => {
      const code = (refused as Partial<Record<string, string>>)[name];
      const { codes, isExecuted } = await attempt({ document: restDocument(security), viewer });
      expect([codes, isExecuted]).toEqual(code === undefined ? [[], true] : [[code], false]);
    });

  it("is refused without a caller, with the failure of the caller's credentials if there is one", async () => {
    const document = restDocument('@anonymous(bucket: "anon-search")');
    expect(await attempt({ document })).toMatchObject({ codes: ["credentials_missing"], isExecuted: false });
    const refusal = createFailure("api_key_revoked");
    const { errors = [] } = await executeWithPlugins([scopePlugin()], {
      schema,
      document,
      context: { refusal } as never,
    });
    expect(errors.map((error) => error.extensions["code"])).toEqual(["api_key_revoked"]);
    expect(errors[0]?.extensions).toMatchObject({ requestId: "", docUrl: expect.stringMatching(/^\//) });
  });

  it("names the missing scope in the error, the challenge and the body", async () => {
    const document = restDocument('@requires(scope: "catalog:read")');
    const [key] = (await attempt({ document, viewer: createApiKeyViewer() })).failures;
    const message = "The API key must have the scope catalog:read.";
    expect(key?.message).toBe(message);
    expect(key?.parts.details).toEqual([
      { in: "header", field: "Authorization", code: "scope_missing", message, allowed: ["catalog:read"] },
    ]);
    expect(key?.parts.headers).toEqual({
      "www-authenticate": `Bearer realm="${smallPublicUrl}", error="insufficient_scope", scope="catalog:read"`,
    });
    const [token] = (await attempt({ document, viewer: createOauthViewer() })).failures;
    expect(token?.message).toBe("The access token must have the scope catalog:read.");
    expect(token?.parts.headers?.["www-authenticate"]).toMatch(/^DPoP .*error="insufficient_scope"/);
  });

  it("explains refused API keys and internal tokens", async () => {
    const messages = async (security: string, viewer: Viewer): Promise<string[]> =>
      (await attempt({ document: restDocument(security), viewer })).failures.map(({ message }) => message);
    expect(await messages("@oauth", createApiKeyViewer())).toEqual([
      "This operation requires an OAuth access token.",
    ]);
    expect(await messages("@requires", createInternalViewer("admin"))).toEqual([
      "A document with @rest requires an API key. To use an internal token, send the document without its directives.",
    ]);
  });

  it.each([
    ["", "readItem must have exactly one of @anonymous, @requires and @oauth."],
    ["@requires @oauth", "readItem must have exactly one of @anonymous, @requires and @oauth."],
    ['@requires(scope: "all")', "readItem: the scope all does not exist."],
    ['@anonymous(bucket: "all")', "readItem: the rate limit all does not exist."],
  ])("is malformed with %o", async (security, message) => {
    const { failures, isExecuted } = await attempt({
      document: restDocument(security),
      viewer: createApiKeyViewer("catalog:read"),
    });
    expect(failures).toMatchObject([{ code: "malformed_request", message }]);
    expect(isExecuted).toBe(false);
  });

  it("is refused by the directives of the operation that runs", async () => {
    const document = parse(
      'query open { item(id: "1") { id } } query closed @rest(method: GET, path: "/x", tag: "x", ' +
        'response: "X") @requires(scope: "webhooks:read") { item(id: "1") { id } }',
    );
    const viewer = createApiKeyViewer("catalog:read");
    expect((await attempt({ document, viewer, operationName: "open" })).codes).toEqual([]);
    expect((await attempt({ document, viewer, operationName: "closed" })).codes).toEqual(["scope_missing"]);
    expect((await attempt({ document, viewer, operationName: "open" })).codes).toEqual([]);
  });

  it("is refused also if a later plugin answers without an execution", async () => {
    const stop = {
      onExecute: ({ setResultAndStopExecution }: { setResultAndStopExecution: (result: object) => void }) =>
        setResultAndStopExecution({ data: { data: "secret" } }),
    };
    const result = await executeWithPlugins([scopePlugin(), stop], {
      schema,
      document: restDocument("@requires"),
      context: createSmallContext(services, {}),
    });
    expect(result.data).toBeUndefined();
    expect(result.errors?.map(({ extensions }) => extensions["requestId"])).toEqual(["req_1"]);
  });

  it("is refused as a subscription", () => {
    const subscribe = (contextValue: object): readonly GraphQLError[] => {
      const setResultAndStopExecution = vi.fn<(result: { errors: readonly GraphQLError[] }) => void>();
      const document = parse("subscription { changed { id } }");
      void scopePlugin().onSubscribe?.({
        args: { schema, document, contextValue },
        setResultAndStopExecution,
      } as never);
      return setResultAndStopExecution.mock.calls[0]?.[0].errors ?? [];
    };
    expect(subscribe({ viewer: createInternalViewer("admin") })).toEqual([]);
    expect(subscribe({}).map(({ extensions }) => extensions["code"])).toEqual(["credentials_missing"]);
  });
});

describe("a document without @rest", () => {
  it("needs no credential, and may have the other directives", async () => {
    const document = parse('query ($no: Boolean = false) { item(id: "1") { id @skip(if: $no) } }');
    expect(await attempt({ document, viewer: anonymous })).toMatchObject({ codes: [], isExecuted: true });
    const requires = parse('query @requires(scope: "catalog:read") { item(id: "1") { id } }');
    expect((await attempt({ document: requires, viewer: anonymous })).codes).toEqual([]);
    expect(getRestDocumentSecurityAndIdempotency(schema, requires)).toBeNull();
  });
});

describe("the requirements of a document", () => {
  const requirementsOf = (text: string) => getRestDocumentSecurityAndIdempotency(schema, parse(text));
  const rest = '@rest(method: PUT, path: "/x", tag: "x", response: "X")';

  it("are read from the directives", () => {
    expect(requirementsOf(`mutation a ${rest} @requires(scope: "catalog:read") { touch { id } }`)).toEqual({
      security: { kind: "api_key", scope: "catalog:read", whileSuspended: false },
      isIdempotent: false,
    });
    expect(
      requirementsOf(`mutation a ${rest} @requires(whileSuspended: true) @idempotent { touch { id } }`),
    ).toEqual({
      security: { kind: "api_key", scope: null, whileSuspended: true },
      isIdempotent: true,
    });
    expect(requirementsOf(`query a ${rest} @oauth { echo }`)?.security).toEqual({
      kind: "oauth",
      scope: null,
      whileSuspended: false,
    });
    expect(requirementsOf(`query a ${rest} @anonymous(bucket: "anon-search") { echo }`)?.security).toEqual({
      kind: "anonymous",
      bucket: "anon-search",
    });
  });

  it("are read once for a document with one operation", () => {
    const document = restDocument("@requires");
    expect(getRestDocumentSecurityAndIdempotency(schema, document)).toBe(
      getRestDocumentSecurityAndIdempotency(schema, document),
    );
  });

  it("name an operation without a name, and a rate limit that is no text", () => {
    const definition = getOperationAST(parse("{ echo }"));
    expect(() => definition && readRequiredCredentialOfOperation(schema, definition)).toThrow(
      "An unnamed operation must have exactly one of @anonymous, @requires and @oauth.",
    );
    expect(() => requireRateLimitBucketName("readItem", 1)).toThrow(
      "readItem: the rate limit 1 does not exist.",
    );
    expect(requireRateLimitBucketName("readItem", "anon-search")).toBe("anon-search");
  });
});
