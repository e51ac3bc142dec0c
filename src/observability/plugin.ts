/**
 * The routes for operators: `/healthz` and `/readyz` for probes, `/metrics` for Prometheus. Without
 * METRICS_TOKEN, `/metrics` answers only callers of this machine, and none that came through an unknown
 * proxy; with the token, every caller that sends it. All other callers get a 404.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { sql } from "kysely";
import { refuseOtherMethods } from "#http/server.ts";
import { fail } from "#foundation/failure.ts";
import type { Database } from "#database/connect.ts";
import { sumMetrics, type MetricsExchange, type GatheredMetrics } from "./gather-metrics.ts";

export interface MetricsOptions {
  /** METRICS_TOKEN. */
  readonly token: string | undefined;
  /** Proxies are known, and who asks through them is known by what they say. */
  readonly isBehindProxy: boolean;
  readonly contentType: string;
  readonly text: () => Promise<string>;
}

export const metricsPlugin: FastifyPluginAsync<MetricsOptions> = async (
  server,
  { token, isBehindProxy, contentType, text },
) => {
  const mayRead =
    token === undefined ? (request: FastifyRequest) => isFromHere(request, isBehindProxy) : showing(token);
  server.get("/metrics", {
    onRequest: (request, _reply, done) => done(mayRead(request) ? undefined : fail("route_not_found")),
    handler: async (_request, reply) =>
      reply
        .header("cache-control", "no-store")
        .type(contentType)
        .send(await text()),
  });
  refuseOtherMethods(server, "/metrics", ["GET"]);
};

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(address: string | undefined): boolean {
  const version = isIP(address ?? "");
  return address !== undefined && version !== 0 && loopback.check(address, version === 6 ? "ipv6" : "ipv4");
}

/**
 * A proxy on this machine would make everybody a neighbour. One that was not told of gives itself away by its
 * headers or by the name that was asked for, unless it hides both; behind those that are known everybody on
 * the way must be of this machine.
 */
function isFromHere({ ip, raw }: FastifyRequest, isBehindProxy: boolean): boolean {
  const { headers, socket } = raw;
  if (!isLoopback(socket.remoteAddress) || !isLoopback(ip) || !isNameOfHere(headers.host)) return false;
  const way = headers["x-forwarded-for"];
  if (isBehindProxy && way !== undefined)
    return [way].flat().every((part) => part.split(",").every((hop) => isLoopback(hop.trim())));
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
  return ({ headers: { authorization } }) =>
    authorization !== undefined && timingSafeEqual(digestOf(authorization), expected);
}

interface ExpositionParts {
  /** What the service measures. */
  readonly registry: Registry;
  readonly readQueue: () => Promise<Registry>;
  /** Where there are others. */
  readonly exchange?: MetricsExchange | undefined;
}

interface Exposition {
  readonly contentType: string;
  readonly text: () => Promise<string>;
}

/** The text that Prometheus reads: the metrics of this process, or of all processes of this start. */
export function createMetricsExposition({ registry, readQueue, exchange }: ExpositionParts): Exposition {
  const own = Registry.merge([registry, processRegistry()]);
  const crew = createCrewGauge();
  exchange?.give(() => own.getMetricsAsJSON());
  return {
    contentType: own.contentType,
    text: async () => {
      const [gathered, queue] = await Promise.all([exchange?.ask(), readQueue()]);
      crew.show(
        exchange === undefined ? { answered: 1, missing: 0 } : (gathered ?? { answered: 1, missing: 1 }),
      );
      const measured = gathered === undefined ? own : await sumMetrics(gathered.all);
      return Registry.merge([measured, crew.registry, queue]).metrics();
    },
  };
}

interface CrewGauge {
  readonly registry: Registry;
  readonly show: (processes: Pick<GatheredMetrics, "answered" | "missing">) => void;
}

function createCrewGauge(): CrewGauge {
  const registry = new Registry();
  const gauge = new Gauge({
    name: "commerce_processes",
    help: "Processes of this start: those whose metrics are in this answer, and those that did not give theirs within a second.",
    labelNames: ["state"],
    registers: [registry],
  });
  return {
    registry,
    show: ({ answered, missing }) => {
      gauge.set({ state: "answered" }, answered);
      gauge.set({ state: "missing" }, missing);
    },
  };
}

let processMetrics: Registry | undefined;

/**
 * Memory, processor, event loop and garbage collection of the process: one registry for all services that it
 * runs.
 */
function processRegistry(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics, eventLoopMonitoringPrecision: 20 });
  }
  return processMetrics;
}

const checkMsMax = 2_000;

/** `/healthz`: the process lives. `/readyz`: it can serve, because its database answers. */
export const healthPlugin: FastifyPluginAsync<{ readonly db: Database }> = async (server, { db }) => {
  server.get("/healthz", { logLevel: "silent" }, (_request, reply) =>
    reply.header("cache-control", "no-store").send({ status: "ok" }),
  );
  server.get("/readyz", async (_request, reply) => {
    const isReady = await answersInTime(db);
    return reply
      .code(isReady ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ status: isReady ? "ok" : "unavailable", checks: { database: isReady ? "ok" : "unavailable" } });
  });
  for (const path of ["/healthz", "/readyz"]) refuseOtherMethods(server, path, ["GET"]);
};

/** Migrations are applied before anything listens, so a table of theirs that answers says both. */
async function answersInTime(db: Database): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), checkMsMax);
  const asked = sql`select 1 from merchant limit 1`.execute(db).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([asked, promise]);
  } finally {
    clearTimeout(timer);
  }
}
