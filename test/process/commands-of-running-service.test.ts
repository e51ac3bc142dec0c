/**
 * Commands work while the service runs on the embedded database: the service runs them and streams their
 * output. Without the secret of `commands.json`, the service runs nothing.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { demoPlace } from "#test/support/copies.ts";
import { runCommand, runHere, useService } from "#test/support/process.ts";

const { folder } = await demoPlace("pglite");
const environment = { DATA_DIR: folder, LOG_LEVEL: "info" };
const filePath = join(environment.DATA_DIR, "commands.json");
const read = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;

async function readJson(start: typeof runCommand, ...args: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await start([...args, "--json"], environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, string>;
}

describe("with a running service on the embedded database", () => {
  const service = useService(environment);

  const identityStatus = async (key: string): Promise<number> =>
    (
      await fetch(`${service().address}/api/v1/open/identity`, {
        headers: { authorization: `Bearer ${key}` },
      })
    ).status;

  it("key create and key revoke take effect in the service at once, and are in the audit log", async () => {
    const [{ installationId }] = (await readJson(runHere, "key", "list")) as unknown as [
      { installationId: string },
    ];
    const { id = "", key = "" } = await readJson(
      runCommand,
      "key",
      "create",
      "--installation",
      installationId,
      "--name",
      "x",
    );
    expect(await identityStatus(key)).toBe(200);
    expect(await readJson(runCommand, "key", "revoke", id)).toEqual({ id, revoked: true });
    expect(await identityStatus(key)).toBe(401);
    const { stdout } = await runHere(["audit", "export"], environment);
    const actions = stdout.split("\r\n").filter((line) => line.includes(id));
    expect(actions.map((line) => line.split(",")[5])).toEqual(["apiKeyCreate", "apiKeyRevoke"]);
  });

  it("a failure has the same text and exit code as without the service", async () => {
    expect(await runHere(["key", "revoke", "key_none"], environment)).toEqual({
      code: 1,
      stdout: "",
      stderr: "There is no API key with this id.\n",
    });
  });

  it("staff create reads the password from standard input", async () => {
    const { merchants } = read(join(environment.DATA_DIR, "demo.json")) as {
      merchants: { first: { id: string } };
    };
    const args = ["--merchant", merchants.first.id, "--email", "cli@shop.example", "--name", "Cli"];
    const { PATH, HOME } = process.env;
    const main = new URL("../../src/main.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [main, "staff", "create", ...args, "--password-stdin", "--json"], {
      env: { PATH, HOME, ...environment },
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end("a long password that a person typed\n");
    const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
    expect(JSON.parse(output)).toMatchObject({ email: "cli@shop.example" });
    expect(output).not.toContain("password");
  });

  it("seed adds data through the service", async () => {
    expect(await readJson(runHere, "seed", "--products", "3")).toMatchObject({ products: 3 });
  });

  // Both wait some seconds for the folder.
  it.concurrent("migrate says that it needs the database for itself", async () => {
    const { code, stdout, stderr } = await runCommand(["migrate"], environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /is in use by process \d+: stop it.* The service itself applies pending migrations/,
    );
  });

  it.concurrent("a second service is refused", async () => {
    const { code, stderr } = await runCommand(["serve"], environment);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/is in use by process \d+/) as string,
    });
  });

  it("only the owner of the folder can read the secret, and a request without it runs nothing", async () => {
    expect(statSync(filePath).mode & 0o777).toBe(0o600);
    const { port, secret } = read(filePath) as { port: number; secret: string };
    const body = JSON.stringify({ args: ["app", "create", "--name", "Uninvited"], input: null });
    for (const authorization of ["", "Bearer ", `Bearer ${secret.slice(1)}x`, secret]) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: "POST",
        body,
        headers: { authorization },
      });
      expect({ authorization, status: answer.status, body: await answer.text() }).toEqual({
        authorization,
        status: 401,
        body: "",
      });
    }
    const { stdout } = await runHere(["audit", "export"], environment);
    expect(stdout).not.toContain("appCreate");
    expect(service().output()).not.toContain(secret);
  });

  it("the service removes the file when it stops, and commands open the database themselves again", async () => {
    expect(statSync(filePath).isFile()).toBe(true);
    expect(await service().stop()).toEqual({ code: 0, signal: null });
    expect(() => statSync(filePath)).toThrow("ENOENT");
    expect(Array.isArray(await readJson(runHere, "token", "list"))).toBe(true);
  });
});
