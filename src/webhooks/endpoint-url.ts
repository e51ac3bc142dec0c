/**
 * Checks the URLs of webhook endpoints. A URL must have the scheme https and a public host name; in test
 * mode, receivers on this machine may be allowed. The form of a URL is checked before any row is read. The IP
 * addresses of the host name are checked twice: by this file before the transaction, and again at each
 * connection (`safe-connector.ts`).
 */
import { LRUCache } from "lru-cache";
import type { FailureDetail } from "#foundation/failure.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import {
  isLoopbackHost,
  isPublicIpAddress,
  resolveHostNameWithTimeout,
  type HostNameResolver,
  resolveHostName,
} from "./safe-addresses.ts";

export interface EndpointUrlCheckOptions {
  /**
   * True if receivers on this machine are allowed: the setting WEBHOOK_ALLOW_LOOPBACK is on and the merchant
   * is in test mode.
   */
  readonly isLoopbackAllowed: boolean;
}

export const endpointUrlLengthMax = 2048;
const nameLengthMax = 253;

const specialUse = ["localhost", "local", "internal", "home.arpa", "lan", "onion", "test", "invalid"];
const name = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Matches the beginning of a URL as the client wrote it: its scheme, and the part from `//` to the path. */
const written = /^(https?):\/\/([^/?#\\]+)/i;
const literal = /^\[|^[\d.]+$/;

export function findEndpointUrlFaults(url: string, rules: EndpointUrlCheckOptions): readonly FailureDetail[] {
  const parsed = parse(url);
  if (url.length > endpointUrlLengthMax)
    return [fault("too_long", `A URL may have ${endpointUrlLengthMax} characters at most.`)];
  if (parsed === undefined)
    return [fault("malformed_url", "The URL is not a complete URL: https://, a name, and a path.")];
  if (parsed.url.href.length > endpointUrlLengthMax)
    return [fault("too_long", `Percent-encoded it has more than ${endpointUrlLengthMax} characters.`)];
  const isLoopback = isLoopbackHost(parsed.url.hostname) && rules.isLoopbackAllowed;
  return [...formFaults(parsed), ...(isLoopback ? loopbackFaults(parsed) : publicFaults(parsed))];
}

/**
 * Returns the normalized form of a URL, which is the same for different spellings of the same URL. The caller
 * must have checked that the URL has no faults.
 */
export function normalizeEndpointUrl(url: string): string {
  return new URL(url).href;
}

export interface HostNameResolutionOptions extends EndpointUrlCheckOptions {
  readonly resolve?: HostNameResolver;
  readonly timeoutMs?: number;
}

/**
 * Returns the faults of a URL whose host name has an IP address that is not public. A host name without an
 * address or with a slow lookup has no fault here; the deliveries to it may fail later. The caller must have
 * checked the form of the URL before.
 */
export async function findNonPublicHostAddressFaults(
  url: string,
  { isLoopbackAllowed, resolve = resolveHostName, timeoutMs = 2000 }: HostNameResolutionOptions,
): Promise<readonly FailureDetail[]> {
  const { hostname } = new URL(url);
  if (isLoopbackAllowed && isLoopbackHost(hostname)) return [];
  const addresses = await resolveHostNameWithTimeout(hostname, {
    resolve,
    signal: AbortSignal.timeout(timeoutMs),
  });
  return addresses.every(isPublicIpAddress)
    ? []
    : [fault("resolves_inside", "The name resolves to an address that is not public.")];
}

interface Parsed {
  readonly url: URL;
  /** The part of the URL between `//` and the path, as the client wrote it. */
  readonly authority: string;
}

/**
 * Parses a URL. Returns undefined if the parser of Node would have to correct the URL, for example remove
 * line breaks, replace backslashes or repair the scheme.
 */
function parse(url: string): Parsed | undefined {
  const authority = written.exec(url)?.[2];
  if (
    authority === undefined ||
    !isTextWithoutForbiddenCharacters(url) ||
    /[\s\\]/.test(url) ||
    !URL.canParse(url)
  )
    return undefined;
  return { url: new URL(url), authority };
}

function formFaults({ url, authority }: Parsed): readonly FailureDetail[] {
  return [
    ...(authority.includes("@")
      ? [fault("userinfo_not_allowed", "The URL must not have a user name or a password.")]
      : []),
    ...(url.href.includes("#") ? [fault("fragment_not_allowed", "The URL must not have a fragment.")] : []),
  ];
}

function publicFaults({ url, authority }: Parsed): readonly FailureDetail[] {
  const faults = hostFaults(url.hostname, authority);
  if (url.protocol !== "https:")
    return [fault("https_required", "The URL must start with https://."), ...faults];
  const isOpen = url.port === "" || Number(url.port) >= 1024;
  return isOpen
    ? faults
    : [...faults, fault("port_not_allowed", "Its port must be 443 or from 1024 to 65535.")];
}

function hostFaults(host: string, authority: string): readonly FailureDetail[] {
  if (literal.test(host))
    return [fault("ip_literal_not_allowed", "The URL must have a name, not an IP address.")];
  if (specialUse.some((suffix) => isUnder(host, suffix)))
    return [fault("special_use_name", "Its name belongs to a domain that is not public.")];
  if (!host.includes("."))
    return [fault("single_label", "Its name must have a domain: a single label is not public.")];
  if (host.length > nameLengthMax || !name.test(host))
    return [fault("malformed_host", "Its host is not a well-formed name.")];
  return canonicalFaults(host, authority);
}

/**
 * Refuses a host that Node's URL parser changes (`%65xample.com`, full-width letters), because other parsers
 * may read a different host from the same URL. Upper case is allowed.
 */
function canonicalFaults(host: string, authority: string): readonly FailureDetail[] {
  const hostWritten = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/, "");
  if (hostWritten.toLowerCase() === host) return [];
  return [fault("host_not_canonical", `Its host must be written as it is read: ${host}.`)];
}

function loopbackFaults({ url, authority }: Parsed): readonly FailureDetail[] {
  const faults = canonicalFaults(url.hostname, authority);
  return Number(url.port) >= 1024
    ? faults
    : [...faults, fault("port_not_allowed", "A port of this machine must be from 1024 to 65535.")];
}

function isUnder(host: string, suffix: string): boolean {
  const bare = host.replace(/\.$/, "");
  return bare === suffix || bare.endsWith(`.${suffix}`);
}

function fault(code: string, message: string): FailureDetail {
  return { in: "body", field: "/url", code, message };
}

/**
 * Checks the IP addresses of the host names of new endpoint URLs. Callers use it before the transaction,
 * because DNS lookups are slow.
 */
export interface EndpointHostNameChecker {
  /**
   * Returns the faults of the IP addresses of the URL's host name. The addresses are cached for 15 seconds.
   * Never rejects.
   */
  readonly faultsOf: (url: string) => Promise<readonly FailureDetail[]>;
}

const keptMs = 15_000;
const namesMax = 1_000;

export function createEndpointHostNameChecker(
  resolve: HostNameResolver = resolveHostName,
): EndpointHostNameChecker {
  const found = new LRUCache<string, readonly FailureDetail[]>({ max: namesMax, ttl: keptMs });
  return {
    faultsOf: async (url) => {
      // A URL with an invalid form is refused for its form, so its host name is not looked up.
      if (findEndpointUrlFaults(url, { isLoopbackAllowed: true }).length > 0) return [];
      const { hostname } = new URL(url);
      const known = found.get(hostname);
      if (known !== undefined) return known;
      const faults = await findNonPublicHostAddressFaults(url, { isLoopbackAllowed: true, resolve });
      found.set(hostname, faults);
      return faults;
    },
  };
}
