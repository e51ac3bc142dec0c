/**
 * `/metrics`. Without a token it answers on this machine alone, and not to what a proxy seems to bring from elsewhere; with one, whoever shows it. To
 * all others it is an address like any that does not exist.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { fail } from "#foundation/failure.ts";

export interface MetricsPage {
  /** METRICS_TOKEN. */
  readonly token: string | undefined;
  /** Proxies are known, and who asks through them is known by what they say. */
  readonly isBehindProxy: boolean;
  readonly contentType: string;
  readonly text: () => Promise<string>;
}

export function mountMetrics(server: FastifyInstance, { token, isBehindProxy, contentType, text }: MetricsPage): void {
  const mayRead = token === undefined ? (request: FastifyRequest) => isFromHere(request, isBehindProxy) : showing(token);
  server.get("/metrics", {
    onRequest: (request, _reply, done) => done(mayRead(request) ? undefined : fail("route_not_found")),
    handler: async (_request, reply) =>
      reply
        .header("cache-control", "no-store")
        .type(contentType)
        .send(await text()),
  });
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(address: string | undefined): boolean {
  const version = isIP(address ?? "");
  return address !== undefined && version !== 0 && loopback.check(address, version === 6 ? "ipv6" : "ipv4");
}

/**
 * A proxy on this machine would make everybody a neighbour. One that was not told of gives itself away by its headers or by the name that was asked for,
 * unless it hides both; behind those that are known everybody on the way must be of this machine.
 */
function isFromHere({ ip, raw }: FastifyRequest, isBehindProxy: boolean): boolean {
  const { headers, socket } = raw;
  if (!isLoopback(socket.remoteAddress) || !isLoopback(ip) || !isNameOfHere(headers.host)) return false;
  const way = headers["x-forwarded-for"];
  if (isBehindProxy && way !== undefined) return [way].flat().every((part) => part.split(",").every((hop) => isLoopback(hop.trim())));
  return !Object.keys(headers).some((name) => proxyHeader.test(name));
}

const proxyHeader = /^(?:via|forwarded|x-real-ip|x-forwarded-.+)$/;

function isNameOfHere(host: string | undefined): boolean {
  const { hostname = "" } = URL.parse(`http://${host ?? ""}`) ?? {};
  return hostname === "localhost" || isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** Digests have one length, and comparing them takes one time. */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

function showing(token: string): (request: FastifyRequest) => boolean {
  const expected = digestOf(`Bearer ${token}`);
  return ({ headers: { authorization } }) => authorization !== undefined && timingSafeEqual(digestOf(authorization), expected);
}
