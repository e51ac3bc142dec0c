/**
 * Decides which IP addresses a webhook may be sent to, and resolves host names. Merchants choose the URLs, so
 * every address that is not public unicast is refused. Examples are private networks, link-local addresses,
 * metadata services of cloud providers, and IPv6 addresses that embed an IPv4 address. An IPv4-mapped address
 * (`::ffff:192.0.2.1`) is judged as its IPv4 address.
 */
import { isIP } from "node:net";
import { Resolver } from "node:dns/promises";
import ipaddr from "ipaddr.js";

/**
 * Address ranges to which webhooks must not be sent, although the library `ipaddr.js` classifies them as
 * unicast. These are the platform address of Azure, IPv4-compatible IPv6 addresses, and the NAT64 range for
 * local use (RFC 8215).
 */
const closedRanges = ["168.63.129.16/32", "::/96", "64:ff9b:1::/48"].map((range) => ipaddr.parseCIDR(range));

/**
 * All allocated global unicast IPv6 addresses are in this range (RFC 4291, IANA). Addresses outside this
 * range may be used privately.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

export function isPublicIpAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed === undefined || parsed.range() !== "unicast") return false;
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(globalUnicast)) return false;
  return !closedRanges.some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  );
}

export function isLoopbackIpAddress(address: string): boolean {
  return parse(address)?.range() === "loopback";
}

/**
 * Returns true if the host of a URL names this machine: `localhost`, an address of 127.0.0.0/8, or `::1` with
 * or without brackets. Returns false for all other spellings of these addresses.
 */
export function isLoopbackHost(host: string): boolean {
  return (
    host === "localhost" ||
    host === "[::1]" ||
    host === "::1" ||
    (isIP(host) === 4 && isLoopbackIpAddress(host))
  );
}

/**
 * Returns whether a request to the host may use the IP address. A loopback address is allowed only if the
 * host itself names this machine. A public host name that resolves to a loopback address is refused.
 */
export function isIpAddressAllowedForEndpointHost(
  address: string,
  { host, isLoopbackAllowed }: { readonly host: string; readonly isLoopbackAllowed: boolean },
): boolean {
  if (isLoopbackHost(host)) return isLoopbackAllowed && isLoopbackIpAddress(address);
  return isPublicIpAddress(address);
}

/** Returns whether two texts are the same address; `::ffff:192.0.2.1` equals `192.0.2.1`. */
export function isSameIpAddress(one: string, other: string): boolean {
  const [left, right] = [parse(one), parse(other)];
  return (
    left !== undefined && right !== undefined && left.toNormalizedString() === right.toNormalizedString()
  );
}

/**
 * Parses an address in the standard notation. Returns undefined for any other text, for example `127.1` or an
 * address with a zone (`fe80::1%eth0`).
 */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(address) === 0 || address.includes("%") ? undefined : ipaddr.process(address);
}

/**
 * Returns all IP addresses of a host name; an empty list if the host name has no address. Stops when the
 * signal is aborted.
 */
export type HostNameResolver = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export const resolveHostName: HostNameResolver = async (name, signal) => {
  // The name `localhost` is not looked up in the DNS, as RFC 6761 requires.
  if (name === "localhost") return ["127.0.0.1", "::1"];
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
};

/**
 * Resolves a host name to its IP addresses. Stops waiting when the signal is aborted, even if the resolver
 * ignores the signal. Returns an empty list if the lookup fails or is too slow.
 */
export async function resolveHostNameWithTimeout(
  name: string,
  { resolve, signal }: { readonly resolve: HostNameResolver; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  if (signal.aborted) return [];
  const { promise: isOver, resolve: giveUp } = Promise.withResolvers<readonly string[]>();
  const stop = (): void => giveUp([]);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([resolve(name, signal).catch(() => []), isOver]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
