/**
 * Answers requests for trusted documents, and queries that are sent repeatedly, without GraphQL Yoga. Yoga
 * would parse and validate the document's text, and needs as much CPU time as reading a cart. Yoga answers
 * every request that this file does not answer, including each faulty one, with the same headers and body.
 */
import type { FastifyRequest } from "fastify";
import type { TrustedDocumentFinder } from "#access/trusted-documents.ts";
import type { InternalTokenOrStaffViewer } from "#access/viewer.ts";
import type { GraphqlContext } from "#graph/context.ts";
import type { OpenedMesh } from "#mesh/open-mesh.ts";
import type { ParsedAndCompiledGraphqlDocument } from "#mesh/prepared-document.ts";
import { getRequestViewer } from "./authenticate.ts";
import { isBrowserCaller } from "./browser-callers.ts";
import { createCompiledGraphqlDocumentCache } from "./document-caches.ts";
import type { GraphqlDocumentExecutionFunction } from "./execution.ts";
import {
  type FailureToGraphqlErrorServices,
  type GraphqlHttpAnswer,
  toGraphqlHttpAnswer,
} from "./failures.ts";
import { createFrequentDocumentParserAndCompiler } from "./repeated-texts.ts";
import {
  documentIdParameter,
  isLimitedToTrustedDocuments,
  readTrustedDocumentHash,
  readGraphqlUrlParams,
} from "./trusted-documents.ts";

export interface GraphqlHandlerBypassingYogaServices extends FailureToGraphqlErrorServices {
  readonly prepareDocument: OpenedMesh["prepareDocument"];
  readonly documents: Pick<TrustedDocumentFinder, "find">;
  readonly execute: GraphqlDocumentExecutionFunction;
  readonly contextOf: (request: FastifyRequest) => GraphqlContext;
}

/**
 * The names of plugin hooks that do not need Yoga to answer requests for trusted documents. `onParse` and
 * `onValidate` run when a trusted document is prepared. The others belong to subscriptions and to `mesh
 * dev`.
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

/** Returns the answer to a request; undefined if Yoga must answer the request. */
export type GraphqlHandlerBypassingYoga = (request: FastifyRequest) => Promise<GraphqlHttpAnswer | undefined>;

export function createGraphqlHandlerBypassingYoga(
  services: GraphqlHandlerBypassingYogaServices,
): GraphqlHandlerBypassingYoga {
  const { execute, contextOf } = services;
  const findTrusted = createTrustedDocumentPreparer(services);
  const findRepeated = createFrequentDocumentParserAndCompiler(services.prepareDocument);
  return async (request) => {
    const viewer = getRequestViewer(request);
    const params = request.method === "GET" ? readGraphqlUrlParams(request) : request.body;
    if (viewer === undefined || !isGraphqlParams(params)) return undefined;
    const prepared =
      "query" in params
        ? isTextPrepared(params, viewer, request)
          ? findRepeated(params.query)
          : undefined
        : await findTrusted(params, viewer, request);
    if (prepared === undefined || (params.operationName ?? prepared.name) !== prepared.name) return undefined;
    const result = await execute(prepared.document, contextOf(request), {
      variables: params.variables ?? undefined,
    });
    return toGraphqlHttpAnswer(result, request, services);
  };
}

/**
 * Creates the function that finds the trusted document that a request names by its hash, and prepares it
 * once. Returns undefined for a document that only Yoga can execute.
 */
function createTrustedDocumentPreparer({
  documents,
  prepareDocument,
}: Pick<GraphqlHandlerBypassingYogaServices, "documents" | "prepareDocument">): (
  params: DirectParams,
  viewer: InternalTokenOrStaffViewer,
  request: FastifyRequest,
) => Promise<ParsedAndCompiledGraphqlDocument | undefined> {
  const cache = createCompiledGraphqlDocumentCache();
  const prepare = (sha256: string, text: string): ParsedAndCompiledGraphqlDocument | undefined => {
    const known = cache.get(sha256);
    if (known !== undefined) return known;
    const prepared = prepareDocument(text);
    if (prepared !== undefined) cache.set(sha256, prepared);
    return prepared;
  };
  return async (params, { merchantId }, { method }) => {
    const hash = readTrustedDocumentHash(params);
    if (hash === undefined || merchantId === null) return undefined;
    const row = await documents.find(merchantId, hash);
    if (row === undefined || row.operation === "subscription") return undefined;
    if (method === "GET" && row.operation !== "query") return undefined;
    return prepare(row.sha256, row.document);
  };
}

/**
 * Returns true if the text in a request may be prepared. Texts of buyers' browsers are not prepared: everyone
 * can read a shop's publishable token, and could fill the cache with texts. A shop can register its
 * documents.
 */
const isTextPrepared = (
  params: DirectParams,
  viewer: InternalTokenOrStaffViewer,
  { method }: FastifyRequest,
): params is DirectParams & { readonly query: string } =>
  method === "POST" &&
  typeof params.query === "string" &&
  params[documentIdParameter] === undefined &&
  params.extensions?.["persistedQuery"] === undefined &&
  !isLimitedToTrustedDocuments(viewer) &&
  !isBrowserCaller(viewer);

interface DirectParams {
  readonly query?: unknown;
  readonly [documentIdParameter]?: unknown;
  readonly variables?: JsonObject | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: JsonObject | null | undefined;
}

const parameters: ReadonlySet<string> = new Set([
  documentIdParameter,
  "query",
  "extensions",
  "variables",
  "operationName",
]);

/**
 * Returns true if the parameters of a GraphQL request have the right types, and none of them is unknown. The
 * hash and the text of the document are checked later.
 */
function isGraphqlParams(params: unknown): params is DirectParams {
  if (!isObject(params)) return false;
  const { variables, operationName, extensions } = params;
  for (const name of Object.keys(params)) if (!parameters.has(name)) return false;
  if (!isObjectOrMissing(variables) || !isObjectOrMissing(extensions)) return false;
  return operationName === undefined || operationName === null || typeof operationName === "string";
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isObjectOrMissing = (value: unknown): value is JsonObject | null | undefined =>
  value === undefined || value === null || isObject(value);
