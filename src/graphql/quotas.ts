/**
 * Limits the number of requests per minute to `/graphql`, CSV reports and files of exports, and the cost of
 * their documents in points. Each credential and each merchant has a quota. Neither a single token nor a
 * single merchant can therefore use up the service's CPU time.
 */
import { handleMaybePromise } from "@whatwg-node/promise-helpers";
import type { FastifyReply } from "fastify";
import { getCredentialIdOfViewer, type InternalTokenOrStaffViewer } from "#access/viewer.ts";
import type { GraphqlCostChargeResult, GraphqlCostCharger } from "#graph/limits.ts";
import {
  countRequestAgainstQuota,
  createRateLimitFailure,
  type RateLimiter,
  type RateLimitUsage,
} from "#http/rate-limiter.ts";
import { isBrowserCaller } from "./browser-callers.ts";

interface QuotaCall {
  /** The rate limit key of the caller's network address. */
  readonly address: string;
  readonly viewer: InternalTokenOrStaffViewer;
  readonly limiter: RateLimiter;
}

/**
 * Counts a request against the quotas of its credential and of its merchant. Throws `rate_limited` if one of
 * them is exceeded. The merchant's quota does not count requests beyond the credential's quota. Requests of
 * buyers' browsers are counted by network address in `enforceBrowserOriginAndRateLimit`, because every
 * visitor of a shop can read the publishable token.
 */
export async function countGraphqlRequestAgainstQuotas(
  { viewer, limiter }: Omit<QuotaCall, "address">,
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
 * Creates the function that subtracts the cost of a document from the caller's quotas. Documents of buyers'
 * browsers are counted per network address. The function returns no promise if the limiter does not.
 */
export const createGraphqlCostCharger =
  ({ address, viewer, limiter }: QuotaCall): GraphqlCostCharger =>
  (points) =>
    handleMaybePromise(
      () =>
        isBrowserCaller(viewer)
          ? limiter.consume("graphql-cost-browser", address, points)
          : limiter.consume("graphql-cost", getCredentialIdOfViewer(viewer), points),
      (own) => {
        const merchantKey = getMerchantKey(viewer);
        if (own?.isExceeded === true || merchantKey === undefined) return toPayment(own, undefined);
        return handleMaybePromise(
          () => limiter.consume("graphql-cost-merchant", merchantKey, points),
          (ofMerchant) => toPayment(own, ofMerchant),
        );
      },
    );

/**
 * Returns the key of the merchant's quota; undefined for a credential of the platform. Buyers' browsers have
 * a separate key per merchant. Everyone can send requests with a publishable token, and they must not use up
 * the quota of the merchant's staff and backends.
 */
function getMerchantKey(viewer: InternalTokenOrStaffViewer): string | undefined {
  if (viewer.merchantId === null) return undefined;
  return isBrowserCaller(viewer) ? `browser:${viewer.merchantId}` : viewer.merchantId;
}

/** Describes the quota of which the least is left. Returns undefined if rate limits are switched off. */
function toPayment(
  own: RateLimitUsage | undefined,
  ofMerchant: RateLimitUsage | undefined,
): GraphqlCostChargeResult | undefined {
  const exceeded = [own, ofMerchant].find((state) => state?.isExceeded === true);
  const shown = exceeded ?? getTighterQuota(own, ofMerchant);
  if (shown === undefined) return undefined;
  const { quota, remaining, resetSeconds } = shown;
  return {
    throttleStatus: { maximumAvailable: quota, currentlyAvailable: remaining, resetSeconds },
    refusal: exceeded === undefined ? undefined : createRateLimitFailure("rate_limited", exceeded),
  };
}

function getTighterQuota(
  own: RateLimitUsage | undefined,
  ofMerchant: RateLimitUsage | undefined,
): RateLimitUsage | undefined {
  if (own === undefined || ofMerchant === undefined) return own ?? ofMerchant;
  return ofMerchant.remaining < own.remaining ? ofMerchant : own;
}
