/**
 * Which requests are answered without Yoga, and that a trusted document or a repeated text is prepared only
 * once.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { FastifyRequest } from "fastify";
import { type DocumentNode, parse } from "graphql";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { TrustedDocumentRow } from "#access/trusted-documents.ts";
import type { InternalTokenOrStaffViewer } from "#access/viewer.ts";
import { createLog } from "#foundation/log.ts";
import type { GraphqlContext } from "#graph/context.ts";
import graph from "#graph/schema.ts";
import { createIdempotentReplayRecorder, getRequestViewer, setRequestViewer } from "#graphql/authenticate.ts";
import {
  createGraphqlHandlerBypassingYoga,
  type GraphqlHandlerBypassingYogaServices,
  hasYogaRequestHooks,
} from "#graphql/direct-answers.ts";
import { createGraphqlCostCharger } from "#graphql/quotas.ts";
import { preparedFromRequest } from "#graphql/repeated-texts.ts";
import { createMemoryRateLimiter } from "#http/rate-limiter.ts";
import type { ParsedAndCompiledGraphqlDocument } from "#mesh/prepared-document.ts";

const sha256 = "a".repeat(64);
const documentId = `sha256:${sha256}`;
const row = { sha256, name: "Role", operation: "query", document: "query Role { x }" } as TrustedDocumentRow;
/** A compiled query. Its function is not called, because the tests replace `execute`. */
const compiled = { execute: () => ({ data: null }), size: 1 };
const ready: ParsedAndCompiledGraphqlDocument = {
  document: parse(row.document),
  name: "Role",
  operation: "query",
  measureCost: () => 1,
  query: undefined,
};

const find = vi.fn<GraphqlHandlerBypassingYogaServices["documents"]["find"]>();
const prepareDocument = vi.fn<GraphqlHandlerBypassingYogaServices["prepareDocument"]>();
const execute = vi.fn<GraphqlHandlerBypassingYogaServices["execute"]>();

beforeEach(() => {
  find.mockReset().mockResolvedValue(row);
  prepareDocument.mockReset().mockReturnValue(ready);
  execute.mockReset().mockResolvedValue({ data: { x: 1 } });
});

const createAnswers = (): ReturnType<typeof createGraphqlHandlerBypassingYoga> =>
  createGraphqlHandlerBypassingYoga({
    documents: { find },
    prepareDocument,
    execute,
    contextOf: () => ({}) as GraphqlContext,
    publicUrl: "http://shop.test",
    log: createLog("silent"),
    schema: graph,
  });

function requestOf(
  parts: Pick<Partial<FastifyRequest>, "body" | "method" | "url">,
  merchantId: string | null = "mer_1",
): FastifyRequest {
  const request = { method: "POST", url: "/graphql", ...parts } as FastifyRequest;
  setRequestViewer(request, { kind: "internal", role: "admin", merchantId } as InternalTokenOrStaffViewer);
  return request;
}

const encoded = (value: unknown): string => encodeURIComponent(JSON.stringify(value));

describe("plugins of .meshrc.yaml", () => {
  it("need Yoga for each request if they have hooks of requests or results", () => {
    const ignore = (): void => undefined;
    expect(hasYogaRequestHooks([{ onParse: ignore, onValidate: ignore }, { onSubscribe: ignore }])).toBe(
      false,
    );
    for (const hook of ["onRequest", "onParams", "onExecutionResult", "onResultProcess", "onResponse"])
      expect(hasYogaRequestHooks([{ onParse: ignore }, { [hook]: ignore }]), hook).toBe(true);
  });
});

describe("requests for trusted documents", () => {
  it("are executed with their variables, and prepare the document once", async () => {
    const answer = createAnswers();
    const variables = { id: "x" };
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256 } };
    const requests = [
      requestOf({ body: { documentId, variables } }),
      requestOf({ body: { extensions, variables, operationName: "Role" } }),
      requestOf({ method: "GET", url: `/graphql?documentId=${documentId}&variables=${encoded(variables)}` }),
      requestOf({
        method: "GET",
        url: `/graphql?extensions=${encoded(extensions)}&variables=${encoded(variables)}`,
      }),
    ];
    for (const request of requests) {
      expect(await answer(request)).toEqual({
        status: 200,
        headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
        body: '{"data":{"x":1}}',
      });
      expect(find).toHaveBeenLastCalledWith("mer_1", sha256);
      const [document, , options] = execute.mock.lastCall ?? [];
      expect<DocumentNode | undefined>(document).toBe(ready.document);
      expect(options).toEqual({ variables });
    }
    expect(prepareDocument.mock.calls).toEqual([[row.document]]);
  });

  it("use a prepared document for every merchant that has registered its text, and no other", async () => {
    const answer = createAnswers();
    await answer(requestOf({ body: { documentId } }, "mer_1"));
    await answer(requestOf({ body: { documentId } }, "mer_2"));
    expect(find.mock.calls).toEqual([
      ["mer_1", sha256],
      ["mer_2", sha256],
    ]);
    expect(prepareDocument).toHaveBeenCalledTimes(1);
    find.mockResolvedValue(undefined);
    expect(await answer(requestOf({ body: { documentId } }, "mer_3"))).toBeUndefined();
    expect(execute).toHaveBeenCalledTimes(2);
  });

  it.each<[string, Parameters<typeof requestOf>]>([
    ["of a token of the platform", [{ body: { documentId } }, null]],
    ["with a text", [{ body: { documentId, query: "{ x }" } }]],
    ["with a malformed hash", [{ body: { documentId: "sha256:x" } }]],
    ["without a hash", [{ body: { variables: {} } }]],
    ["with variables that are a list", [{ body: { documentId, variables: [] } }]],
    ["with extensions that are a text", [{ body: { documentId, extensions: "x" } }]],
    ["with an unknown parameter", [{ body: { documentId, more: 1 } }]],
    ["with the name of another operation", [{ body: { documentId, operationName: "Other" } }]],
    ["with an operation name that is no text", [{ body: { documentId, operationName: 1 } }]],
    ["in a list", [{ body: [{ documentId }] }]],
    [
      "with variables in the URL that are not JSON",
      [{ method: "GET", url: `/graphql?documentId=${documentId}&variables={` }],
    ],
  ])("are left to Yoga %s", async (_name, parts) => {
    expect(await createAnswers()(requestOf(...parts))).toBeUndefined();
    expect(execute).not.toHaveBeenCalled();
  });

  it("are left to Yoga for subscriptions, for changes by GET, and for texts that are no longer valid", async () => {
    const byGet = requestOf({ method: "GET", url: `/graphql?documentId=${documentId}` });
    find.mockResolvedValue({ ...row, operation: "mutation" });
    expect(await createAnswers()(byGet)).toBeUndefined();
    find.mockResolvedValue({ ...row, operation: "subscription" });
    expect(await createAnswers()(requestOf({ body: { documentId } }))).toBeUndefined();
    find.mockResolvedValue(row);
    prepareDocument.mockReturnValue(undefined);
    expect(await createAnswers()(requestOf({ body: { documentId } }))).toBeUndefined();
    expect(execute).not.toHaveBeenCalled();
  });
});

describe("queries that are sent as text", () => {
  const body = { query: row.document, variables: { id: "x" } };
  const preparable = { ...ready, query: compiled };

  it("are prepared with the fourth request, and from then on executed without Yoga", async () => {
    prepareDocument.mockReturnValue(preparable);
    const answer = createAnswers();
    for (let request = 1; request < preparedFromRequest; request += 1)
      expect(await answer(requestOf({ body })), String(request)).toBeUndefined();
    expect(prepareDocument).not.toHaveBeenCalled();
    for (const merchantId of ["mer_1", "mer_2", null])
      expect(await answer(requestOf({ body }, merchantId))).toMatchObject({
        status: 200,
        body: '{"data":{"x":1}}',
      });
    expect(prepareDocument.mock.calls).toEqual([[row.document]]);
    expect(execute.mock.lastCall?.[2]).toEqual({ variables: { id: "x" } });
    expect(find).not.toHaveBeenCalled();
  });

  it("are left to Yoga and not prepared again if they cannot be compiled", async () => {
    const answer = createAnswers();
    for (const prepared of [undefined, ready]) {
      prepareDocument.mockReturnValue(prepared);
      const query = `query Role { x } # ${prepared?.name}`;
      for (let request = 0; request < 3 * preparedFromRequest; request += 1)
        expect(await answer(requestOf({ body: { query } }))).toBeUndefined();
    }
    expect(prepareDocument).toHaveBeenCalledTimes(2);
    expect(execute).not.toHaveBeenCalled();
  });

  it("are counted from the start when the cache has dropped them", async () => {
    const large = { ...ready, query: { ...compiled, size: 5_000 } };
    prepareDocument.mockReturnValue(large);
    const answer = createAnswers();
    const send = async (query: string, times: number): Promise<unknown> => {
      let last: unknown;
      for (let request = 0; request < times; request += 1)
        last = await answer(requestOf({ body: { query } }));
      return last;
    };
    expect(await send("query Role { a }", preparedFromRequest)).toBeDefined();
    expect(await send("query Role { b }", preparedFromRequest)).toBeDefined();
    expect(await send("query Role { a }", preparedFromRequest - 1)).toBeUndefined();
    expect(await send("query Role { a }", 1)).toBeDefined();
    expect(prepareDocument).toHaveBeenCalledTimes(3);
  });

  it.each<[string, Parameters<typeof requestOf>, object?]>([
    ["of a buyer's browser", [{ body }], { role: "browser" }],
    ["of a token that can run only trusted documents", [{ body }], { documents: "trusted_only" }],
    ["with a hash", [{ body: { ...body, documentId } }]],
    ["with Apollo's hash", [{ body: { ...body, extensions: { persistedQuery: { sha256Hash: sha256 } } } }]],
    ["with an unknown parameter", [{ body: { ...body, more: 1 } }]],
    ["with the name of another operation", [{ body: { ...body, operationName: "Other" } }]],
    ["with a text that is no string", [{ body: { query: null } }]],
    ["by GET", [{ method: "GET", url: `/graphql?query=${encodeURIComponent(row.document)}&extensions={}` }]],
  ])("are left to Yoga %s", async (_name, parts, viewer = {}) => {
    prepareDocument.mockReturnValue(preparable);
    const answer = createAnswers();
    for (let request = 0; request < 2 * preparedFromRequest; request += 1) {
      const sent = requestOf(...parts);
      setRequestViewer(sent, { ...getRequestViewer(sent), ...viewer } as InternalTokenOrStaffViewer);
      expect(await answer(sent)).toBeUndefined();
    }
    expect(execute).not.toHaveBeenCalled();
  });
});

it("the functions of a GraphQL context do not keep the HTTP request in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const create = (): { request: WeakRef<FastifyRequest>; kept: unknown[] } => {
    const request = requestOf({ body: {} });
    const viewer = getRequestViewer(request) as InternalTokenOrStaffViewer;
    const limiter = createMemoryRateLimiter(0);
    return {
      request: new WeakRef(request),
      kept: [
        createIdempotentReplayRecorder(request),
        createGraphqlCostCharger({ address: "127.0.0.1", viewer, limiter }),
      ],
    };
  };
  const { request, kept } = create();
  // A weak reference keeps its target until the current turn of the event loop ends.
  await nextTurn();
  collectGarbage();
  expect(request.deref()).toBeUndefined();
  expect(kept).toHaveLength(2);
});
