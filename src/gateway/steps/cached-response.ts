/**
 * Answers REST requests from the response cache. The steps before this one still run for each request, so
 * rate limits, credentials and validation apply as usual; only the execution of the document is saved.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { isIntegratorViewer } from "#access/viewer.ts";
import { parseAcceptLanguage } from "#foundation/text.ts";
import { type CacheableResponse, type CachedResponse, getEncodedBody } from "#gateway/response-cache.ts";
import type { RestGatewayServices, RestRequestState, RestRequestStep } from "#gateway/rest-call.ts";
import { chooseContentEncoding, type ContentEncoding } from "#http/content-encoding.ts";
import { toClientAddressKey } from "#http/caller.ts";
import { isEntityTagKnownToClient, parseEntityTags } from "#http/entity-tags.ts";

/**
 * Looks for the answer in the response cache. If it is there, sets `call.cachedResponse`; otherwise begins a
 * fill, so that the answer is kept.
 */
export const findCachedResponse: RestRequestStep = {
  name: "find cached response",
  phase: "body",
  appliesTo: ({ dependsOn }) => dependsOn !== null,
  create: ({ responseCache, events, hasReplica }, operation) => {
    // With a replica, searches stay on the replica. Each change of a catalog drops all kept searches, so most of
    // their load would otherwise return to the primary database.
    const isOnReplica = hasReplica && operation.dependsOn === "ALL_CATALOGS";
    if (responseCache === undefined || isOnReplica) return () => undefined;
    const finish = (call: RestRequestState, key: string, found: CachedResponse | undefined): void => {
      events.emit("responseCacheUsed", operation.id, found !== undefined);
      if (found === undefined) call.fill = responseCache.beginFill(key);
      else reuse(call, found);
    };
    return (call) => {
      const key = createCacheKey(call);
      const found = responseCache.find(key);
      return found instanceof Promise
        ? found.then((response) => finish(call, key, response))
        : finish(call, key, found);
    };
  },
};

function reuse(call: RestRequestState, response: CachedResponse): void {
  call.cachedResponse = response;
  if (response.onReuse.length === 0) return;
  const client = toClientAddressKey(call.request.ip);
  for (const callback of response.onReuse) callback(client);
}

/** Returns the key of an answer: everything in a request that the answer depends on. */
function createCacheKey({ operation, request, variables, viewer }: RestRequestState): string {
  const { id, parameters, dependsOn, languageField } = operation;
  return JSON.stringify([
    id,
    dependsOn === "OWN_CATALOG" && isIntegratorViewer(viewer) ? viewer.merchantId : null,
    languageField === null ? null : parseAcceptLanguage(request.headers["accept-language"]),
    parameters.map(({ name }) => variables[name] ?? null),
  ]);
}

/**
 * Keeps an answer that was read for a fill. How long the answer stays right is read after the answer itself:
 * a change in between drops the answer, because its notice arrives during the fill or later.
 */
export function keepResponse(
  call: RestRequestState,
  services: Pick<RestGatewayServices, "responseCache">,
  answer: AnswerToKeep,
): void {
  // The answer has been sent, so its statement does not belong to the trace of the request.
  void inDetachedContext(() => storeResponse(call, services, answer));
}

const inDetachedContext = AsyncLocalStorage.snapshot();

interface AnswerToKeep {
  readonly data: unknown;
  readonly response: CacheableResponse;
}

async function storeResponse(
  call: RestRequestState,
  { responseCache }: Pick<RestGatewayServices, "responseCache">,
  { data, response }: AnswerToKeep,
): Promise<void> {
  const { fill, operation, viewer } = call;
  if (fill === undefined || responseCache === undefined || operation.dependsOn === null) return;
  try {
    const merchantId = isIntegratorViewer(viewer) ? viewer.merchantId : null;
    const read = { data, merchantId, beganAt: fill.beganAt };
    fill.store(response, await responseCache.validity.read(operation.dependsOn, read));
  } catch {
    // The answer was sent already; it is only not kept.
    fill.abandon();
  }
}

/** Times in an answer that differ at each execution, although the content is the same. */
const executionTime = /"generatedAt":"[^"]*"/;

/**
 * Creates the answer of an operation that can be cached. Its ETag is the hash of the body without the time of
 * the execution. It is weak, because the compressed and the uncompressed body have the same ETag.
 */
export function createCacheableResponse(text: string, language: string | undefined): CacheableResponse {
  const etag = `W/"${hash("sha256", text.replace(executionTime, ""), "base64url").slice(0, 22)}"`;
  return { body: Buffer.from(text), etag, language };
}

/** Sends an answer with its ETag, or 304 if the client already has it; compressed if it is in the cache. */
export function sendCacheableResponse(
  { request, reply }: Pick<RestRequestState, "request" | "reply">,
  {
    body,
    etag,
    language,
    encodedBody,
  }: CacheableResponse & { readonly encodedBody?: EncodedBody | undefined },
): void {
  void reply.header("etag", etag);
  if (language !== undefined) void reply.header("content-language", language);
  const known = request.headers["if-none-match"];
  // The contract has no status 304. A client that sends an ETag of an earlier answer knows this status; the header
  // `If-None-Match: *`, which any client can send, gets the answer.
  if (!parseEntityTags(known).includes("*") && isEntityTagKnownToClient(known, etag)) {
    void reply.code(304).send();
    return;
  }
  if (encodedBody !== undefined) void reply.header("content-encoding", encodedBody.encoding);
  void reply.type("application/json; charset=utf-8").send(encodedBody?.bytes ?? body);
}

interface EncodedBody {
  readonly encoding: ContentEncoding;
  readonly bytes: Buffer;
}

/** Sends an answer from the cache, compressed if the client accepts it and the compressed body is ready. */
export function sendCachedResponse(
  call: Pick<RestRequestState, "request" | "reply">,
  response: CachedResponse,
): void {
  const accepted = call.request.headers["accept-encoding"];
  const encoding = chooseContentEncoding(Array.isArray(accepted) ? accepted.join(",") : accepted);
  const bytes = encoding === undefined ? undefined : getEncodedBody(response, encoding);
  const encodedBody = encoding === undefined || bytes === undefined ? undefined : { encoding, bytes };
  sendCacheableResponse(call, { ...response, encodedBody });
}
