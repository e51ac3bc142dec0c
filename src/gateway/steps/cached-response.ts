/**
 * Answers REST requests from the response cache. The steps before this one still run for each request, so
 * rate limits, credentials and validation apply as usual; only the execution of the document is skipped.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { isApiKeyOrOauthViewer } from "#access/viewer.ts";
import { parseAcceptLanguage } from "#foundation/text.ts";
import {
  type CacheableResponse,
  type CachedResponse,
  getCompressedCachedResponseBody,
} from "#gateway/response-cache.ts";
import type { RestGatewayServices, RestRequestContext, RestRequestPipelineStep } from "#gateway/rest-call.ts";
import { chooseContentEncoding, type ContentEncoding } from "#http/content-encoding.ts";
import { toClientAddressKey } from "#http/caller.ts";
import { isEntityTagKnownToClient, parseEntityTags } from "#http/entity-tags.ts";

/**
 * Step that looks for the answer in the response cache. If the answer is cached, sets `call.cachedResponse`.
 * Otherwise begins a cache fill (`call.fill`), so that the answer is stored after it was read.
 */
export const findCachedResponse: RestRequestPipelineStep = {
  name: "find cached response",
  phase: "body",
  appliesTo: ({ dependsOn }) => dependsOn !== null,
  create: ({ responseCache, events, hasReplica }, operation) => {
    // If there is a read replica, searches run there and are not cached. Every change of a catalog removes
    // all cached searches, so caching would move most of their load to the primary database.
    const isOnReplica = hasReplica && operation.dependsOn === "ALL_CATALOGS";
    if (responseCache === undefined || isOnReplica) return () => undefined;
    const finish = (call: RestRequestContext, key: string, found: CachedResponse | undefined): void => {
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

function reuse(call: RestRequestContext, response: CachedResponse): void {
  call.cachedResponse = response;
  if (response.onReuse.length === 0) return;
  const client = toClientAddressKey(call.request.ip);
  for (const callback of response.onReuse) callback(client);
}

/** Returns the cache key of a request: all parts of the request on which the answer depends. */
function createCacheKey({ operation, request, variables, viewer }: RestRequestContext): string {
  const { id, parameters, dependsOn, languageField } = operation;
  return JSON.stringify([
    id,
    dependsOn === "OWN_CATALOG" && isApiKeyOrOauthViewer(viewer) ? viewer.merchantId : null,
    languageField === null ? null : parseAcceptLanguage(request.headers["accept-language"]),
    parameters.map(({ name }) => variables[name] ?? null),
  ]);
}

/**
 * Stores an answer in the response cache after it was sent. The cache tags are read after the answer itself.
 * If data changed in between, the notice of the change arrives during or after the cache fill, and the answer
 * is not kept.
 */
export function storeSentResponseInCache(
  call: RestRequestContext,
  services: Pick<RestGatewayServices, "responseCache">,
  answer: AnswerToKeep,
): void {
  // The detached async context keeps the statement out of the request's trace, because the answer was already
  // sent.
  void inDetachedContext(() => storeResponse(call, services, answer));
}

const inDetachedContext = AsyncLocalStorage.snapshot();

interface AnswerToKeep {
  readonly data: unknown;
  readonly response: CacheableResponse;
}

async function storeResponse(
  call: RestRequestContext,
  { responseCache }: Pick<RestGatewayServices, "responseCache">,
  { data, response }: AnswerToKeep,
): Promise<void> {
  const { fill, operation, viewer } = call;
  if (fill === undefined || responseCache === undefined || operation.dependsOn === null) return;
  try {
    const merchantId = isApiKeyOrOauthViewer(viewer) ? viewer.merchantId : null;
    const read = { data, merchantId, beganAt: fill.beganAt };
    fill.store(response, await responseCache.validity.read(operation.dependsOn, read));
  } catch {
    // An error here does not reach the client, whose answer was already sent. The answer is only not cached.
    fill.abandon();
  }
}

/**
 * Matches the member `generatedAt` of an answer, which differs at each execution even if nothing else has
 * changed.
 */
const executionTime = /"generatedAt":"[^"]*"/;

/**
 * Creates an answer that can be cached, with its ETag. The ETag is a hash of the body without the member
 * `generatedAt`. It is weak, because the compressed and the uncompressed body have the same ETag.
 */
export function createCacheableResponse(text: string, language: string | undefined): CacheableResponse {
  const etag = `W/"${hash("sha256", text.replace(executionTime, ""), "base64url").slice(0, 22)}"`;
  return { body: Buffer.from(text), etag, language };
}

/**
 * Sends an answer with its ETag. Sends status 304 without a body if the client already has the answer. If
 * `encodedBody` is given, sends this compressed body.
 */
export function sendCacheableResponse(
  { request, reply }: Pick<RestRequestContext, "request" | "reply">,
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
  // The API contract does not describe status 304. Only a client that sends an ETag from an earlier answer
  // gets it. The header `If-None-Match: *`, which any client can send, gets the complete answer.
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
  call: Pick<RestRequestContext, "request" | "reply">,
  response: CachedResponse,
): void {
  const accepted = call.request.headers["accept-encoding"];
  const encoding = chooseContentEncoding(Array.isArray(accepted) ? accepted.join(",") : accepted);
  const bytes = encoding === undefined ? undefined : getCompressedCachedResponseBody(response, encoding);
  const encodedBody = encoding === undefined || bytes === undefined ? undefined : { encoding, bytes };
  sendCacheableResponse(call, { ...response, encodedBody });
}
