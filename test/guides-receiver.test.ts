/**
 * Runs the webhook guide's receiver as printed in a separate process beside the service: it registers itself
 * and verifies webhooks.
 */
import { findFreePort } from "#foundation/free-port.ts";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { startGuideProgram } from "#test/support/guide-program.ts";
import { createWorld } from "#test/support/world.ts";

it("the guide's receiver accepts its ping, and refuses unsigned requests", async () => {
  await using world = await createWorld("postgres", { environment: { PORT: "0" } });
  // The receiver's library uses the real clock.
  world.clock.at = new Date();
  await world.app.listen();
  const { port } = world.app.server.server.address() as AddressInfo;
  const PORT = String(await findFreePort("127.0.0.1"));
  const output = startGuideProgram(
    { guide: "webhooks.md", name: "receiver" },
    { API: `http://127.0.0.1:${port}`, PORT, KEY: world.demo.keys.full },
  );
  await expect
    .poll(output, { timeout: 30_000, interval: 20 })
    .toMatch(/^SECRET whsec_\S+\nwebhook\.ping whe_[0-9a-z]{26} 1\n$/);
  const unsigned = await fetch(`http://127.0.0.1:${PORT}/`, { method: "POST", body: "{}" });
  expect(unsigned.status).toBe(400);
});
