/**
 * The steps after validation: they limit guessing, run the operation's document through Mesh, and send its
 * result in the contract's envelope. An idempotent operation brings its key and says how its answer is
 * recorded; the plugin `mesh/plugins/idempotency.ts` does the rest.
 */
import type { ExecutionResult } from "graphql";
import { credentialIdOf, isIntegrator } from "#access/viewer.ts";
import { fingerprintOf, type OnceRequest, parseIdempotencyKey } from "#database/idempotency.ts";
import { fail, Failure, type FailureCode, type FailureDetail } from "#foundation/failure.ts";
import type { RestCall, GatewayServices, RestStep } from "#gateway/rest-call.ts";
import type { FailedAttemptsLimit, RestOperation } from "#gateway/contract.ts";
import { getFailureOfError } from "#mesh/public-error.ts";
import { limitFailure } from "#http/rate-limiter.ts";

export const executeOperation: RestStep = {
  name: "execute",
  phase: "body",
  appliesTo: () => true,
  create: (services, operation) => async (call) => {
    call.result = await services.execute(call, operation.isIdempotent ? onceOf(operation, call) : null);
    const [error] = call.result.errors ?? [];
    if (error !== undefined) throw await countFailure(getFailureOfError(error), call, services);
  },
};

function onceOf(operation: RestOperation, call: RestCall): OnceRequest<ExecutionResult> {
  const { body, ...path } = call.variables;
  return {
    claim: { ...ownKey(call), fingerprint: fingerprintOf({ operationId: operation.id, path, body }) },
    record: (result) => ({
      status: 200,
      contentType: "application/json; charset=utf-8",
      body: renderAnswer(operation, result).text,
    }),
  };
}

/** A key belongs to the installation, so that a retry survives the rotation of its API key or token. */
function ownKey({ viewer, idempotencyKey }: RestCall): { ownerId: string; key: string } {
  if (!isIntegrator(viewer) || idempotencyKey === undefined) throw fail("idempotency_key_required");
  return { ownerId: viewer.installationId, key: idempotencyKey };
}

/** Sends the result of the document in the contract's envelope. A null on the way to `data` is the operation's 404. */
export const sendAnswer: RestStep = {
  name: "answer",
  phase: "body",
  appliesTo: () => true,
  create: (_services, operation) => {
    const cacheControl =
      operation.security.kind === "anonymous" ? "public, max-age=30, stale-while-revalidate=60" : "no-store";
    return ({ result, recorded, reply }) => {
      void reply.header("cache-control", cacheControl);
      if (recorded !== undefined) {
        const { status, contentType, body } = recorded.recorded;
        void reply
          .code(status)
          .header("idempotent-replayed", String(recorded.isReplay))
          .type(contentType)
          .send(body);
        return;
      }
      const { text, data } = renderAnswer(operation, result);
      const language = operation.languageField === null ? undefined : field(data, operation.languageField);
      if (typeof language === "string") void reply.header("content-language", language);
      const version = operation.versionField === null ? undefined : field(data, operation.versionField);
      if (typeof version === "number") void reply.header("etag", `"v${version}"`);
      void reply.type("application/json; charset=utf-8").send(text);
    };
  },
};

/** The body of a 200. Throws the failure that the result means: its first error, or the operation's 404. */
function renderAnswer(
  { envelope, notFound }: RestOperation,
  result: ExecutionResult | undefined,
): { readonly text: string; readonly data: unknown } {
  const [error] = result?.errors ?? [];
  if (error !== undefined) throw getFailureOfError(error);
  let body: unknown = result?.data;
  for (const step of envelope) body = field(body, step);
  const data = field(body, "data");
  if (data === null || data === undefined) throw fail(notFound);
  return { text: JSON.stringify(body), data };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/**
 * Guessing has an end. Failures of the kinds named are counted by what they were tried on and by credential,
 * outside of any transaction; used up, the next attempt is refused before it is made, and one that fails
 * beside others at once learns no more than that.
 */
export const limitFailedAttempts: RestStep = {
  name: "limit failures",
  phase: "body",
  appliesTo: ({ failureLimit }) => failureLimit !== null,
  create: ({ limiter }, { failureLimit }) => {
    if (failureLimit === null) return () => undefined;
    return async (call) => {
      for (const [bucket, key] of countersOf(call, failureLimit)) {
        const state = await limiter.peek(bucket, key);
        if (state !== undefined && state.remaining === 0) throw limitFailure("rate_limited", state);
      }
    };
  },
};

/** Counts a failure where it is of a kind that is; gives what is answered. */
async function countFailure(error: unknown, call: RestCall, { limiter }: GatewayServices): Promise<unknown> {
  const { failureLimit } = call.operation;
  if (failureLimit === null || !(error instanceof Failure) || !isCounted(error.code, failureLimit))
    return error;
  let refusal: unknown = error;
  for (const [bucket, key] of countersOf(call, failureLimit)) {
    const state = await limiter.consume(bucket, key);
    if (state?.isExceeded === true) refusal = limitFailure("rate_limited", state);
  }
  return refusal;
}

const isCounted = (code: FailureCode, { codes }: FailedAttemptsLimit): boolean => codes.includes(code);

function countersOf(
  { variables, viewer }: RestCall,
  { bucket, credentialBucket, by }: FailedAttemptsLimit,
): [FailedAttemptsLimit["bucket"], string][] {
  const credential = isIntegrator(viewer) ? credentialIdOf(viewer) : "";
  return [
    [bucket, String(variables[by])],
    [credentialBucket, credential],
  ];
}

/** Reads the Idempotency-Key, before the body is: without one nothing that changes something may start. */
const headerName = "Idempotency-Key";

export const requireIdempotencyKey: RestStep = {
  name: "require idempotency key",
  phase: "headers",
  appliesTo: ({ isIdempotent }) => isIdempotent,
  create: () => (call) => {
    // Node joins two lines to `a, b`, which would be a key of its own.
    const { rawHeaders } = call.request.raw;
    const lines = rawHeaders.filter(
      (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === headerName.toLowerCase(),
    );
    const [line, second] = lines;
    if (line === undefined) {
      const message = `${headerName} is required: a new one for each change, the same one for each retry of it.`;
      throw fail("idempotency_key_required", { message, details: [headerDetail("required", message)] });
    }
    const key = second === undefined ? parseIdempotencyKey(line) : undefined;
    if (key === undefined) {
      const [code, rule] =
        second === undefined
          ? [
              "pattern_mismatch",
              'has 1 to 255 printable ASCII characters, without space, ", \\, comma and semicolon',
            ]
          : ["duplicate", "stands in a request once"];
      const message = `${headerName} ${rule}.`;
      throw fail("idempotency_key_invalid", { message, details: [headerDetail(code, message)] });
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
