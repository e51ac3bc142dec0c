/**
 * Limits for requests that come from a buyer's browser, with a publishable token or a buyer session. Every
 * visitor of a shop can read a publishable token, so these requests have limits that requests with a secret
 * token do not have.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type DocumentNode, type ExecutionResult, Kind, visit } from "graphql";
import { getBuyerSessionOfViewer, type InternalTokenOrStaffViewer } from "#access/viewer.ts";
import { createFailure, type FailureCode, createFailureWithDetail } from "#foundation/failure.ts";
import type { GraphqlContext } from "#graph/context.ts";
import { countRequestAgainstQuota, createRateLimitFailure, type RateLimiter } from "#http/rate-limiter.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";
import { getRateLimitKeyOfAddress } from "./authenticate.ts";

/** Returns true if the caller is a buyer's browser, which sends a publishable token or a buyer session. */
export const isBrowserCaller = (viewer: InternalTokenOrStaffViewer): boolean =>
  viewer.role === "browser" || getBuyerSessionOfViewer(viewer) !== undefined;

/**
 * Counts a request of a buyer's browser against the rate limit of its network address. Refuses a request from
 * a page whose origin the token does not allow. Accepts requests without the header Origin, because they do
 * not come from a page of another site.
 */
export async function enforceBrowserOriginAndRateLimit(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  viewer: InternalTokenOrStaffViewer,
  limiter: RateLimiter,
): Promise<void> {
  if (!isBrowserCaller(viewer)) return;
  await countRequestAgainstQuota(limiter, reply, {
    bucket: "browser",
    key: getRateLimitKeyOfAddress(request),
  });
  const { origin } = request.headers;
  const allowed = "tokenId" in viewer ? viewer.allowedOrigins : undefined;
  if (origin === undefined || allowed === undefined || allowed.includes(origin)) return;
  throw createFailure("role_not_allowed", {
    message: `Pages of the origin ${origin} may not send this token. Its allowed origins are ${allowed.join(", ")}.`,
  });
}

/** The names of the mutations that apply a promotion code. A caller could use these mutations to guess codes. */
const codeMutations: ReadonlySet<string> = new Set([
  "cartPromotionApply",
  "hostedCheckoutSessionPromotionApply",
]);

/**
 * The failure codes that count as a wrong promotion code. They include the failure of an existing code that
 * does not apply to the cart, because it reveals to a guesser that the code exists.
 */
const wrongCodeFailures: ReadonlySet<FailureCode> = new Set([
  "promotion_code_not_found",
  "promotion_not_applicable",
]);

const countCodeMutations = (document: DocumentNode): number => {
  let count = 0;
  visit(document, {
    [Kind.FIELD]: ({ name }) => {
      if (codeMutations.has(name.value)) count += 1;
    },
  });
  return count;
};

/**
 * Executes a GraphQL document that a buyer's browser has sent. Wrong promotion codes are counted per network
 * address, in the same counter as codes that buyers enter on checkout pages. Above the limit, the caller gets
 * only `rate_limited`, so guessing codes does not help.
 */
export async function executeWithPromotionCodeAttemptLimit(
  limiter: RateLimiter,
  { document, context }: { readonly document: DocumentNode; readonly context: GraphqlContext },
  run: () => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const { viewer } = context;
  const codeCount = viewer.kind === "internal" && isBrowserCaller(viewer) ? countCodeMutations(document) : 0;
  if (codeCount === 0) return run();
  if (codeCount > 1)
    throw createFailureWithDetail("malformed_request", {
      in: "body",
      field: "query",
      code: "too_many",
      message: "A document of a buyer session can apply one promotion code.",
    });
  const counter = ["promo-fail-credential", `checkout:${context.client}`] as const;
  const present = await limiter.peek(...counter);
  if (present?.remaining === 0) throw createRateLimitFailure("rate_limited", present);
  const result = await run();
  const isWrongCode = (result.errors ?? []).some((error) =>
    wrongCodeFailures.has(getFailureOfGraphqlError(error).code),
  );
  const state = isWrongCode ? await limiter.consume(...counter) : undefined;
  if (state?.isExceeded === true) throw createRateLimitFailure("rate_limited", state);
  return result;
}
