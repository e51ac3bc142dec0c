/**
 * The guides match the service: their commands succeed in order, their programs run, and everything that they
 * name exists.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { buildSchema } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rateLimitQuotas, scopeDescriptions } from "#access/viewer.ts";
import { failureKinds } from "#foundation/failure.ts";
import { guideNames, readDocsGuides } from "#pages/docs/guides.ts";
import { temporaryFolder } from "./support/process.ts";
import { demoFolderOf, runInShell } from "./support/shell.ts";
import { createWorld, type World } from "./support/world.ts";

const textOf = (name: string): string =>
  readFileSync(new URL(`../docs/guides/${name}.md`, import.meta.url), "utf8");
const contract = JSON.parse(readFileSync(new URL("../schema/openapi.json", import.meta.url), "utf8")) as {
  paths: Record<string, Record<string, { operationId: string }>>;
};
const operationIds = new Set(
  Object.values(contract.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  ),
);

const graph = buildSchema(readFileSync(new URL("../schema/schema.graphql", import.meta.url), "utf8"));
const graphFields = new Set(
  [graph.getQueryType(), graph.getMutationType()].flatMap((type) => Object.keys(type?.getFields() ?? {})),
);

/**
 * Returns the commands of a guide, with the status of the last request, which may follow `sh`; all others
 * must get 200.
 */
function commandsOf(text: string): { commands: string; lastStatus: number }[] {
  return [...text.matchAll(/^```sh(?: (\d+))?\n([\s\S]+?)^```$/gm)].map(
    ([, status = "200", commands = ""]) => ({
      commands,
      lastStatus: Number(status),
    }),
  );
}

describe("the guides", () => {
  it("are all published, and no others", () => {
    const files = readdirSync(new URL("../docs/guides", import.meta.url)).filter((name) =>
      name.endsWith(".md"),
    );
    expect(files.toSorted()).toEqual(guideNames.map((name) => `${name}.md`).toSorted());
    expect(readDocsGuides().map(({ title }) => title)).toContain("Idempotency");
  });

  it.each(guideNames)("%s names only existing operations, scopes and codes", (name) => {
    const spans = [...textOf(name).matchAll(/`([A-Za-z_:.-]+)`/g)].map(([, span = ""]) => span);
    const operations = spans.filter((span) =>
      /^(?:get|set|list|create|apply|remove|revoke|cancel|replay|describe|search)[A-Z]\w+$/.test(span),
    );
    expect(operations.filter((id) => !operationIds.has(id) && !graphFields.has(id))).toEqual([]);
    const scopes = spans.filter((span) => /^(?:catalog|checkout|webhooks):\w+$/.test(span));
    expect(scopes.filter((scope) => !(scope in scopeDescriptions))).toEqual([]);
    const codes = [...textOf(name).matchAll(/\b(?:40[0-9]|429) `([a-z_]+)`/g)].map(([, code = ""]) => code);
    expect(codes.filter((code) => !(code in failureKinds))).toEqual([]);
  });

  it.each(guideNames)("%s links only to existing files", (name) => {
    const links = [...textOf(name).matchAll(/\]\(([^)#]+)(?:#[\w-]+)?\)/g)].map(([, href = ""]) => href);
    const missing = links.filter(
      (href) =>
        !href.startsWith("https://") &&
        !existsSync(new URL(href, new URL("../docs/guides/", import.meta.url))),
    );
    expect(missing).toEqual([]);
  });

  it("state the valid scopes and quotas", () => {
    const text = textOf("authentication");
    for (const scope of Object.keys(scopeDescriptions))
      expect(text).toMatch(new RegExp(`^\\| \`${scope}\` +\\| to `, "m"));
    for (const [bucket, { quota, windowSeconds }] of Object.entries(rateLimitQuotas)) {
      if (bucket.startsWith("login-fail") || bucket.endsWith("-credential")) continue;
      const window = windowSeconds % 300 === 0 ? `${windowSeconds / 60} min` : `${windowSeconds} s`;
      expect(text).toMatch(new RegExp(`^\\| \`${bucket}\` +\\| ${quota} in ${window} `, "m"));
    }
  });
});

describe("the commands of guides", () => {
  let world: World;
  let address: string;
  beforeAll(async () => {
    world = await createWorld("postgres", { environment: { PORT: "0" } });
    // The receiver of the command line's guide uses the real clock.
    world.clock.at = new Date();
    await world.app.listen();
    address = `http://127.0.0.1:${(world.app.server.server.address() as AddressInfo).port}`;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(guideNames)("succeed unchanged in %s", async (name) => {
    const blocks = commandsOf(textOf(name));
    expect(blocks.length).toBeGreaterThan(0);
    const script = blocks.map(({ commands }) => `${commands}echo "END OF BLOCK" >&2`).join("\n");
    const receiverPort = String(await findFreePort("127.0.0.1"));
    const { statuses, output } = await runInShell(
      script.replaceAll("http://127.0.0.1:4000", address).replaceAll("5055", receiverPort),
      { DATA_DIR: demoFolderOf(world), XDG_CONFIG_HOME: temporaryFolder() },
    );
    const requests = blocks.map(({ commands, lastStatus }) => {
      const count = commands.match(/\bcurl /g)?.length ?? 0;
      return Array.from({ length: count }, (_none, index) => (index === count - 1 ? lastStatus : 200));
    });
    // A conditional request gets 304, or 200 if background work has changed a delivery since the first request.
    expect(statuses.map((status) => (status === 304 ? 200 : status))).toEqual(requests.flat());
    if (name === "getting-started")
      expect(output).toMatch(/webhook\.ping whe_\w+ (?:pending|sending|retrying)/);
    if (name === "agents") expect(output).toMatch(/^\{"result":\{"content":/m);
    if (name !== "command-line") return;
    // A webhook was forwarded, and the receiver has verified its signature.
    expect(output).toMatch(/^verified order\.completed ord_/m);
    expect(output).toMatch(/ <-- \[204\] POST http:\/\/127\.0\.0\.1:\d+\/ \[evt_/);
    expect(output).toMatch(/^Trigger succeeded: order\.completed /m);
    expect(output).not.toMatch(/^failed /m);
  });

  it("mark a repeated change as a replay", async () => {
    const blocks = commandsOf(textOf("idempotency"));
    const script = blocks
      .map(({ commands }) => commands)
      .join("\n")
      .replaceAll("http://127.0.0.1:4000", address);
    const { output } = await runInShell(script, { DATA_DIR: demoFolderOf(world) });
    expect([...output.matchAll(/^idempotent-replayed: (\w+)/gim)].map(([, replayed]) => replayed)).toEqual([
      "false",
      "true",
    ]);
  });
});
