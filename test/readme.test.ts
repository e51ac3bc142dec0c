/**
 * README.md and the reference documents match the code: the request of README.md returns the answer shown,
 * and settings, commands, npm scripts, operations and layers are listed completely.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { settingNames } from "#app/settings.ts";
import { createCommandLineProgram } from "#cli/run.ts";
import { demoFolderOf } from "./support/shell.ts";
import { createWorld, type World } from "./support/world.ts";

const readDocument = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const readme = readDocument("README.md");
const contract = JSON.parse(readFileSync(new URL("../schema/openapi.json", import.meta.url), "utf8")) as {
  paths: Record<string, Record<string, { operationId: string }>>;
};

describe("the documents", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("README.md shows a request with the answer that the service gives", async () => {
    const path = /curl 'http:\/\/127\.0\.0\.1:4000(\/api\/v1\/search[^']+)'/.exec(readme)?.[1] ?? "";
    const shown: unknown = JSON.parse(/```json\n([\s\S]+?)```/.exec(readme)?.[1] ?? "");
    const { status, body } = await world.get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject(shown as object);
  });

  it("docs/guides/graphql.md shows a subscription that runs unchanged", async () => {
    const blocks = [...readDocument("docs/guides/graphql.md").matchAll(/```bash\n([\s\S]+?)```/g)].map(
      ([, text = ""]) => text,
    );
    const block = blocks.find((text) => text.includes("cartChanged")) ?? "";
    const folder = mkdtempSync(join(tmpdir(), "readme-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    cpSync(demoFolderOf(world), join(folder, ".data"), { recursive: true });
    await world.app.server.listen({ host: "127.0.0.1", port: 0 });
    const address = `http://127.0.0.1:${(world.app.server.server.address() as AddressInfo).port}`;
    const shell = spawn("bash", ["-euc", block.replaceAll("http://127.0.0.1:4000", address)], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const ended = once(shell, "exit");
    let output = "";
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    // Kills the curl process too, which would continue for an hour.
    onTestFinished(async () => {
      if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL");
      await ended;
    });
    await expect
      .poll(() => output)
      .toMatch(
        /data: \{"data":\{"cartChanged":\{"status":"ACTIVE","version":\d+,"totals":\{"total":\{"amountMinor":\d+/,
      );
  });

  it("docs/settings.md lists every setting, and no other", () => {
    const rows = readDocument("docs/settings.md")
      .split("\n")
      .filter((line) => line.startsWith("| `"));
    const named = rows.flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, name]) => String(name)),
    );
    expect(named.toSorted()).toEqual(settingNames.toSorted());
  });

  it("docs/commands.md lists every command and subcommand, and npm scripts except prepare", async () => {
    const document = readDocument("docs/commands.md");
    const rows = document.split("\n").filter((line) => line.startsWith("| `"));
    const cells = rows.map((row) => (row.split("|")[1] ?? "").replaceAll("`", "").trim());
    const { commands } = await createCommandLineProgram(undefined);
    for (const command of commands) {
      const cell = cells.find((text) => text.split(" ")[0] === command.name());
      const parts = cell?.split(" ").slice(1).join("").split(",").filter(Boolean) ?? [];
      expect(cell, command.name()).toBeDefined();
      expect(parts.toSorted(), command.name()).toEqual(
        command.commands.map((part) => part.name()).toSorted(),
      );
    }
    const { scripts } = JSON.parse(readDocument("package.json")) as { scripts: Record<string, string> };
    for (const name of Object.keys(scripts).filter((script) => script !== "prepare"))
      expect(
        cells.some((cell) => new RegExp(`^npm (run )?${name}( |$)`).test(cell)),
        name,
      ).toBe(true);
  });

  it("README.md lists every operation with its method and path", () => {
    const table = readme.replaceAll(/ +/g, " ");
    for (const [path, methods] of Object.entries(contract.paths)) {
      for (const [method, { operationId }] of Object.entries(methods))
        expect(table).toContain(`| \`${operationId}\` | \`${method.toUpperCase()} ${path}\` |`);
    }
  });

  it("README.md has a line for every layer", () => {
    const list = readme.slice(readme.indexOf("## Layers"));
    const layers = readdirSync(new URL("../src", import.meta.url), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    for (const { name } of layers) expect(list).toContain(`${name}/`);
  });
});
