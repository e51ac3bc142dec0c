/**
 * The services that the checkout page uses: GraphQL documents that run with the rights of the session's
 * buyer, the rules for addresses, and rate limits.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { parse } from "graphql";
import type { RateLimitBucket, CheckoutBuyerViewer } from "#access/viewer.ts";
import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import type { Database } from "#database/connect.ts";
import type { IdempotentRequestRunner } from "#database/idempotency.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import { Failure, type FailureDetail } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import { createGraphqlContext, type GraphqlServices } from "#graph/context.ts";
import { toClientAddressKey } from "#http/caller.ts";
import { createRateLimitFailure, type RateLimiter, countRequestAgainstQuota } from "#http/rate-limiter.ts";
import { markAsBuiltInGraphqlDocument } from "#mesh/contract-schema.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";
import type { GraphqlDocumentRunner } from "#mesh/run.ts";

interface CheckoutDocumentRequest {
  readonly viewer: CheckoutBuyerViewer;
  readonly requestId: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Executes one compiled GraphQL document and returns the value of its only root field. If the field has an
 * error, throws its failure.
 */
export type CheckoutGraphqlDocumentRunner = <Value>(
  request: CheckoutDocumentRequest,
  transaction?: Transaction,
) => Promise<Value>;

export type AddressFormFieldName =
  | "recipientName"
  | "company"
  | "line1"
  | "line2"
  | "line3"
  | "district"
  | "city"
  | "regionCode"
  | "postalCode"
  | "countryCode"
  | "phone"
  | "email";

export type EnteredAddressFormFields = Readonly<Partial<Record<AddressFormFieldName, string>>>;

/** Rate limits of the checkout page. Each function throws `rate_limited` if its limit is exceeded. */
interface CheckoutLimits {
  readonly takeAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /**
   * Throws if the caller has requested too many checkout pages with a wrong secret in the URL. Must be called
   * before the page reveals that a secret is wrong.
   */
  readonly requireSecretsLeft: (request: FastifyRequest) => Promise<void>;
  readonly countWrongSecret: (request: FastifyRequest) => Promise<void>;
  /**
   * Throws if too many wrong promotion codes were sent for the cart or from the IP address. Must be called
   * before a code is applied. `countWrongCode` then counts the code if it is wrong.
   */
  readonly requireCodesLeft: (request: FastifyRequest, cartId: string) => Promise<void>;
  readonly countWrongCode: (request: FastifyRequest, cartId: string) => Promise<void>;
}

export interface CheckoutServices {
  readonly db: Database;
  /**
   * Decrypts the address and e-mail of a checkout session, which are shown only to the browser that entered
   * them.
   */
  readonly keyring: EncryptionKeyring;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: string;
  readonly events: InProcessEventEmitter;
  readonly doOnce: IdempotentRequestRunner;
  /** Compiles a GraphQL document that has exactly one root field. */
  readonly compile: (document: string) => CheckoutGraphqlDocumentRunner;
  /** Validates an address by the strict rules of its country, and returns the faults. */
  readonly addressFaults: (address: EnteredAddressFormFields) => readonly FailureDetail[];
  readonly limits: CheckoutLimits;
}

export interface CheckoutPluginOptions {
  readonly services: GraphqlServices;
  readonly run: GraphqlDocumentRunner;
  readonly limiter: RateLimiter;
  readonly log: Log;
}

export const createCheckoutServices = ({
  services,
  run,
  limiter,
  log,
}: CheckoutPluginOptions): CheckoutServices => ({
  db: services.db,
  keyring: services.keyring,
  clock: services.clock,
  publicUrl: services.publicUrl,
  events: services.events,
  log,
  doOnce: services.doOnce,
  compile: (document) => runnerOf(document, run, services),
  addressFaults,
  limits: createLimits(limiter),
});

/** Executes one GraphQL document of the checkout page with the rights of the checkout session's buyer. */
function runnerOf(
  text: string,
  run: GraphqlDocumentRunner,
  services: GraphqlServices,
): CheckoutGraphqlDocumentRunner {
  const document = markAsBuiltInGraphqlDocument(parse(text), "A document of the checkout page");
  return async <Value>(
    { viewer, requestId, variables }: Parameters<CheckoutGraphqlDocumentRunner>[0],
    transaction?: Parameters<CheckoutGraphqlDocumentRunner>[1],
  ) => {
    const { data, errors } = await run(
      document,
      createGraphqlContext(services, { viewer, requestId }, transaction),
      { variables },
    );
    const [error] = errors ?? [];
    if (error !== undefined) throw getFailureOfGraphqlError(error);
    return Object.values(data ?? {})[0] as Value;
  };
}

function addressFaults(address: EnteredAddressFormFields): readonly FailureDetail[] {
  try {
    normalizeAndValidateAddress(address, "strict");
    return [];
  } catch (error) {
    if (error instanceof Failure) return error.parts.details ?? [];
    throw error;
  }
}

type Counted = readonly [bucket: RateLimitBucket, key: string];

const secrets = ({ ip }: FastifyRequest): readonly Counted[] => [
  ["auth-fail", `checkout:${toClientAddressKey(ip)}`],
];
// The checkout page and the REST API use the same counter of wrong promotion codes per cart, so that the
// limit applies to both together.
const codes = ({ ip }: FastifyRequest, cartId: string): readonly Counted[] => [
  ["promo-fail", cartId],
  ["promo-fail-credential", `checkout:${toClientAddressKey(ip)}`],
];

function createLimits(limiter: RateLimiter): CheckoutLimits {
  const requireLeft = async (counted: readonly Counted[]): Promise<void> => {
    for (const [bucket, key] of counted) {
      const state = await limiter.peek(bucket, key);
      if (state !== undefined && state.remaining === 0) throw createRateLimitFailure("rate_limited", state);
    }
  };
  const count = async (counted: readonly Counted[]): Promise<void> => {
    let exceeded: Error | undefined;
    for (const [bucket, key] of counted) {
      const state = await limiter.consume(bucket, key);
      if (state?.isExceeded === true) exceeded = createRateLimitFailure("rate_limited", state);
    }
    // Several concurrent attempts to apply a promotion code can all pass the check of the limit before one of
    // them is counted. An attempt that is counted above the limit gets only the rate limit error, which does
    // not show whether the code was right.
    if (exceeded !== undefined) throw exceeded;
  };
  return {
    takeAddress: async (request, reply) =>
      countRequestAgainstQuota(limiter, reply, { bucket: "anon-read", key: toClientAddressKey(request.ip) }),
    requireSecretsLeft: (request) => requireLeft(secrets(request)),
    countWrongSecret: (request) => count(secrets(request)),
    requireCodesLeft: (request, cartId) => requireLeft(codes(request, cartId)),
    countWrongCode: (request, cartId) => count(codes(request, cartId)),
  };
}
