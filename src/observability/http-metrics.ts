/** How many requests there were, of what, with which end, and how long they took. What is labelled is prepared at a route's first request. */
import type { FastifyReply } from "fastify";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RouteConfig, ServerObserver } from "#http/server.ts";

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Route {
  readonly count: (status: number, code: string | null) => void;
  readonly observe: (seconds: number) => void;
}

export function createHttpMetrics(registry: Registry): ServerObserver {
  const routeOf = createRoutes(registry);
  return {
    began: createPassage(registry, ({ failureCode, routeOptions }, { statusCode }) => routeOf(routeOptions.config).count(statusCode, failureCode)),
    answered: ({ failureCode }, reply, config) => {
      const { count, observe } = routeOf(config);
      count(reply.statusCode, failureCode);
      if (!isStream(reply)) observe(reply.elapsedTime / 1000);
    },
  };
}

/** By the object that Fastify has for each route: nothing of the request is looked at. */
function createRoutes(registry: Registry): (config: RouteConfig) => Route {
  const registers = [registry];
  const requests = new Counter({
    name: "commerce_http_requests_total",
    help: "Requests answered, by operation (or the route's template), status, and the failure's code.",
    labelNames: ["operation", "status", "code"],
    registers,
  });
  const durations = new Histogram({
    name: "commerce_http_request_duration_seconds",
    help: "How long requests took until the answer was given away. Subscriptions are not among them.",
    labelNames: ["operation"],
    buckets: durationBuckets,
    registers,
  });
  const routes = new Map<RouteConfig, Route>();
  const prepare = (operation: string): Route => {
    const child = durations.labels(operation);
    const counters = new Map<string, () => void>();
    const counterOf = (status: number, code: string | null): (() => void) => {
      const counter = requests.labels(operation, String(status), code ?? "none");
      return () => counter.inc();
    };
    return {
      observe: (seconds) => child.observe(seconds),
      count: (status, code) => {
        const name = code === null ? String(status) : `${status} ${code}`;
        let counter = counters.get(name);
        if (counter === undefined) counters.set(name, (counter = counterOf(status, code)));
        counter();
      },
    };
  };
  return (config) => {
    let route = routes.get(config);
    if (route === undefined) routes.set(config, (route = prepare(config.operationId ?? config.url ?? "unknown")));
    return route;
  };
}

/** Who is inside, and who left before there was an answer. Whoever leaves in the midst of one, as subscriptions are left, was answered. */
function createPassage(registry: Registry, countLeft: ServerObserver["began"]): ServerObserver["began"] {
  const registers = [registry];
  const inFlight = new Gauge({
    name: "commerce_http_requests_in_flight",
    help: "Requests that are being answered, open subscriptions among them.",
    registers,
  });
  const aborted = new Counter({
    name: "commerce_http_requests_aborted_total",
    help: "Requests whose caller went away before there was an answer.",
    registers,
  });
  return (request, reply) => {
    inFlight.inc();
    reply.raw.once("close", () => {
      inFlight.dec();
      // What was given away whole is told by `answered`.
      if (reply.raw.writableEnded) return;
      if (reply.raw.headersSent) countLeft(request, reply);
      else aborted.inc();
    });
  };
}

/** A subscription lasts as long as somebody listens. */
function isStream(reply: FastifyReply): boolean {
  const type = reply.getHeader("content-type");
  return typeof type === "string" && type.startsWith("text/event-stream");
}
