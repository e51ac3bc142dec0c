/** The key under which an anonymous caller is counted: the IPv4 address, or the /64 that an IPv6 address lies in. */
import ipaddr from "ipaddr.js";

export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/** The socket's address, or with n proxies in front the n-th from the right of X-Forwarded-For: what is left of that, clients can invent. */
export function clientAddress(socketAddress: string | undefined, forwardedFor: string | undefined, proxies: number): string {
  if (proxies === 0 || forwardedFor === undefined) return socketAddress ?? "unknown";
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  return withoutPort(hops[hops.length - proxies] ?? socketAddress ?? "unknown");
}

/** Some proxies write `192.0.2.7:5678` or `[2001:db8::1]:443`: the port would make every connection a caller of its own. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([^:]*):\d+$/.exec(hop)?.[1] ?? hop;
}
