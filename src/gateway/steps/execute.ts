/**
 * Steps of a REST request that run after validation. They limit attempts to guess codes, execute the
 * operation's GraphQL document with Mesh, and send the result. For an operation with an idempotency key, this
 * file reads the key and renders the answer that is stored; `mesh/plugins/idempotency.ts` ensures that the
 * operation is executed once.
 */
import type { ExecutionResult } from "graphql";
import { getCredentialIdOfViewer, isApiKeyOrOauthViewer } from "#access/viewer.ts";
import {
  createRequestFingerprint,
  type IdempotencyKeyClaim,
  type IdempotentRequest,
  parseIdempotencyKey,
} from "#database/idempotency.ts";
import { createFailure, Failure, type FailureCode, type FailureDetail } from "#foundation/failure.ts";
import type { RestRequestContext, RestGatewayServices, RestRequestPipelineStep } from "#gateway/rest-call.ts";
import type { FailedAttemptsRateLimit, RestOperation } from "#gateway/contract.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";
import { encodeResultData } from "#mesh/result-text.ts";
import { createRateLimitFailure } from "#http/rate-limiter.ts";
import {
  createCacheableResponse,
  storeSentResponseInCache,
  sendCacheableResponse,
  sendCachedResponse,
} from "./cached-response.ts";
import { createResponseBodyOr304Renderer } from "./revalidate.ts";

/**
 * Executes the operation's GraphQL document with Mesh. If the result has errors, throws the failure of the
 * first error.
 */
export const executeOperation: RestRequestPipelineStep = {
  name: "execute",
  phase: "body",
  appliesTo: () => true,
  create: (services, operation) => async (call) => {
    if (call.cachedResponse !== undefined) return;
    call.result = await services.execute(
      call,
      operation.isIdempotent ? createOnceRequest(operation, call) : null,
    );
    const [error] = call.result.errors ?? [];
    if (error !== undefined) throw await countFailure(getFailureOfGraphqlError(error), call, services);
  },
};

function createOnceRequest(
  operation: RestOperation,
  call: RestRequestContext,
): IdempotentRequest<ExecutionResult> {
  const { body, ...path } = call.variables;
  return {
    claim: {
      ...getKeyAndOwner(call),
      fingerprint: createRequestFingerprint({ operationId: operation.id, path, body }),
    },
    record: (result) => ({
      status: 200,
      contentType: "application/json; charset=utf-8",
      body: readAnswer(operation, result).render(),
    }),
  };
}

/**
 * Returns the idempotency key of a request and the app installation that owns the key. The key does not
 * belong to the API key or token, so a retry with a new API key or token also gets the stored answer.
 */
function getKeyAndOwner({
  viewer,
  idempotencyKey,
}: RestRequestContext): Pick<IdempotencyKeyClaim, "ownerId" | "merchantId" | "key"> {
  if (!isApiKeyOrOauthViewer(viewer) || idempotencyKey === undefined)
    throw createFailure("idempotency_key_required");
  return { ownerId: viewer.installationId, merchantId: viewer.merchantId, key: idempotencyKey };
}

/**
 * Sends the result of the GraphQL document as a body `{data}` or `{data, meta}`. If `data` or an object that
 * contains it is null, answers 404 with the operation's failure code.
 */
export const sendAnswer: RestRequestPipelineStep = {
  name: "answer",
  phase: "body",
  appliesTo: () => true,
  create: (services, operation) => {
    const cacheControl =
      operation.security.kind === "anonymous" ? "public, max-age=30, stale-while-revalidate=60" : "no-store";
    const { constantField } = operation;
    const renderChanged = constantField === null ? undefined : createResponseBodyOr304Renderer(constantField);
    return (call) => {
      const { result, recorded, reply, request, cachedResponse } = call;
      void reply.header("cache-control", cacheControl);
      if (cachedResponse !== undefined) {
        sendCachedResponse(call, cachedResponse);
        return;
      }
      if (recorded !== undefined) {
        const { status, contentType, body } = recorded.recorded;
        void reply
          .code(status)
          .header("idempotent-replayed", String(recorded.isReplay))
          .type(contentType)
          .send(body);
        return;
      }
      const { data, render, encode } = readAnswer(operation, result);
      const written = operation.languageField === null ? undefined : field(data, operation.languageField);
      const language = typeof written === "string" ? written : undefined;
      if (operation.dependsOn !== null) {
        const response = createCacheableResponse(render(), language);
        sendCacheableResponse(call, response);
        storeSentResponseInCache(call, services, { data, response });
        return;
      }
      if (language !== undefined) void reply.header("content-language", language);
      const version = operation.versionField === null ? undefined : field(data, operation.versionField);
      if (typeof version === "number") void reply.header("etag", `"v${version}"`);
      const body = renderChanged === undefined ? encode() : renderChanged(data, { request, reply, render });
      if (body === null) void reply.send();
      else void reply.type("application/json; charset=utf-8").send(body);
    };
  },
};

/** The value of the member `data` of an answer's body, and functions that render the whole body as JSON. */
interface RenderableAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly render: () => string;
  /** Returns the same body as `render`, as bytes if the bytes are kept in memory. */
  readonly encode: () => string | Buffer;
}

/**
 * Reads the `data` of a 200 answer, and returns it with functions that render the body. Throws the failure of
 * the result's first error, or the operation's 404 if `data` is null.
 */
function readAnswer(
  { envelope, notFound, headerOnlyFields }: RestOperation,
  result: ExecutionResult | undefined,
): RenderableAnswer {
  const [error] = result?.errors ?? [];
  if (error !== undefined) throw getFailureOfGraphqlError(error);
  let body: unknown = result?.data;
  for (const step of envelope) body = field(body, step);
  const data = field(body, "data");
  if (typeof body !== "object" || body === null || typeof data !== "object" || data === null)
    throw createFailure(notFound);
  const answer: object = body;
  const render = (): string => JSON.stringify(answer, headerOnlyFields.length === 0 ? undefined : omit);
  return {
    data: data as Readonly<Record<string, unknown>>,
    render,
    encode: () => (headerOnlyFields.length === 0 ? encodeResultData(answer) : render()),
  };

  function omit(this: unknown, name: string, value: unknown): unknown {
    return this === data && headerOnlyFields.includes(name) ? undefined : value;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/**
 * Limits attempts to guess, for example, promotion codes. An answer with one of the operation's listed
 * failure codes is a failed attempt. Each failed attempt is counted for the object that the path names and
 * for the credential, outside of transactions. When a counter reaches its limit, this step refuses further
 * attempts. Parallel attempts above the limit all get the same refusal, so their answers do not show which
 * guess was right.
 */
export const limitFailedAttempts: RestRequestPipelineStep = {
  name: "limit failures",
  phase: "body",
  appliesTo: ({ failureLimit }) => failureLimit !== null,
  create: ({ limiter }, { failureLimit }) => {
    if (failureLimit === null) return () => undefined;
    return async (call) => {
      for (const [bucket, key] of countersOf(call, failureLimit)) {
        const state = await limiter.peek(bucket, key);
        if (state !== undefined && state.remaining === 0) throw createRateLimitFailure("rate_limited", state);
      }
    };
  },
};

/**
 * Counts a failure if it is one of the failures by which the operation recognizes a wrong guess. Returns the
 * error with which the request is answered: the given error, or `rate_limited` if the limit is exceeded.
 */
async function countFailure(
  error: unknown,
  call: RestRequestContext,
  { limiter }: RestGatewayServices,
): Promise<unknown> {
  const { failureLimit } = call.operation;
  if (failureLimit === null || !(error instanceof Failure) || !isCounted(error.code, failureLimit))
    return error;
  let refusal: unknown = error;
  for (const [bucket, key] of countersOf(call, failureLimit)) {
    const state = await limiter.consume(bucket, key);
    if (state?.isExceeded === true) refusal = createRateLimitFailure("rate_limited", state);
  }
  return refusal;
}

const isCounted = (code: FailureCode, { codes }: FailedAttemptsRateLimit): boolean => codes.includes(code);

function countersOf(
  { variables, viewer }: RestRequestContext,
  { bucket, credentialBucket, by }: FailedAttemptsRateLimit,
): [FailedAttemptsRateLimit["bucket"], string][] {
  const credential = isApiKeyOrOauthViewer(viewer) ? getCredentialIdOfViewer(viewer) : "";
  return [
    [bucket, String(variables[by])],
    [credentialBucket, credential],
  ];
}

const headerName = "Idempotency-Key";

/**
 * Reads the Idempotency-Key header before the body is read. Refuses a request without a key or with a
 * malformed key.
 */
export const requireIdempotencyKey: RestRequestPipelineStep = {
  name: "require idempotency key",
  phase: "headers",
  appliesTo: ({ isIdempotent }) => isIdempotent,
  create: () => (call) => {
    // Reads the raw headers: Node joins two Idempotency-Key headers to one value `a, b`, which would look
    // like a single valid key.
    const { rawHeaders } = call.request.raw;
    const lines = rawHeaders.filter(
      (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === headerName.toLowerCase(),
    );
    const [line, second] = lines;
    if (line === undefined) {
      const message =
        `${headerName} is required. Use a new key for each change and the same key for each retry ` +
        "of the change.";
      throw createFailure("idempotency_key_required", {
        message,
        details: [headerDetail("required", message)],
      });
    }
    const key = second === undefined ? parseIdempotencyKey(line) : undefined;
    if (key === undefined) {
      const [code, rule] =
        second === undefined
          ? [
              "pattern_mismatch",
              'must have 1 to 255 printable ASCII characters, without space, ", \\, comma and semicolon',
            ]
          : ["duplicate", "must be sent only once"];
      const message = `${headerName} ${rule}.`;
      throw createFailure("idempotency_key_invalid", { message, details: [headerDetail(code, message)] });
    }
    call.idempotencyKey = key;
  },
};

const headerDetail = (code: string, message: string): FailureDetail => ({
  in: "header",
  field: headerName,
  code,
  message,
});
