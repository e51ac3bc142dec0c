/**
 * `@modelcontextprotocol/conformance`, the conformance suite of the MCP project, against the MCP server and
 * the authorization server. Every scenario passes, except those of conformance-exemptions.ts.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBrowser, createPerson, signInAndAllow } from "#test/oauth/people.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { register } from "./agents.ts";
import { exemptScenarios } from "./conformance-exemptions.ts";
import type { ProtocolEra } from "./mcp-client.ts";

const root = new URL("../../", import.meta.url);
const command = new URL("node_modules/@modelcontextprotocol/conformance/dist/index.js", root).pathname;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Returns the checks of each scenario from the result files, by the name of the scenario. */
function readResults(folder: string): ReadonlyMap<string, readonly Check[]> {
  return new Map(
    readdirSync(folder).map((name) => [
      name.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, ""),
      JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[],
    ]),
  );
}

let world: World;
let base: string;
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
beforeAll(async () => {
  const port = await findFreePort();
  base = `http://127.0.0.1:${port}`;
  world = await createWorld("postgres", { environment: { PUBLIC_URL: base } });
  await world.app.server.listen({ port, host: "127.0.0.1" });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world[Symbol.asyncDispose]();
});

describe.each(["2025-11-25", "2026-07-28"] as const satisfies ProtocolEra[])("the protocol %s", (era) => {
  it("passes every server scenario that needs no content of the suite's test server", async () => {
    const results = join(folder, era);
    await promisify(execFile)(
      process.execPath,
      [command, "server", "--url", `${base}/mcp`, "--requirements", era, "--output-dir", results],
      { cwd: folder, maxBuffer: 2 ** 26 },
      // The exit code is 1, because the scenarios with the suite's own content fail.
    ).catch((error: unknown) => error);
    const checks = readResults(results);
    const failed = [...checks]
      .filter(([, found]) => found.some(({ status }) => status === "FAILURE"))
      .map(([name]) => name);
    const exempt = exemptScenarios[era].flatMap(({ scenarios }) => scenarios);
    expect(failed.toSorted()).toEqual(exempt.toSorted());
    expect(checks.size).toBeGreaterThan(30);
    const passed = [...checks.values()].flat().filter(({ status }) => status === "SUCCESS");
    expect(passed.length).toBeGreaterThan(era === "2025-11-25" ? 30 : 90);
  }, 180_000);

  it("lists every scenario that does not apply in the guide", () => {
    const guide = readFileSync(new URL("docs/guides/agents.md", root), "utf8").replaceAll(/\s+/g, " ");
    for (const { reason, scenarios } of exemptScenarios[era]) {
      expect(guide).toContain(reason);
      for (const name of scenarios) expect(guide).toContain(`\`${name}\``);
    }
  });
});

describe("the stateless scenario of 2026-07-28", () => {
  it("fails only in checks that need tools of the test server or a subscription", () => {
    const checks = readResults(join(folder, "2026-07-28")).get("server-stateless") ?? [];
    expect(checks.filter(({ status }) => status === "FAILURE").map(({ id }) => id)).toEqual([
      "sep-2575-server-rejects-undeclared-capability",
      "sep-2575-missing-capability-http-400",
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-server-no-log-without-loglevel",
      "sep-2575-server-sends-subscription-ack",
      "sep-2575-server-tags-subscription-id",
    ]);
  });
});

describe("the authorization server", () => {
  it("passes the scenarios for metadata and for the authorization code of a registered agent", async () => {
    const port = await findFreePort();
    const { body: client } = await register(world, {
      client_name: "Conformance",
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
    });
    const results = join(folder, "authorization");
    const args = ["--url", base, "--client-id", client.client_id, "--resource", `${base}/mcp`];
    const child = spawn(
      process.execPath,
      [command, "authorization", ...args, "--port", String(port), "--output-dir", results],
      { cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
    );
    const exited = once(child, "exit");
    for await (const line of createInterface(child.stdout)) {
      if (!line.startsWith(`${base}/oauth/authorize?`)) continue;
      const { email } = await createPerson(world);
      // The suite sends `state` but no `scope`, so all scopes are requested.
      const answer = await signInAndAllow(createBrowser(world), line, { email, scopes: ["catalog:read"] });
      await fetch(answer);
    }
    expect(await exited).toEqual([0, null]);
    const checks = [...readResults(results).values()].flat();
    expect(checks.filter(({ status }) => status !== "SUCCESS" && status !== "INFO")).toEqual([]);
    expect(checks.map(({ id }) => id)).toContain("authorization-code-grant");
  }, 180_000);
});
