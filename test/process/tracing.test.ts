/**
 * A serving process exports its traces, the last ones when it ends. An unreachable collector does not disturb
 * it.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { randomUUID } from "node:crypto";
import { expect, it, vi } from "vitest";
import { startCollector } from "#test/support/collector.ts";
import { demoPlace } from "#test/support/copies.ts";
import { type Running, startService } from "#test/support/process.ts";

/** Cold starts on a busy machine. */
vi.setConfig({ testTimeout: 180_000 });

async function start(environment: Readonly<Record<string, string>>): Promise<Running> {
  const place = await demoPlace("pglite");
  return startService({ DATA_DIR: place.folder, ...place.environment, ...environment });
}

const products = (address: string): Promise<Response> =>
  fetch(`${address}/api/v1/catalog/merchants/${randomUUID()}/products/none`);

it("the service with tracing exports all spans before it ends, by the standard variables", async () => {
  await using collector = await startCollector();
  const service = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=shop",
    OTEL_SERVICE_NAME: "shop-gateway",
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0",
  });
  const [traceId, spanId] = [randomUUID().replaceAll("-", ""), "00f067aa0ba902b7"];
  const url = `${service.address}/api/v1/catalog/merchants/nobody/products/none`;
  expect((await fetch(url, { headers: { traceparent: `00-${traceId}-${spanId}-01` } })).status).toBe(404);
  expect((await products(service.address)).status).toBe(404);
  // The request body arrives on a connection that belongs to no trace.
  const [, token = ""] = /\(admin\): (\S+)/.exec(service.output()) ?? [];
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${token}`,
    traceparent: `00-${traceId}-${spanId}-01`,
  };
  expect(
    (
      await fetch(`${service.address}/graphql`, {
        method: "POST",
        headers,
        body: '{"query":"{ viewer { role } }"}',
      })
    ).status,
  ).toBe(200);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  // The spans are sent before the process ends, and may be read after that.
  const requests = (): unknown[] => collector.spans.filter(({ kind }) => kind === 2);
  await expect.poll(requests).toMatchObject(
    [404, 200].map((status) => ({
      traceId,
      parentSpanId: spanId,
      service: "shop-gateway",
      attributes: { "http.response.status_code": status },
    })),
  );
  expect(collector.spans.filter(({ name }) => name === "graphql query")).toMatchObject([{ traceId }]);
  expect(
    collector.spans.filter((span) => span.traceId === traceId && span.kind === 3).length,
  ).toBeGreaterThan(0);
  expect(collector.headers()).toMatchObject({ "x-tenant": "shop", "content-type": "application/json" });
});

it("the service with tracing works as usual and logs it if the collector is unreachable", async () => {
  const service = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await findFreePort()}` });
  expect((await products(service.address)).status).toBe(404);
  await expect.poll(() => service.output()).toContain("traces_lost");
  expect((await products(service.address)).status).toBe(404);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

it("the service with tracing refuses to start with an unknown sampler", async () => {
  const starting = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
    OTEL_TRACES_SAMPLER: "sometimes",
  });
  await expect(starting).rejects.toThrow("OTEL_TRACES_SAMPLER must be one of always_on, ");
});
