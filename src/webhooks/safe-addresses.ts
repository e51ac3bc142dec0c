/**
 * The addresses that a webhook may go to, and the resolution of names. A merchant writes the URL, so every
 * address that is not public unicast is refused: this network, link-local and metadata services, and every
 * way to write an IPv4 address inside an IPv6 one.
 */
import { isIP } from "node:net";
import { Resolver } from "node:dns/promises";
import ipaddr from "ipaddr.js";

/**
 * Public by their number and yet not: Azure's platform address, IPv4-compatible addresses, and the NAT64
 * range that each network uses as it likes.
 */
const closedRanges = ["168.63.129.16/32", "::/96", "64:ff9b:1::/48"].map((range) => ipaddr.parseCIDR(range));

/** All IPv6 that is given out lies in it (RFC 4291, IANA): whatever else there is may be anybody's own. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed === undefined || parsed.range() !== "unicast") return false;
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(globalUnicast)) return false;
  return !closedRanges.some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  );
}

export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === "loopback";
}

/**
 * A host of a URL that names this machine: `localhost`, 127.0.0.0/8 or ::1 with or without its brackets, and
 * no other way to write them.
 */
export function isLoopbackHost(host: string): boolean {
  return (
    host === "localhost" ||
    host === "[::1]" ||
    host === "::1" ||
    (isIP(host) === 4 && isLoopbackAddress(host))
  );
}

/** Loopback is open to a host that says so itself: a name that merely resolves to it stays closed. */
export function isAllowedAddress(
  address: string,
  { host, isLoopbackAllowed }: { readonly host: string; readonly isLoopbackAllowed: boolean },
): boolean {
  if (isLoopbackHost(host)) return isLoopbackAllowed && isLoopbackAddress(address);
  return isPublicAddress(address);
}

/** `::ffff:192.0.2.1` is the same place as `192.0.2.1`. */
export function isSameAddress(one: string, other: string): boolean {
  const [left, right] = [parse(one), parse(other)];
  return (
    left !== undefined && right !== undefined && left.toNormalizedString() === right.toNormalizedString()
  );
}

/** Only the spellings a socket takes as they are; `127.1` or a zone (`fe80::1%eth0`) is no address. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(address) === 0 || address.includes("%") ? undefined : ipaddr.process(address);
}

/** Answers with all addresses, none where the name has none. Gives up when the signal says so. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export const resolveName: ResolveName = async (name, signal) => {
  // Never a question for the network (RFC 6761).
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
 * The same within a time limit, whatever the resolver does about the signal; nothing where it took longer or
 * failed.
 */
export async function resolveInTime(
  name: string,
  { resolve, signal }: { readonly resolve: ResolveName; readonly signal: AbortSignal },
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
