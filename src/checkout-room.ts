/** The checkout page with what it needs: the graph as the buyer of one session, the rules of addresses, and the limiters. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type ExecutionResult, type GraphQLSchema, parse } from "graphql";
import type { Bucket } from "#access/limits.ts";
import { addressForm } from "#commerce/addresses/address-form.ts";
import { checkAddress } from "#commerce/addresses/check-address.ts";
import { findSessionPage, holdSessionPage } from "#commerce/checkout/session-page.ts";
import type { DoOnce } from "#database/idempotency.ts";
import { Failure, type FailureDetail, toFailure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import { addressKey } from "#gateway/client-address.ts";
import { compileDocument, type RunDocument } from "#gateway/compile-document.ts";
import { limitFailure, takeOne } from "#gateway/limit.ts";
import type { RateLimiter } from "#gateway/rate-limiter.ts";
import { refuseOtherMethods } from "#gateway/server.ts";
import { createContext, type GraphServices } from "#graph/context.ts";
import { mountCheckout } from "#web/checkout/checkout-door.ts";
import type { CheckoutLimits, RunField, TypedAddress } from "#web/checkout/checkout-services.ts";

export interface CheckoutRoomParts {
  readonly services: GraphServices;
  /** The graph as REST spells it. */
  readonly respelled: GraphQLSchema;
  readonly limiter: RateLimiter;
  readonly doOnce: DoOnce;
  readonly log: Log;
}

export function mountCheckoutRoom(server: FastifyInstance, { services, respelled, limiter, doOnce, log }: CheckoutRoomParts): void {
  const { db, clock, publicUrl } = services;
  const routes = mountCheckout(server, {
    db,
    clock,
    publicUrl,
    log,
    doOnce,
    compile: (document) => runnerOf(document, respelled, services),
    findPage: findSessionPage,
    holdPage: holdSessionPage,
    addressForm,
    addressFaults,
    limits: createLimits(limiter),
  });
  for (const [path, methods] of routes) refuseOtherMethods(server, path, methods);
}

/** Compiled when it is first asked for: most processes never show the page. */
function runnerOf(text: string, respelled: GraphQLSchema, services: GraphServices): RunField {
  let run: RunDocument | undefined;
  return async <Value>({ viewer, requestId, variables }: Parameters<RunField>[0], transaction?: Parameters<RunField>[1]) => {
    run ??= compileDocument(respelled, parse(text), "the checkout page");
    const result: ExecutionResult = await run(createContext(services, { viewer, requestId }, transaction), variables);
    const [error] = result.errors ?? [];
    if (error !== undefined) throw toFailure(error);
    return Object.values(result.data ?? {})[0] as Value;
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
