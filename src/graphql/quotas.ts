/**
 * Limits the number of requests per minute to `/graphql`, CSV reports and files of exports, and the cost of
 * their documents in points. Each credential and each merchant has a quota. Neither a single token nor a
 * single merchant can therefore use up the service's CPU time.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { getCredentialIdOfViewer, type InternalTokenOrStaffViewer } from "#access/viewer.ts";
import type { GraphqlCostPayment, GraphqlCostSpender } from "#graph/limits.ts";
import {
  countRequestAgainstQuota,
  createRateLimitFailure,
  type RateLimiter,
  type RateLimitState,
} from "#http/rate-limiter.ts";
import { getRateLimitAddressKey } from "./authenticate.ts";
import { isBrowserCaller } from "./browser-callers.ts";

interface QuotaCall {
  readonly request: FastifyRequest;
  readonly viewer: InternalTokenOrStaffViewer;
  readonly limiter: RateLimiter;
}

/**
 * Counts a request against the quotas of its credential and of its merchant. Throws `rate_limited` if one of
 * them is exceeded. The merchant's quota does not count requests beyond the credential's quota. Requests of
 * buyers' browsers are counted by network address in `enforceBrowserOriginAndRateLimit`, because every
 * visitor of a shop can read the publishable token.
 */
export async function countInternalRequest(
  { viewer, limiter }: Omit<QuotaCall, "request">,
  reply: FastifyReply,
): Promise<void> {
  if (!isBrowserCaller(viewer))
    await countRequestAgainstQuota(limiter, reply, {
      bucket: "graphql",
      key: getCredentialIdOfViewer(viewer),
    });
  const merchantKey = getMerchantKey(viewer);
  if (merchantKey === undefined) return;
  // Only the quota of the credential appears in the rate limit headers of the answer, not the merchant's
  // quota.
  const state = await limiter.consume("graphql-merchant", merchantKey);
  if (state?.isExceeded === true) throw createRateLimitFailure("rate_limited", state);
}

/**
 * Creates the function that subtracts the cost of a document from the quotas of the credential and of its
 * merchant. For documents of buyers' browsers, the quota of the network address replaces that of the
 * credential.
 */
export const createGraphqlCostSpender =
  ({ request, viewer, limiter }: QuotaCall): GraphqlCostSpender =>
  async (points) => {
    const own = isBrowserCaller(viewer)
      ? await limiter.consume("graphql-cost-browser", getRateLimitAddressKey(request), points)
      : await limiter.consume("graphql-cost", getCredentialIdOfViewer(viewer), points);
    const merchantKey = getMerchantKey(viewer);
    if (own?.isExceeded === true || merchantKey === undefined) return toPayment([own]);
    return toPayment([own, await limiter.consume("graphql-cost-merchant", merchantKey, points)]);
  };

/**
 * Returns the key of the merchant's quota; undefined for a credential of the platform. Buyers' browsers have
 * a separate key per merchant. Everyone can send requests with a publishable token, and they must not use up
 * the quota of the merchant's staff and backends.
 */
function getMerchantKey(viewer: InternalTokenOrStaffViewer): string | undefined {
  if (viewer.merchantId === null) return undefined;
  return isBrowserCaller(viewer) ? `browser:${viewer.merchantId}` : viewer.merchantId;
}

/**
 * Returns the state of the exceeded quota, or else of the quota with the fewest remaining points. Returns
 * undefined if rate limits are switched off.
 */
function toPayment(states: readonly (RateLimitState | undefined)[]): GraphqlCostPayment | undefined {
  const [tightest] = states
    .filter((state) => state !== undefined)
    .toSorted((one, other) => one.remaining - other.remaining);
  const exceeded = states.find((state) => state?.isExceeded === true);
  if (tightest === undefined) return undefined;
  const { quota, remaining, resetSeconds } = exceeded ?? tightest;
  return {
    throttleStatus: { maximumAvailable: quota, currentlyAvailable: remaining, resetSeconds },
    refusal: exceeded === undefined ? undefined : createRateLimitFailure("rate_limited", exceeded),
  };
}
