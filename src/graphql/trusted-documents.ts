/**
 * Handles requests that name a trusted document by its hash instead of sending its text. The hash is in
 * `documentId: "sha256:…"` (GraphQL over HTTP, persisted documents) or in
 * `extensions.persistedQuery.sha256Hash` (Apollo). A token with the setting `trusted_only` can run only
 * trusted documents. `direct-answers.ts` answers most of these requests. For all others, this file passes the
 * stored text to Yoga, which handles it like the text of an ordinary request.
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
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { createFailure, type Failure, createFailureWithDetail, toFailure } from "#foundation/failure.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { parseJsonBody } from "#http/body.ts";
import { getRequestViewer, type YogaServerContext } from "./authenticate.ts";

/**
 * The request parameter with the hash of a trusted document. It must be registered, because the library
 * GraphQL Yoga refuses unknown parameters.
 */
export const documentIdParameter = "documentId";

type Constraint = Parameters<FastifyInstance["addConstraintStrategy"]>[0];
type RouteHandler = Parameters<ReturnType<Constraint["storage"]>["set"]>[1];

/**
 * A route constraint of Fastify: GET requests with the hash of a trusted document use the route for trusted
 * documents. All other GET requests use the route of GraphiQL, the page for writing queries.
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
      throw new GraphQLError("", { originalError: toServiceUnavailableIfTemporary(toFailure(error)) });
    }
  },
});

/**
 * Reads the parameter `documentId` from the URL of a GET request, because Yoga ignores parameters of the
 * query string that it does not know.
 */
function readDocumentIdOfUrl({ method, url }: FastifyRequest): Pick<DocumentParams, "documentId"> {
  if (method !== "GET") return {};
  const id = parametersOf(url).get(documentIdParameter);
  return id === null ? {} : { [documentIdParameter]: id };
}

const parametersOf = (url: string): URLSearchParams => new URLSearchParams(url.slice(url.indexOf("?")));

/**
 * Refuses a GET request whose parameter `variables` or `extensions` has unsafe JSON, for example an object
 * with two members of the same name. Yoga itself reports JSON with a syntax error.
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
 * Reads all parameters from the query string of a GET request, and parses `variables` and `extensions` as
 * JSON. Returns undefined if one of these two has a syntax error.
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
 * Returns true if a request has the hash of a document but not its text, so that the text must be read from
 * the database. Returns false if the request has a text that the caller may run. Throws if a caller with the
 * setting `trusted_only` sends a text. Also throws for a text in a GET request, for a text that does not
 * match the hash, and if both are missing.
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

/** Refuses a request whose body is an empty JSON object. Yoga would report such a body as invalid JSON. */
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
 * Returns the hash of the trusted document in a request; undefined if there is none. Throws for a malformed
 * hash, and for two different hashes.
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
 * Returns the hash of the trusted document in a request. Returns undefined for no hash, for two different
 * hashes, and for a malformed hash.
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
