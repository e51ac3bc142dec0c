/**
 * The guides say what is: their commands run one after the other as they stand, their programs run, and what
 * they name exists.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rateQuotas, scopeDescriptions } from "#access/viewer.ts";
import { failureKinds } from "#foundation/failure.ts";
import { guideNames, readGuides } from "#pages/docs/guides.ts";
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

/**
 * The commands of a guide, each with the statuses that its requests get: 200, but what stands behind `sh` for
 * the last one.
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
  it("are all shown, and no other", () => {
    const files = readdirSync(new URL("../docs/guides", import.meta.url)).filter((name) =>
      name.endsWith(".md"),
    );
    expect(files.toSorted()).toEqual(guideNames.map((name) => `${name}.md`).toSorted());
    expect(readGuides().map(({ title }) => title)).toContain("Idempotency");
  });

  it.each(guideNames)("%s names only operations, scopes and codes that there are", (name) => {
    const spans = [...textOf(name).matchAll(/`([A-Za-z_:.-]+)`/g)].map(([, span = ""]) => span);
    const operations = spans.filter((span) =>
      /^(?:get|set|list|create|apply|remove|revoke|cancel|replay|describe|search)[A-Z]\w+$/.test(span),
    );
    expect(operations.filter((id) => !operationIds.has(id))).toEqual([]);
    const scopes = spans.filter((span) => /^(?:catalog|checkout|webhooks):\w+$/.test(span));
    expect(scopes.filter((scope) => !(scope in scopeDescriptions))).toEqual([]);
    const codes = [...textOf(name).matchAll(/\b(?:40[0-9]|429) `([a-z_]+)`/g)].map(([, code = ""]) => code);
    expect(codes.filter((code) => !(code in failureKinds))).toEqual([]);
  });

  it.each(guideNames)("%s links to files that there are", (name) => {
    const links = [...textOf(name).matchAll(/\]\(([^)#]+)(?:#[\w-]+)?\)/g)].map(([, href = ""]) => href);
    const missing = links.filter(
      (href) =>
        !href.startsWith("https://") &&
        !existsSync(new URL(href, new URL("../docs/guides/", import.meta.url))),
    );
    expect(missing).toEqual([]);
  });

  it("give the scopes and the quotas that hold", () => {
    const text = textOf("authentication");
    for (const scope of Object.keys(scopeDescriptions))
      expect(text).toMatch(new RegExp(`^\\| \`${scope}\` +\\| to `, "m"));
    for (const [bucket, { quota, windowSeconds }] of Object.entries(rateQuotas)) {
      if (bucket.startsWith("login-fail") || bucket.endsWith("-credential")) continue;
      const window = windowSeconds % 300 === 0 ? `${windowSeconds / 60} min` : `${windowSeconds} s`;
      expect(text).toMatch(new RegExp(`^\\| \`${bucket}\` +\\| ${quota} in ${window} `, "m"));
    }
  });
});

describe("what is to be typed", () => {
  let world: World;
  let address: string;
  beforeAll(async () => {
    world = await createWorld("pglite", { environment: { PORT: "0" } });
    await world.app.server.listen({ host: "127.0.0.1", port: 0 });
    address = `http://127.0.0.1:${(world.app.server.server.address() as AddressInfo).port}`;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(guideNames)("runs as it stands in %s", async (name) => {
    const blocks = commandsOf(textOf(name));
    expect(blocks.length).toBeGreaterThan(0);
    const script = blocks.map(({ commands }) => `${commands}echo "END OF BLOCK" >&2`).join("\n");
    const { statuses } = await runInShell(script.replaceAll("http://127.0.0.1:4000", address), {
      DATA_DIR: demoFolderOf(world),
    });
    const requests = blocks.map(({ commands, lastStatus }) => {
      const count = commands.match(/\bcurl /g)?.length ?? 0;
      return Array.from({ length: count }, (_none, index) => (index === count - 1 ? lastStatus : 200));
    });
    expect(statuses).toEqual(requests.flat());
  });

  it("says of a repeated change that it is one", async () => {
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
