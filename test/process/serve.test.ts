/** `serve` as a process: its output, its lock on the folder, and how it ends. */
import { exec } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, inject, it, vi } from "vitest";
import { demoPlace, migratedFolder } from "#test/support/copies.ts";
import { createDatabase, query } from "#test/support/create-database.ts";
import { runCommand, runHere, startService, temporaryFolder } from "#test/support/process.ts";

/** Each test needs several cold starts on a busy machine. */
vi.setConfig({ testTimeout: 180_000 });

const encryptionKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

describe("the first start in an empty folder", () => {
  it("seeds the demo, prints a working curl line, refuses a second process, survives kill -9", async () => {
    const dataDir = join(temporaryFolder(), "data");
    const first = await startService({ DATA_DIR: dataDir, LOG_LEVL: "info" });
    expect(first.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const curls = first.output().match(/curl .+/g) ?? [];
    expect(curls).toHaveLength(2);
    for (const line of curls) {
      const { stdout } = await promisify(exec)(`${line} --silent --show-error --fail`, {
        maxBuffer: 2 ** 24,
      });
      expect(Object.keys(JSON.parse(stdout) as object)).toContain("data");
    }

    const warnings = first
      .output()
      .split("\n")
      .filter((line) => line.includes('"level":"warn"'));
    expect(warnings.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      "LOG_LEVL is not a setting. Did you mean LOG_LEVEL?",
    ]);

    const demoPath = join(dataDir, "demo.json");
    expect(statSync(demoPath).mode & 0o777).toBe(0o600);
    const demo = JSON.parse(readFileSync(demoPath, "utf8")) as {
      baseUrl: string;
      keys: { full: string };
      checkout: { url: string };
    };
    expect(demo.baseUrl).toBe(first.address);
    expect((await fetch(demo.checkout.url)).status).toBe(200);
    expect(first.output()).toContain(`Demo API key: ${demo.keys.full}\n`);

    const second = await runCommand(["serve"], { DATA_DIR: dataDir });
    expect(second).toEqual({
      code: 1,
      stdout: "",
      stderr: `DATA_DIR ${dataDir} is in use by process ${first.child.pid}: stop it, or choose another DATA_DIR.\n`,
    });

    expect(await first.stop("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
    const again = await startService({ DATA_DIR: dataDir });
    const kept = JSON.parse(readFileSync(demoPath, "utf8")) as typeof demo;
    const url = demo.checkout.url.replace(demo.baseUrl, again.address);
    expect(kept).toEqual({ ...demo, baseUrl: again.address, checkout: { url } });
    const answer = await fetch(`${again.address}/api/v1/open/identity`, {
      headers: { authorization: `Bearer ${demo.keys.full}` },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("ratelimit-policy")).toBe('"default";q=600;w=60');
    expect(await again.stop()).toEqual({ code: 0, signal: null });
  });
});

describe("SIGTERM", () => {
  it("answers received requests, accepts no new connection, and exits with 0", async () => {
    const service = await startService({ DATA_DIR: (await demoPlace("pglite")).folder });
    const demo = JSON.parse(
      readFileSync(/keys and tokens in (\S+)/.exec(service.output())?.[1] ?? "", "utf8"),
    ) as { tokens: { admin: string } };
    const { port } = new URL(service.address);
    const body = JSON.stringify({ query: "{ __typename }" });
    const head =
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${demo.tokens.admin}\r\n` +
      "Content-Type: application/json\r\n";
    let answered = "";
    const socket = connect(Number(port), "127.0.0.1");
    socket.setEncoding("utf8").on("data", (chunk: string) => (answered += chunk));
    const closed = new Promise((done) => socket.once("close", done));
    socket.write(`${head}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
    // The request's head has been received, and the service waits for its body.
    await expect.poll(() => answered).toContain("100 Continue");

    const stopping = service.stop("SIGTERM");
    await expect.poll(service.output).toContain('"Stopping."');
    await expect(fetch(`${service.address}/healthz`)).rejects.toThrow("fetch failed");
    socket.write(`${body}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    await closed;
    expect(answered.match(/HTTP\/1\.1 \d+ .*/g)).toEqual([
      "HTTP/1.1 100 Continue",
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200 OK",
    ]);
    expect(answered).toContain('{"data":{"__typename":"Query"}');
    expect(answered).toContain('{"status":"ok"}');
    expect(await stopping).toEqual({ code: 0, signal: null });
  });
});

describe("a drain", () => {
  it("makes /readyz answer 503 while the process serves on, and a later signal ends it in order", async () => {
    const service = await startService({
      DATA_DIR: (await demoPlace("pglite")).folder,
      DRAIN_SECONDS: "600",
    });
    const readiness = async (): Promise<unknown> => {
      const answer = await fetch(`${service.address}/readyz`);
      return [answer.status, await answer.json()];
    };
    expect(await readiness()).toEqual([200, { status: "ok", checks: { database: "ok" } }]);
    service.child.kill("SIGTERM");
    await expect.poll(readiness).toEqual([503, { status: "stopping", checks: { database: "ok" } }]);
    const search = "q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1";
    expect((await fetch(`${service.address}/api/v1/search?${search}`)).status).toBe(200);
    // A signal that follows within one second counts as a repetition of the first.
    await sleep(1_100);
    expect(await service.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  it("is skipped for SIGINT, which a terminal sends; and MIGRATE=0 accepts the current schema", async () => {
    const DATA_DIR = (await demoPlace("pglite")).folder;
    const service = await startService({ DATA_DIR, DRAIN_SECONDS: "600", MIGRATE: "0" });
    expect(await service.stop("SIGINT")).toEqual({ code: 0, signal: null });
  });
});

it("with MIGRATE=0, a process does not migrate and refuses an older schema", async () => {
  const url = await createDatabase("template0");
  const environment = { DATABASE_URL: url, ENCRYPTION_KEYS: encryptionKeys, MIGRATE: "0" };
  const refused = await runHere(["serve"], environment);
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^Migration 0001-\S+ and \d+ later migrations are not applied .+\n$/),
  });
  expect(await query(url, "select from information_schema.tables where table_schema = 'public'")).toEqual([]);
});

describe("a wrong environment stops the start with one line that names the setting", () => {
  // The service has opened nothing when it finds these errors, so that it needs no process of its own.
  it.each([
    [{ PORT: "abc" }, "Setting PORT must be an integer from 0 to 65535."],
    [
      { DATABASE_URL: "postgres://127.0.0.1/x" },
      "Setting ENCRYPTION_KEYS is required with DATABASE_URL: a comma-separated list of id:base64, each " +
        "key 32 bytes.",
    ],
    [
      { DATABASE_URL: "postgres://127.0.0.1:1/x", ENCRYPTION_KEYS: encryptionKeys },
      "The database at DATABASE_URL does not respond: connect ECONNREFUSED 127.0.0.1:1",
    ],
    [
      { DATA_DIR: "/dev/null/data" },
      "DATA_DIR /dev/null/data cannot be used: ENOTDIR: not a directory, mkdir '/dev/null/data'",
    ],
    [
      { DATABASE_URL: new URL("/not_there", inject("postgresUrl")).href, ENCRYPTION_KEYS: encryptionKeys },
      'The database at DATABASE_URL refuses the connection: database "not_there" does not exist',
    ],
  ])("stops with one line that names the wrong setting: %o", async (environment, line) => {
    const started = await runHere(["serve"], { DATA_DIR: temporaryFolder(), DEMO: "0", ...environment });
    expect(started).toEqual({ code: 1, stdout: "", stderr: `${line}\n` });
  });

  it.concurrent.for([
    [
      { HOST: "203.0.113.1" },
      "HOST is not an address of this machine: set 127.0.0.1, or 0.0.0.0 for all addresses.",
    ],
    [
      { PORT: new URL(inject("postgresUrl")).port },
      "PORT is used by another process: stop that process, or set another PORT (0 selects a free port).",
    ],
  ] as const)(
    "stops as a process that cannot listen: %o",
    async ([environment, line], { expect: expects }) => {
      const DATA_DIR = await migratedFolder();
      const started = await runCommand(["serve"], { DATA_DIR, DEMO: "0", ...environment });
      expects(started).toEqual({ code: 1, stdout: "", stderr: `${line}\n` });
    },
  );
});
