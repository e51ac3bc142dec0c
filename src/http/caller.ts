/**
 * Identifies the caller of a request: its network address and its credential. Wrong credentials are counted
 * per address, and wrong passwords per address and account, so that guessing is limited.
 */
import type { FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import {
  addWwwAuthenticateChallenges,
  type WwwAuthenticateChallengeOptions,
  authSchemes,
  type BearerOrDpopScheme,
} from "#access/authorization.ts";
import { createFailure, Failure } from "#foundation/failure.ts";
import type { RateLimitBucket } from "#access/viewer.ts";
import type { StaffLoginRateLimiter } from "#access/people/staff-sessions.ts";
import {
  createMissingCredentialsFailure,
  describeMalformedAuthorizationHeader,
} from "./missing-credentials.ts";
import { createRateLimitFailure, type RateLimiter } from "./rate-limiter.ts";

/**
 * Returns the values of all header lines with the given name. For several lines, Node's `request.headers`
 * contains only the first one, or all of them joined to one text.
 */
export function getHttpHeaderValues(request: FastifyRequest, name: string): string[] {
  const lines: string[] = [];
  if (request.headers[name] === undefined) return lines;
  const { rawHeaders } = request.raw;
  for (let index = 1; index < rawHeaders.length; index += 2) {
    const shown = rawHeaders[index - 1] ?? "";
    if (shown.length === name.length && shown.toLowerCase() === name) lines.push(rawHeaders[index] ?? "");
  }
  return lines;
}

/**
 * Matches the value of an Authorization header: a scheme, for example Bearer, and one credential in the
 * syntax token68 (RFC 9110 section 11.6.2).
 */
const authorizationForm = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) +([0-9A-Za-z._~+/-]+=*)$/;

export interface ParsedAuthorizationHeader {
  readonly scheme: BearerOrDpopScheme;
  readonly token: string;
}

/**
 * Parses the Authorization header; returns undefined if the request has none. Throws if the request has
 * several such headers, if the scheme is unknown, or if the credential is not in the syntax token68.
 */
export function parseAuthorizationHeader(values: readonly string[]): ParsedAuthorizationHeader | undefined {
  const [value, second] = values;
  if (value === undefined) return undefined;
  if (second !== undefined)
    throw createFailure("credentials_malformed", { message: "There is more than one Authorization header." });
  const [, name, token] = authorizationForm.exec(value.trim()) ?? [];
  const scheme = authSchemes.find((known) => known === name?.toLowerCase());
  if (scheme === undefined || token === undefined)
    throw createFailure("credentials_malformed", {
      message: describeMalformedAuthorizationHeader(value.trim()),
    });
  return { scheme, token };
}

/**
 * How the credentials of requests to one route are verified. `RequestFacts` is the type of the additional
 * data of a request (besides its Authorization header) that `verify` needs.
 */
export interface RouteAuthenticationOptions<RequestFacts, Viewer> extends WwwAuthenticateChallengeOptions {
  readonly limiter: RateLimiter;
  readonly verify: (authorization: ParsedAuthorizationHeader, facts: RequestFacts) => Promise<Viewer>;
}

/**
 * Returns the viewer of a request's credential. A wrong credential is counted as a failed attempt of the
 * caller's IP address; a missing credential is not. After too many failed attempts, wrong credentials of the
 * address are refused with another error, but valid credentials are still accepted.
 */
export async function authenticateRequest<RequestFacts, Viewer>(
  request: FastifyRequest,
  facts: RequestFacts,
  route: RouteAuthenticationOptions<RequestFacts, Viewer>,
): Promise<Viewer> {
  let authorization: ParsedAuthorizationHeader | undefined;
  try {
    authorization = parseAuthorizationHeader(getHttpHeaderValues(request, "authorization"));
    if (authorization === undefined) throw createMissingCredentialsFailure(request, route.schemes);
    return await route.verify(authorization, facts);
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 401) throw error;
    if (error.code !== "credentials_missing" && !error.code.endsWith("_suspended")) {
      const state = await route.limiter.consume("auth-fail", toClientAddressKey(request.ip));
      if (state?.isExceeded === true) throw createRateLimitFailure("too_many_failed_attempts", state);
    }
    throw addWwwAuthenticateChallenges(error, route, authorization?.scheme);
  }
}

/**
 * Maximum number of IP addresses in the cache of address keys. A small cache is enough, because most requests
 * come from the same addresses.
 */
const knownAddressesMax = 1_000;
/** Maximum number of characters of an IP address. Longer texts are not IP addresses and are not cached. */
const addressLengthMax = 45;
const addressKeys = new LRUCache<string, string>({ max: knownAddressesMax });

/**
 * Returns the key by which anonymous callers are counted: the IPv4 address, or the /64 network of an IPv6
 * address.
 */
export function toClientAddressKey(address: string): string {
  let key = addressKeys.get(address);
  if (key !== undefined) return key;
  key = createAddressKey(address);
  if (address.length <= addressLengthMax) addressKeys.set(address, key);
  return key;
}

function createAddressKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/**
 * Returns the client's IP address. Without proxies, this is the address of the socket. Behind n proxies, this
 * is the n-th address from the right in the header X-Forwarded-For. Clients can invent all addresses to the
 * left of it.
 */
export function getClientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  proxies: number,
): string {
  if (proxies === 0 || forwardedFor === undefined) return socketAddress ?? "unknown";
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  return withoutPort(hops[hops.length - proxies] ?? socketAddress ?? "unknown");
}

/**
 * Removes the port from an address in X-Forwarded-For. Some proxies write `192.0.2.7:5678` or
 * `[2001:db8::1]:443`. With the port, every connection of a caller would count as a different caller.
 */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([^:]*):\d+$/.exec(hop)?.[1] ?? hop;
}

/**
 * Limits attempts with wrong passwords by IP address and by account. The authorization server and the console
 * share the counters. Attempts from an address that is over its quota are not counted for the account,
 * because a caller could name any number of accounts. Attempts above a quota do not extend the time window.
 */
export function createStaffLoginRateLimiter(limiter: RateLimiter): StaffLoginRateLimiter {
  const secondsLeft = async (bucket: RateLimitBucket, key: string): Promise<number | undefined> => {
    const state = await limiter.consume(bucket, key);
    return state?.isExceeded === true ? state.resetSeconds : undefined;
  };
  return {
    take: async ({ account, address }) => {
      const key = toClientAddressKey(address);
      const addressSecondsLeft = await secondsLeft("login-fail-address", key);
      if (addressSecondsLeft !== undefined) return addressSecondsLeft;
      const accountSecondsLeft = await secondsLeft("login-fail", account);
      if (accountSecondsLeft !== undefined) await limiter.giveBack("login-fail-address", key);
      return accountSecondsLeft;
    },
    subtract: async ({ account, address }) => {
      await limiter.giveBack("login-fail-address", toClientAddressKey(address));
      await limiter.giveBack("login-fail", account);
    },
  };
}
