/** `npm start` under a process manager: signals reach the service. */
import { expect, it } from "vitest";
import { demoPlace } from "#test/support/copies.ts";
import { startByNpm } from "#test/support/process.ts";

it("npm start stops in order when npm gets a signal, and leaves no process behind", async () => {
  const service = await startByNpm({ DATA_DIR: (await demoPlace("pglite")).folder });
  expect((await fetch(`${service.address}/healthz`)).status).toBe(200);
  expect(await service.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(service.output()).toContain('"signal":"SIGTERM"');
  await expect(fetch(`${service.address}/healthz`)).rejects.toThrow("fetch failed");
});
