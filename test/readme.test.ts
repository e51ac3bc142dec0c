/**
 * README says what is: its request gives its answer, and it names every setting, command, script, operation
 * and layer, and none that is gone.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { settingNames } from "#app/settings.ts";
import { createProgram } from "#cli/run.ts";
import { demoFolderOf } from "./support/shell.ts";
import { createWorld, type World } from "./support/world.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const contract = JSON.parse(readFileSync(new URL("../schema/openapi.json", import.meta.url), "utf8")) as {
  paths: Record<string, Record<string, { operationId: string }>>;
};

describe("README", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld("pglite");
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("shows a request and what it really answers", async () => {
    const path = /curl 'http:\/\/127\.0\.0\.1:4000(\/api\/v1\/search[^']+)'/.exec(readme)?.[1] ?? "";
    const shown: unknown = JSON.parse(/```json\n([\s\S]+?)```/.exec(readme)?.[1] ?? "");
    const { status, body } = await world.get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject(shown as object);
  });

  it("shows a subscription that runs as it stands", async () => {
    const blocks = [...readme.matchAll(/```sh\n([\s\S]+?)```/g)].map(([, text = ""]) => text);
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
    // With the curl that it has begun, which would go on for an hour.
    onTestFinished(async () => {
      if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL");
      await ended;
    });
    await expect
      .poll(() => output, { timeout: 30_000 })
      .toMatch(
        /data: \{"data":\{"cartChanged":\{"status":"ACTIVE","version":\d+,"totals":\{"total":\{"amountMinor":\d+/,
      );
  });

  it("names every setting, and no other", () => {
    const table = readme.slice(readme.indexOf("## Settings"), readme.indexOf("## Commands"));
    const named = [...table.matchAll(/`([A-Z][A-Z_]{3,})`/g)].map(([, name]) => String(name));
    expect([...new Set(named)].toSorted()).toEqual(settingNames.toSorted());
  });

  it("names every command, with what it can do, and every script but the one that npm asks for itself", async () => {
    const told = readme.slice(readme.indexOf("## Commands"), readme.indexOf("## Where to begin"));
    const { commands } = await createProgram(undefined);
    for (const command of commands) {
      const parts = new RegExp(`\\b${command.name()} ([a-z|]+)\``).exec(told)?.[1]?.split("|") ?? [];
      expect(told).toMatch(new RegExp(`\`${command.name()}[\` ]`));
      expect(parts.toSorted(), command.name()).toEqual(
        command.commands.map((part) => part.name()).toSorted(),
      );
    }
    const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const name of Object.keys(scripts).filter((script) => script !== "prepare"))
      expect(readme).toMatch(new RegExp(`npm (run )?${name}\\b(?!:)`));
  });

  it("names every operation there is, with its method and path", () => {
    const table = readme.replaceAll(/ +/g, " ");
    for (const [path, methods] of Object.entries(contract.paths)) {
      for (const [method, { operationId }] of Object.entries(methods))
        expect(table).toContain(`| \`${operationId}\` | \`${method.toUpperCase()} ${path}\` |`);
    }
  });

  it("has a line for every layer", () => {
    const list = /^## Layers$[^]*?^##/m.exec(readme)?.[0] ?? "";
    const layers = readdirSync(new URL("../src", import.meta.url), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    for (const { name } of layers) expect(list).toContain(`${name}/`);
  });
});
