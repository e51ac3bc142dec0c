/** The checkout page with what it needs: the graph as the buyer of one session, the rules of addresses, and the limiters. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { parse } from "graphql";
import type { Bucket } from "#access/limits.ts";
import { addressForm } from "#commerce/addresses/address-form.ts";
import { checkAddress } from "#commerce/addresses/check-address.ts";
import { findSessionPage, holdSessionPage } from "#commerce/checkout/session-page.ts";
import { Failure, type FailureDetail } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import { addressKey } from "#http/caller.ts";
import { limitFailure, type RateLimiter, takeOne } from "#http/rate-limiter.ts";
import { refuseOtherMethods } from "#http/server.ts";
import { createContext, type GraphServices } from "#graph/context.ts";
import { ownDocument } from "#mesh/compile-document.ts";
import { failureOfError } from "#mesh/public-error.ts";
import type { Run } from "#mesh/run.ts";
import { mountCheckout } from "./checkout-door.ts";
import type { CheckoutLimits, RunField, TypedAddress } from "./checkout-services.ts";

export interface CheckoutRoomParts {
  readonly services: GraphServices;
  readonly run: Run;
  readonly limiter: RateLimiter;
  readonly log: Log;
}

export function mountCheckoutRoom(server: FastifyInstance, { services, run, limiter, log }: CheckoutRoomParts): void {
  const { db, clock, publicUrl } = services;
  const routes = mountCheckout(server, {
    db,
    clock,
    publicUrl,
    log,
    doOnce: services.doOnce,
    compile: (document) => runnerOf(document, run, services),
    findPage: findSessionPage,
    holdPage: holdSessionPage,
    addressForm,
    addressFaults,
    limits: createLimits(limiter),
  });
  for (const [path, methods] of routes) refuseOtherMethods(server, path, methods);
}

/** Runs one document of the page as the buyer of its session. */
function runnerOf(text: string, run: Run, services: GraphServices): RunField {
  const document = ownDocument(parse(text), "A document of the checkout page");
  return async <Value>({ viewer, requestId, variables }: Parameters<RunField>[0], transaction?: Parameters<RunField>[1]) => {
    const { data, errors } = await run(document, createContext(services, { viewer, requestId }, transaction), { variables });
    const [error] = errors ?? [];
    if (error !== undefined) throw failureOfError(error);
    return Object.values(data ?? {})[0] as Value;
  };
}

function addressFaults(address: TypedAddress): readonly FailureDetail[] {
  try {
    checkAddress(address, "strict");
    return [];
  } catch (error) {
    if (error instanceof Failure) return error.parts.details ?? [];
    throw error;
  }
}

type Counted = readonly [bucket: Bucket, key: string];

const secrets = ({ ip }: FastifyRequest): readonly Counted[] => [["auth-fail", `checkout:${addressKey(ip)}`]];
// Those of the cart are counted together with those that are tried over REST.
const codes = ({ ip }: FastifyRequest, cartId: string): readonly Counted[] => [
  ["promo-fail", cartId],
  ["promo-fail-credential", `checkout:${addressKey(ip)}`],
];

function createLimits(limiter: RateLimiter): CheckoutLimits {
  const requireLeft = async (counted: readonly Counted[]): Promise<void> => {
    for (const [bucket, key] of counted) {
      const state = await limiter.peek(bucket, key);
      if (state !== undefined && state.remaining === 0) throw limitFailure("rate_limited", state);
    }
  };
  const count = async (counted: readonly Counted[]): Promise<void> => {
    let exceeded: Error | undefined;
    for (const [bucket, key] of counted) {
      const state = await limiter.consume(bucket, key);
      if (state?.isExceeded === true) exceeded = limitFailure("rate_limited", state);
    }
    // Of many at once, one that comes too late learns no more than that.
    if (exceeded !== undefined) throw exceeded;
  };
  return {
    takeAddress: async (request, reply) => takeOne(limiter, reply, { bucket: "anon-read", key: addressKey(request.ip) }),
    requireSecretsLeft: (request) => requireLeft(secrets(request)),
    countWrongSecret: (request) => count(secrets(request)),
    requireCodesLeft: (request, cartId) => requireLeft(codes(request, cartId)),
    countWrongCode: (request, cartId) => count(codes(request, cartId)),
  };
}
