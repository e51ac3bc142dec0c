/** The webhook guide's receiver, as it is printed there, in a process of its own beside the service: it registers itself and verifies what it is sent. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "#test/support/process.ts";
import { createWorld } from "#test/support/world.ts";

const root = new URL("../", import.meta.url).pathname;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/** Gives all that it has printed. */
function startReceiver(environment: Readonly<Record<string, string>>): () => string {
  const [, program = ""] = /```js receiver\n([\s\S]+?)```/.exec(readFileSync(join(root, "docs/guides/webhooks.md"), "utf8")) ?? [];
  const folder = temporaryFolder();
  writeFileSync(join(folder, "receiver.mjs"), program);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const child: ChildProcess = spawn(process.execPath, ["receiver.mjs"], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  return () => output;
}

it("is told of its own ping, and refuses what nobody signed", async () => {
  await using world = await createWorld("pglite", { environment: { PORT: "0" } });
  // Its library looks at the real clock.
  world.clock.at = new Date();
  await world.app.listen();
  const { port } = world.app.server.server.address() as AddressInfo;
  const PORT = String(await freePort());
  const output = startReceiver({ API: `http://127.0.0.1:${port}`, PORT, KEY: world.demo.keys.full });
  await expect.poll(output, { timeout: 30_000, interval: 20 }).toMatch(/^SECRET whsec_\S+\nwebhook\.ping whe_[0-9a-z]{26} 1\n$/);
  const unsigned = await fetch(`http://127.0.0.1:${PORT}/`, { method: "POST", body: "{}" });
  expect(unsigned.status).toBe(400);
});
