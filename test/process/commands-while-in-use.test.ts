/**
 * Commands on an embedded database that another process uses. A command is sent at once to a service that
 * accepts commands, and waits for any other process.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findFreePort } from "#foundation/free-port.ts";
import { migratedFolder } from "#test/support/copies.ts";
import { type Ended, runHere } from "#test/support/process.ts";

const source = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href;

/**
 * Locks the folder in another process, which writes `commands.json` when it reads a port, and ends with its
 * input.
 */
const lockingProcess = (folder: string): string => `
  import { lockDataFolder } from "${source("database/folder-lock.ts")}";
  import { writeCommandServerPortAndSecret } from "${source("cli/command-file.ts")}";
  lockDataFolder(${JSON.stringify(folder)});
  console.log("locked");
  for await (const port of process.stdin)
    writeCommandServerPortAndSecret(${JSON.stringify(folder)}, { port: Number(port), secret: "secret" });
  process.exit();`;

interface Used {
  readonly folder: string;
  /** Runs a command, and counts how often it has tried to lock the folder. */
  readonly list: () => Promise<Ended>;
  readonly attempts: () => number;
  /** Makes the other process write that it accepts commands at the port. */
  readonly accept: (port: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

async function useFolder(): Promise<Used> {
  const folder = await migratedFolder();
  const child = spawn(process.execPath, ["--input-type=module", "--eval", lockingProcess(folder)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  let attempts = 0;
  const watcher = watch(folder, (_event, name) => {
    // Each attempt creates a file of this name and deletes it.
    if (name === `lock.${process.pid}`) attempts += 0.5;
  });
  onTestFinished(() => watcher.close());
  return {
    folder,
    list: () => runHere(["key", "list", "--json"], { DATA_DIR: folder }),
    attempts: () => Math.floor(attempts),
    accept: async (port) => {
      child.stdin.write(String(port));
      await expect.poll(() => existsSync(join(folder, "commands.json"))).toBe(true);
    },
    end: async () => {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

/** Starts a server that answers commands like the service. Returns its port and the number of its commands. */
async function startCommandServer(): Promise<{ readonly port: number; readonly count: () => number }> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    const lines = [{ stream: "stdout", text: "from the service" }, { exitCode: 3 }];
    response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  onTestFinished(() => void server.close());
  const port = await findFreePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { port, count: () => count };
}

const fromService = { code: 3, stdout: "from the service", stderr: "" };
const fromDatabase = { code: 0, stdout: "[]\n", stderr: "" };

it("a command is sent at once to a service that accepts commands", async () => {
  const [used, service] = [await useFolder(), await startCommandServer()];
  await used.accept(service.port);
  expect(await used.list()).toEqual(fromService);
  expect(used.attempts()).toBeLessThanOrEqual(1);
});

it("a command waits for a service that is starting, and is sent when the service accepts it", async () => {
  const [used, service] = [await useFolder(), await startCommandServer()];
  const running = used.list();
  await expect.poll(used.attempts).toBeGreaterThan(3);
  await used.accept(service.port);
  expect(await running).toEqual(fromService);
});

it("a command waits for another command, also if a killed service has left its file", async () => {
  const [used, service] = [await useFolder(), await startCommandServer()];
  const left = { port: service.port, secret: "secret", owner: { pid: process.ppid, startedAt: "1" } };
  writeFileSync(join(used.folder, "commands.json"), JSON.stringify(left));
  const running = used.list();
  await expect.poll(used.attempts).toBeGreaterThan(3);
  await used.end();
  expect(await running).toEqual(fromDatabase);
  expect(service.count()).toBe(0);
});

it("a command waits for the end of a service that no longer accepts it", async () => {
  const used = await useFolder();
  await used.accept(await findFreePort());
  const running = used.list();
  await expect.poll(used.attempts).toBeGreaterThan(3);
  await used.end();
  expect(await running).toEqual(fromDatabase);
});
