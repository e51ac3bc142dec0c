/**
 * The Fastify plugins of the routes for operators: `/healthz` and `/readyz` for health probes, `/metrics` for
 * Prometheus. If METRICS_TOKEN is set, `/metrics` answers callers that send this token. If it is not set,
 * `/metrics` answers only callers on the same machine whose request did not pass through an unknown proxy.
 * All other callers get 404.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { sql } from "kysely";
import { createFailure } from "#foundation/failure.ts";
import type { Database } from "#database/connect.ts";
import { eventLoopMetricNames, registerEventLoopMetrics } from "./event-loop-metrics.ts";
import {
  mergeProcessMetrics,
  type ChildToParentMetricsConnection,
  type MetricsOfAllProcesses,
} from "./gather-metrics.ts";

/** The options of `metricsPlugin`. */
export interface MetricsPluginOptions {
  /** The value of the setting METRICS_TOKEN; undefined if it is not set. */
  readonly token: string | undefined;
  /**
   * True if the service runs behind configured proxies. The service then trusts the header `X-Forwarded-For`
   * that these proxies send.
   */
  readonly isBehindProxy: boolean;
  readonly contentType: string;
  /** Returns all metrics in the text format of Prometheus. */
  readonly text: () => Promise<string>;
}

/** Serves `/metrics`. */
export const metricsPlugin: FastifyPluginAsync<MetricsPluginOptions> = async (
  server,
  { token, isBehindProxy, contentType, text },
) => {
  const mayRead =
    token === undefined
      ? (request: FastifyRequest) => isFromThisMachine(request, isBehindProxy)
      : hasToken(token);
  server.get("/metrics", {
    onRequest: (request, _reply, done) =>
      done(mayRead(request) ? undefined : createFailure("route_not_found")),
    handler: async (_request, reply) =>
      reply
        .header("cache-control", "no-store")
        .type(contentType)
        .send(await text()),
  });
};

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(address: string | undefined): boolean {
  const version = isIP(address ?? "");
  return address !== undefined && version !== 0 && loopback.check(address, version === 6 ? "ipv6" : "ipv4");
}

/**
 * Returns whether the caller of `/metrics` is on this machine. If an unknown proxy runs on this machine,
 * every caller seems to be local, so requests with headers that proxies add, or with a host name that is not
 * local, are refused. Behind configured proxies, every address in X-Forwarded-For must be local.
 */
function isFromThisMachine({ ip, raw }: FastifyRequest, isBehindProxy: boolean): boolean {
  const { headers, socket } = raw;
  if (!isLoopback(socket.remoteAddress) || !isLoopback(ip) || !isLocalHostName(headers.host)) return false;
  const forwardedFor = headers["x-forwarded-for"];
  if (isBehindProxy && forwardedFor !== undefined)
    return [forwardedFor].flat().every((part) => part.split(",").every((hop) => isLoopback(hop.trim())));
  return !Object.keys(headers).some((name) => proxyHeader.test(name));
}

const proxyHeader = /^(?:via|forwarded|x-real-ip|x-forwarded-.+)$/;

function isLocalHostName(host: string | undefined): boolean {
  const { hostname = "" } = URL.parse(`http://${host ?? ""}`) ?? {};
  return hostname === "localhost" || isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/**
 * Returns the SHA-256 digest of a text. Digests are compared instead of texts, because `timingSafeEqual`
 * requires values of the same length.
 */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

function hasToken(token: string): (request: FastifyRequest) => boolean {
  const expected = digestOf(`Bearer ${token}`);
  return ({ headers: { authorization } }) =>
    authorization !== undefined && timingSafeEqual(digestOf(authorization), expected);
}

interface ExpositionOptions {
  /**
   * The registry of the metrics that the service records itself. The answer of `/metrics` also contains the
   * metrics of the process, for example its memory.
   */
  readonly registry: Registry;
  readonly readQueue: () => Promise<Registry>;
  /**
   * The connection for collecting the metrics of the other processes; undefined if the service has only one
   * process.
   */
  readonly exchange?: ChildToParentMetricsConnection | undefined;
}

interface Exposition {
  readonly contentType: string;
  readonly text: () => Promise<string>;
}

/**
 * Creates an object with the function `text`, which returns the metrics in the format of Prometheus. If the
 * service runs in several processes, the text contains the sum of their metrics.
 */
export function createPrometheusExposition({ registry, readQueue, exchange }: ExpositionOptions): Exposition {
  const own = Registry.merge([registry, processRegistry()]);
  const processes = createProcessGauge();
  exchange?.provide(() => own.getMetricsAsJSON());
  return {
    contentType: own.contentType,
    text: async () => {
      const [gathered, queue] = await Promise.all([exchange?.request(), readQueue()]);
      processes.set(
        exchange === undefined ? { answered: 1, missing: 0 } : (gathered ?? { answered: 1, missing: 1 }),
      );
      const measured = gathered === undefined ? own : await mergeProcessMetrics(gathered.all);
      return Registry.merge([measured, processes.registry, queue]).metrics();
    },
  };
}

interface ProcessGauge {
  readonly registry: Registry;
  readonly set: (processes: Pick<MetricsOfAllProcesses, "answered" | "missing">) => void;
}

function createProcessGauge(): ProcessGauge {
  const registry = new Registry();
  const gauge = new Gauge({
    name: "commerce_processes",
    help:
      "Processes that were started together, by state: answered if their metrics are in this answer, " +
      "missing if they did not answer within one second.",
    labelNames: ["state"],
    registers: [registry],
  });
  return {
    registry,
    set: ({ answered, missing }) => {
      gauge.set({ state: "answered" }, answered);
      gauge.set({ state: "missing" }, missing);
    },
  };
}

let processMetrics: Registry | undefined;

/**
 * Milliseconds between two measurements by which prom-client would measure the event loop's lag. The interval
 * is one hour, because prom-client cannot switch this measurement off and frequent measurements wake an idle
 * process. `event-loop-metrics.ts` measures the lag instead.
 */
const unusedSampleMs = 3_600_000;

/**
 * Returns the metrics of memory, processor, event loop and garbage collection. They are registered once for
 * the process, even if it runs several services.
 */
function processRegistry(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics, eventLoopMonitoringPrecision: unusedSampleMs });
    for (const name of eventLoopMetricNames) processMetrics.removeSingleMetric(name);
    registerEventLoopMetrics(processMetrics);
  }
  return processMetrics;
}

const checkMsMax = 2_000;

interface HealthPluginOptions {
  readonly db: Database;
  /** Returns true if the process is about to stop, so that load balancers should send no new requests. */
  readonly isDraining: () => boolean;
}

/**
 * Serves `/healthz`, which answers while the process runs, and `/readyz`, which answers 200 only if the
 * database answers within 2 s and the process is not about to stop.
 */
export const healthPlugin: FastifyPluginAsync<HealthPluginOptions> = async (server, { db, isDraining }) => {
  server.get("/healthz", { logLevel: "silent" }, (_request, reply) =>
    reply.header("cache-control", "no-store").send({ status: "ok" }),
  );
  server.get("/readyz", async (_request, reply) => {
    const isAnswered = await answersInTime(db);
    const status = isDraining() ? "stopping" : isAnswered ? "ok" : "unavailable";
    return reply
      .code(status === "ok" ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ status, checks: { database: isAnswered ? "ok" : "unavailable" } });
  });
};

/**
 * Returns whether the database answers a query of one table before the timeout. A connection alone would not
 * show that the tables exist. They exist after the migrations, which run before the service listens.
 */
async function answersInTime(db: Database): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), checkMsMax);
  const answered = sql`select 1 from merchant limit 1`.execute(db).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, promise]);
  } finally {
    clearTimeout(timer);
  }
}
