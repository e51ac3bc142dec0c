/** A failed start still exports its traces; the last ones contain the reason. */
import { findFreePort } from "#foundation/free-port.ts";
import { expect, it } from "vitest";
import { parseServiceSettings } from "#app/settings.ts";
import { serveInOneProcess } from "#cli/one-process.ts";
import { createLog } from "#foundation/log.ts";
import { isTracingEnabled } from "#foundation/tracing.ts";
import { startCollector } from "#test/support/collector.ts";

it("a failed start exports its traces if the database is unreachable", async () => {
  await using collector = await startCollector();
  const settings = parseServiceSettings({
    DATABASE_URL: `postgres://nobody@127.0.0.1:${await findFreePort()}/none`,
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    PORT: "0",
  });
  await expect(serveInOneProcess({ settings, role: "gateway", log: createLog("silent") })).rejects.toThrow(
    "ECONNREFUSED",
  );
  expect(isTracingEnabled()).toBe(false);
});
