/**
 * Handles requests that name a trusted document by its hash: with `documentId: "sha256:…"` (GraphQL over
 * HTTP, persisted documents) or with `extensions.persistedQuery.sha256Hash` (Apollo). A token with the
 * setting `trusted_only` can run only trusted documents. `direct-answers.ts` answers most of these requests.
 * For the remaining requests, this file passes the stored text to Yoga, which parses, validates and caches
 * the text like the text of an ordinary request.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { GraphQLError } from "graphql";
import type { GraphQLParams, Plugin } from "graphql-yoga";
import {
  hashGraphqlDocumentText,
  type TrustedDocumentRow,
  type TrustedDocumentFinder,
} from "#access/trusted-documents.ts";
import type { InternalTokenOrStaffViewer } from "#access/viewer.ts";
import { convertTemporaryFailureToUnavailable } from "#database/database-errors.ts";
import { createFailure, type Failure, createFailureWithDetail, toFailure } from "#foundation/failure.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { parseJsonBody } from "#http/body.ts";
import { getRequestViewer, type YogaServerContext } from "./authenticate.ts";

/**
 * The request parameter that contains the hash of a trusted document. Yoga, the GraphQL server library,
 * refuses all parameters that are not registered.
 */
export const documentIdParameter = "documentId";

type Constraint = Parameters<FastifyInstance["addConstraintStrategy"]>[0];
type RouteHandler = Parameters<ReturnType<Constraint["storage"]>["set"]>[1];

/**
 * Sends a GET request to the route for trusted documents if the request's query string has the hash of one.
 * All other GET requests go to GraphiQL, the browser page for writing queries.
 */
export const trustedDocumentConstraint: Constraint = {
  name: "trustedDocument",
  storage: () => {
    const handlers = new Map<unknown, RouteHandler>();
    return {
      get: (isNamed) => handlers.get(isNamed) ?? null,
      set: (isNamed, handler) => void handlers.set(isNamed, handler),
      del: (isNamed) => void handlers.delete(isNamed),
      empty: () => handlers.clear(),
    };
  },
  validate: () => undefined,
  deriveConstraint: ({ url = "" }) => trustedDocumentUrl.test(url),
};

const trustedDocumentUrl = /^\/graphql\?(?:.*&)?(?:documentId|extensions)=/;

interface HashParams {
  readonly [documentIdParameter]?: unknown;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

interface DocumentParams extends GraphQLParams {
  readonly [documentIdParameter]?: unknown;
}

/** A Yoga plugin that replaces the hash of a trusted document in a request by the document's text. */
export const createTrustedDocumentPlugin = (
  documents: Pick<TrustedDocumentFinder, "find">,
): Plugin<GraphqlContext, YogaServerContext> => ({
  onParams: async ({ params, setParams, context }) => {
    const { caller } = context;
    const viewer = getRequestViewer(caller);
    if (viewer === undefined) return;
    try {
      const given = { ...params, ...readDocumentIdOfUrl(caller) };
      const hash = readHash(given);
      if (!isTextNeeded(given, { hash, viewer, method: caller.method })) return;
      const { document } = await requireDocument(documents, { hash, viewer, method: caller.method });
      const { [documentIdParameter]: _id, ...rest } = given;
      setParams({ ...rest, query: document });
    } catch (error) {
      throw new GraphQLError("", { originalError: convertTemporaryFailureToUnavailable(toFailure(error)) });
    }
  },
});

/**
 * Reads the parameter `documentId` from the URL of a GET request, because Yoga reads only the parameters that
 * it knows from a query string.
 */
function readDocumentIdOfUrl({ method, url }: FastifyRequest): Pick<DocumentParams, "documentId"> {
  if (method !== "GET") return {};
  const id = parametersOf(url).get(documentIdParameter);
  return id === null ? {} : { [documentIdParameter]: id };
}

const parametersOf = (url: string): URLSearchParams => new URLSearchParams(url.slice(url.indexOf("?")));

/**
 * Refuses a GET request if the JSON of its parameter `variables` or `extensions` is not safe, for example
 * because an object has two members of the same name. JSON with a syntax error is left to Yoga.
 */
export function requireSafeGraphqlUrlJson({ method, url }: FastifyRequest): void {
  if (method !== "GET") return;
  const params = parametersOf(url);
  for (const name of ["variables", "extensions"])
    for (const value of params.getAll(name)) if (isJson(value)) parseJsonBody(Buffer.from(value));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads all parameters from the query string of a GET request, of which `variables` and `extensions` are
 * JSON. Returns undefined if one of the two is not JSON.
 */
export function readGraphqlUrlParams({ url }: FastifyRequest): Readonly<Record<string, unknown>> | undefined {
  const params = parametersOf(url);
  try {
    return Object.fromEntries(
      [...new Set(params.keys())].map((name) => {
        const value = params.get(name) ?? "";
        return [name, name === "variables" || name === "extensions" ? JSON.parse(value) : value];
      }),
    );
  } catch {
    return undefined;
  }
}

interface DocumentRequest {
  readonly hash: string | undefined;
  readonly viewer: InternalTokenOrStaffViewer;
  readonly method: string;
}

/**
 * Returns true if a request has only the hash of a document, so that its text must be read from the database.
 * Returns false if the request contains a text that the caller may run. Throws if the caller may not run this
 * text, or if the request also has a hash that is not the hash of this text.
 */
function isTextNeeded({ query }: DocumentParams, { hash, viewer, method }: DocumentRequest): boolean {
  if (isLimitedToTrustedDocuments(viewer) && (query !== undefined || hash === undefined)) throw textRefusal();
  if (typeof query !== "string") {
    if (hash === undefined) throw missingQuery();
    return true;
  }
  if (method === "GET")
    throw paramFailure(
      "query",
      "not_allowed",
      'A GET request must name a trusted document and have no "query".',
    );
  if (hash !== undefined && hash !== hashGraphqlDocumentText(query))
    throw paramFailure(
      "query",
      "hash_mismatch",
      '"query" must be the text with the hash that the request names. Leave out "query" or the hash.',
    );
  return false;
}

const missingQuery = (): Failure =>
  paramFailure(
    "query",
    "required",
    '"query" is required: the text of a GraphQL document. Send "documentId" instead to run a trusted document.',
  );

/** Refuses an empty JSON object as the body, which Yoga would report as invalid JSON. */
export function requireNonEmptyGraphqlBody(
  { body }: FastifyRequest,
  viewer: InternalTokenOrStaffViewer | undefined,
): void {
  const isEmpty = typeof body === "object" && body !== null && Object.keys(body).length === 0;
  if (isEmpty) throw isLimitedToTrustedDocuments(viewer) ? textRefusal() : missingQuery();
}

/** Returns true if the caller's token can run only trusted documents. */
export const isLimitedToTrustedDocuments = (viewer: InternalTokenOrStaffViewer | undefined): boolean =>
  viewer !== undefined && "documents" in viewer && viewer.documents === "trusted_only";

const textRefusal = (): Failure =>
  createFailure("trusted_document_required", {
    message:
      'This internal token may run only trusted documents: send "documentId" (sha256: and the hash of a ' +
      'registered document) and no "query".',
  });

/**
 * Returns the hash of the trusted document that a request names; undefined if it names none. Throws if the
 * hash is malformed.
 */
function readHash(params: HashParams): string | undefined {
  const id = readDocumentId(params);
  const apolloHash = readApolloHash(params);
  if (id !== undefined && apolloHash !== undefined && id !== apolloHash)
    throw paramFailure(
      documentIdParameter,
      "hash_mismatch",
      '"documentId" and "extensions.persistedQuery.sha256Hash" must name the same document.',
    );
  return id ?? apolloHash;
}

/**
 * Returns the hash of the trusted document that a request names. Returns undefined if the request names no
 * hash, two different hashes or a malformed hash.
 */
export function readTrustedDocumentHash(params: HashParams): string | undefined {
  try {
    return readHash(params);
  } catch {
    return undefined;
  }
}

const documentIdPattern = /^sha256:([0-9a-f]{64})$/;

function readDocumentId({ documentId }: HashParams): string | undefined {
  if (documentId === undefined || documentId === null) return undefined;
  const hash = typeof documentId === "string" ? documentIdPattern.exec(documentId)?.[1] : undefined;
  if (hash !== undefined) return hash;
  throw paramFailure(
    documentIdParameter,
    "pattern_mismatch",
    '"documentId" must be "sha256:" and 64 lower-case hexadecimal digits.',
  );
}

const hashPattern = /^[0-9a-f]{64}$/;

function readApolloHash({ extensions }: HashParams): string | undefined {
  const persisted: unknown = extensions?.["persistedQuery"];
  if (typeof persisted !== "object" || persisted === null || !("sha256Hash" in persisted)) return undefined;
  const { sha256Hash: hash } = persisted;
  if (typeof hash === "string" && hashPattern.test(hash)) return hash;
  throw paramFailure(
    "extensions/persistedQuery/sha256Hash",
    "pattern_mismatch",
    '"extensions.persistedQuery.sha256Hash" must be 64 lower-case hexadecimal digits.',
  );
}

async function requireDocument(
  documents: Pick<TrustedDocumentFinder, "find">,
  { hash = "", viewer: { merchantId }, method }: DocumentRequest,
): Promise<TrustedDocumentRow> {
  if (merchantId === null)
    throw createFailure("trusted_document_not_found", {
      message:
        "A token of the platform has no trusted documents, because they belong to merchants. Use a token of " +
        "the merchant, or send the document as query.",
    });
  const found = await documents.find(merchantId, hash);
  if (found === undefined)
    throw createFailure("trusted_document_not_found", {
      message:
        `The merchant has no trusted document with the hash ${hash}. Register the document with ` +
        "trustedDocumentsRegister before the frontend that uses it is released.",
    });
  if (method === "GET" && found.operation !== "query")
    throw createFailure("method_not_allowed", {
      message: `The trusted document ${found.name} is a ${found.operation}: send it with POST. GET is only for queries.`,
      headers: { allow: "POST" },
    });
  return found;
}

const paramFailure = (name: string, code: string, message: string): Failure =>
  createFailureWithDetail("malformed_request", { in: "body", field: `/${name}`, code, message });
