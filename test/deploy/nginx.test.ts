/**
 * The shipped nginx configuration in front of fake gateways: which requests it repeats, which client headers
 * it sends, and what it hides. test/process/scale-out.test.ts uses real gateways. Needs nginx.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { createServer, get, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { failureKinds } from "#foundation/failure.ts";
import { createHttpSender } from "#soak/service.ts";
import type { HttpRequest } from "#soak/shop.ts";
import { hasNginx, nginx, startBalancer, writeBalancer } from "#test/support/balancer.ts";

if (!hasNginx)
  process.stderr.write(
    "test/deploy/nginx.test.ts is skipped: nginx is not installed (Debian: nginx-light).\n",
  );

interface Seen {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Gateways extends AsyncDisposable {
  readonly ports: readonly number[];
  readonly seen: Seen[];
}

/** Starts two gateways that record requests together. They read `losses` requests without answering them. */
async function startGateways({
  losses = 0,
  answer,
}: { losses?: number; answer?: RequestListener } = {}): Promise<Gateways> {
  const seen: Seen[] = [];
  const servers = [1, 2].map(() =>
    createServer(async (incoming, reply) => {
      seen.push({ url: incoming.url, headers: incoming.headers, body: await text(incoming) });
      if (seen.length <= losses) incoming.socket.destroy();
      else if (answer === undefined) reply.end("done");
      else answer(incoming, reply);
    }).listen(0, "127.0.0.1"),
  );
  await Promise.all(servers.map((server) => once(server, "listening")));
  return {
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    seen,
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

describe.runIf(hasNginx)("the load balancer", () => {
  it("has a configuration that nginx accepts, within a container's limit of 1024 open files", async () => {
    const { folder, args } = writeBalancer({ port: await findFreePort(), gateways: [4000, 4001] });
    const limited = ["-c", 'ulimit -Sn 1024 && exec "$0" "$@"', nginx, "-t", ...args];
    const { stderr } = await promisify(execFile)("sh", limited).finally(() =>
      rmSync(folder, { recursive: true }),
    );
    expect(stderr).toContain("test is successful");
    expect(stderr).not.toMatch(/\[(warn|error|emerg)\]/);
  });

  const key: Record<string, string> = { "idempotency-key": "once" };
  const rest = "/api/v1/thing?a=b%2Fc";
  it.each<
    [string, Pick<HttpRequest, "method" | "url">, Record<string, string>, { status: number; times: number }]
  >([
    ["a read", { method: "GET", url: rest }, {}, { status: 200, times: 2 }],
    ["a PUT with its key", { method: "PUT", url: rest }, key, { status: 200, times: 2 }],
    ["a DELETE with its key", { method: "DELETE", url: rest }, key, { status: 200, times: 2 }],
    ["a POST with its key", { method: "POST", url: rest }, key, { status: 200, times: 2 }],
    ["no POST without one", { method: "POST", url: rest }, {}, { status: 502, times: 1 }],
    ["a page", { method: "GET", url: "/docs" }, {}, { status: 200, times: 2 }],
    // This operation's key is an argument; the header alone does not prevent a second effect.
    [
      "no POST to the graph, whatever its headers say",
      { method: "POST", url: "/graphql" },
      key,
      { status: 502, times: 1 },
    ],
    ["nor to what leads there", { method: "POST", url: "/api/../graphql" }, key, { status: 502, times: 1 }],
    [
      "no POST to the token endpoint",
      { method: "POST", url: "/oauth/token" },
      key,
      { status: 502, times: 1 },
    ],
  ])(
    "repeats a request that one gateway lost at the other: %s",
    async (_what, { method, url }, headers, { status, times }) => {
      await using gateways = await startGateways({ losses: 1 });
      await using balancer = await startBalancer(gateways.ports);
      const body = method === "GET" ? undefined : '{"a":1}';
      const answered = await createHttpSender(balancer.port)({ method, url, headers, body });
      expect(answered.status).toBe(status);
      const sent = gateways.seen.map((request) => [
        request.url,
        request.headers["idempotency-key"],
        request.body,
      ]);
      expect(sent).toEqual(
        Array.from({ length: times }, () => [url, headers["idempotency-key"], body ?? ""]),
      );
    },
  );

  it("forwards the one client address that it saw, and the requested host", async () => {
    await using gateways = await startGateways();
    await using balancer = await startBalancer(gateways.ports);
    const headers = { "x-forwarded-for": "192.0.2.1, 192.0.2.2", host: "api.shop.example:8443" };
    await createHttpSender(balancer.port, "127.0.0.9")({ method: "GET", url: "/", headers, body: undefined });
    expect(gateways.seen[0]?.headers).toMatchObject({
      "x-forwarded-for": "127.0.0.9",
      host: "api.shop.example:8443",
    });
  });

  it.each(["/metrics", "/metrics?a=b", "/metrics/", "//metrics", "/%6Detrics", "/docs/../metrics"])(
    "answers 404 for internal routes: %s",
    async (url) => {
      await using gateways = await startGateways();
      await using balancer = await startBalancer(gateways.ports);
      const { status, text: body } = await createHttpSender(balancer.port)({
        method: "GET",
        url,
        headers: {},
        body: undefined,
      });
      expect({ status, ...JSON.parse(body) }).toMatchObject({
        status: 404,
        error: { code: "route_not_found" },
      });
      expect(gateways.seen).toEqual([]);
    },
  );

  it("sends its own errors in the service's format", async () => {
    await using gateways = await startGateways();
    await using balancer = await startBalancer(gateways.ports);
    const [away, other] = [await findFreePort(), await findFreePort()];
    await using alone = await startBalancer([away, other]);
    const large = await createHttpSender(balancer.port)({
      method: "POST",
      url: "/graphql",
      headers: {},
      body: " ".repeat(8 * 1024 * 1024 + 1),
    });
    const lost = await createHttpSender(alone.port)({
      method: "GET",
      url: "/",
      headers: {},
      body: undefined,
    });
    for (const [answered, status, code] of [
      [large, 413, "request_too_large"],
      [lost, 502, "service_unavailable"],
    ] as const) {
      expect(answered.status).toBe(status);
      expect(answered.headers["content-type"]).toBe("application/json");
      const retryAfterSeconds = code === "service_unavailable" ? 1 : null;
      expect(answered.headers["retry-after"]).toBe(retryAfterSeconds === null ? undefined : "1");
      expect(JSON.parse(answered.text)).toEqual({
        error: {
          code,
          message: failureKinds[code].text,
          requestId: expect.stringMatching(/^nginx_[0-9a-f]{32}$/),
          retryable: retryAfterSeconds !== null,
          retryAfterSeconds,
          details: [],
          conflict: null,
          docUrl: `/docs/errors#${code}`,
        },
      });
    }
    expect(gateways.seen).toEqual([]);
  });

  it("logs a request with the id that the gateway gave it, or with an id of its own", async () => {
    await using gateways = await startGateways({
      answer: ({ url }, reply) => {
        if (url === "/known") reply.setHeader("x-request-id", "req_of_the_gateway");
        reply.end("done");
      },
    });
    await using balancer = await startBalancer(gateways.ports);
    const send = createHttpSender(balancer.port);
    for (const url of ["/known", "/unknown"])
      await send({ method: "GET", url, headers: {}, body: undefined });
    const lines = (): unknown[] =>
      readFileSync(balancer.accessLog, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line): unknown => JSON.parse(line));
    await expect.poll(lines).toEqual([
      expect.objectContaining({ path: "/known", requestId: "req_of_the_gateway" }),
      expect.objectContaining({
        path: "/unknown",
        requestId: expect.stringMatching(/^nginx_[0-9a-f]{32}$/),
      }),
    ]);
  });

  it("passes streams on without buffering", async () => {
    const over = Promise.withResolvers<void>();
    await using gateways = await startGateways({
      answer: (_request, reply) => {
        reply
          .writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" })
          .write("data: first\n\n");
        void over.promise.then(() => reply.end("data: last\n\n"));
      },
    });
    await using balancer = await startBalancer(gateways.ports);
    const call = get({ host: "127.0.0.1", port: balancer.port, path: "/graphql" });
    const [response] = (await once(call, "response")) as [NodeJS.ReadableStream];
    const [first] = (await once(response, "data")) as [Buffer];
    expect(String(first)).toBe("data: first\n\n");
    over.resolve();
    expect(await text(response)).toBe("data: last\n\n");
  });
});
