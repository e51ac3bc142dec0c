/**
 * Answers requests for trusted documents without the server library GraphQL Yoga. Yoga would parse and
 * validate the document, which needs as much CPU time as reading a cart. All other requests, including faulty
 * ones, are answered by Yoga with equal headers and bodies.
 */
import type { FastifyRequest } from "fastify";
import type { TrustedDocumentFinder } from "#access/trusted-documents.ts";
import type { GraphqlContext } from "#graph/context.ts";
import type { OpenedMesh } from "#mesh/open-mesh.ts";
import type { PreparedGraphqlDocument } from "#mesh/prepared-document.ts";
import { getRequestViewer } from "./authenticate.ts";
import { createPreparedGraphqlDocumentCache } from "./document-caches.ts";
import type { GraphqlDocumentExecutionFunction } from "./execution.ts";
import { type FailureTranslationServices, type GraphqlHttpAnswer, toGraphqlHttpAnswer } from "./failures.ts";
import { documentIdParameter, readTrustedDocumentHash, readGraphqlUrlParams } from "./trusted-documents.ts";

export interface TrustedDocumentAnswerServices extends FailureTranslationServices {
  readonly prepareDocument: OpenedMesh["prepareDocument"];
  readonly documents: Pick<TrustedDocumentFinder, "find">;
  readonly execute: GraphqlDocumentExecutionFunction;
  readonly contextOf: (request: FastifyRequest) => GraphqlContext;
}

/**
 * The names of plugin hooks that do not need Yoga to answer requests for trusted documents. `onParse` and
 * `onValidate` run when a trusted document is prepared. The others belong to subscriptions and to `mesh dev`.
 */
const hooksOutsideOfRequests: ReadonlySet<string> = new Set([
  "onParse",
  "onValidate",
  "onSubscribe",
  "isOnlyForMeshDev",
]);

/**
 * Returns true if a plugin has a hook that Yoga calls for each request or result. Yoga must then also answer
 * the requests for trusted documents.
 */
export const hasYogaRequestHooks = (plugins: readonly object[]): boolean =>
  plugins.some((plugin) => Object.keys(plugin).some((hook) => !hooksOutsideOfRequests.has(hook)));

/** Returns the answer to a request for a trusted document; undefined if Yoga must answer the request. */
export type TrustedDocumentAnswerFunction = (
  request: FastifyRequest,
) => Promise<GraphqlHttpAnswer | undefined>;

export function createTrustedDocumentAnswerFunction(
  services: TrustedDocumentAnswerServices,
): TrustedDocumentAnswerFunction {
  const cache = createPreparedGraphqlDocumentCache();
  const { documents, prepareDocument, execute, contextOf } = services;
  const prepare = (sha256: string, text: string): PreparedGraphqlDocument | undefined => {
    const known = cache.get(sha256);
    if (known !== undefined) return known;
    const prepared = prepareDocument(text);
    if (prepared !== undefined) cache.set(sha256, prepared);
    return prepared;
  };
  return async (request) => {
    const merchantId = getRequestViewer(request)?.merchantId ?? null;
    const named = readNamedDocument(request);
    if (named === undefined || merchantId === null) return undefined;
    const row = await documents.find(merchantId, named.hash);
    if (row === undefined || row.operation === "subscription") return undefined;
    if (request.method === "GET" && row.operation !== "query") return undefined;
    const prepared = prepare(row.sha256, row.document);
    if (prepared === undefined || (named.operationName ?? row.name) !== prepared.name) return undefined;
    const result = await execute(prepared.document, contextOf(request), { variables: named.variables });
    return toGraphqlHttpAnswer(result, request, services);
  };
}

interface NamedDocument {
  readonly hash: string;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly operationName: string | undefined;
}

const parameters: ReadonlySet<string> = new Set([
  documentIdParameter,
  "extensions",
  "variables",
  "operationName",
]);

/**
 * Reads a GraphQL request that names a document by its hash and does not contain the document's text. Returns
 * undefined for every other request, for example for one with a malformed or unknown parameter.
 */
function readNamedDocument(request: FastifyRequest): NamedDocument | undefined {
  const params = request.method === "GET" ? readGraphqlUrlParams(request) : request.body;
  if (!isObject(params)) return undefined;
  const { variables, operationName, extensions } = params;
  const hash = readTrustedDocumentHash(params);
  if (hash === undefined || !Object.keys(params).every((name) => parameters.has(name))) return undefined;
  if (!isObjectOrMissing(variables) || !isObjectOrMissing(extensions)) return undefined;
  if (operationName !== undefined && operationName !== null && typeof operationName !== "string")
    return undefined;
  return { hash, variables: variables ?? undefined, operationName: operationName ?? undefined };
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isObjectOrMissing = (value: unknown): value is JsonObject | null | undefined =>
  value === undefined || value === null || isObject(value);
