/**
 * `PROCESSES`: several processes on one port. One of them keeps the counters, and each process that ends is
 * replaced.
 */
import { get as httpGet } from "node:http";
import { connect } from "node:net";
import { inject, it, type TestContext, vi } from "vitest";
import { type DemoJsonFileContent, readDemoJsonFile } from "#demo/demo-file.ts";
import { copyDemo, encryptionKeys } from "#test/support/copies.ts";
import {
  runCommand,
  runHere,
  type Running,
  startService,
  temporaryFolder,
  temporaryFolderUntil,
} from "#test/support/process.ts";

/** Several cold starts, some of them at the same time. */
vi.setConfig({ testTimeout: 180_000 });

const embeddedHasRoomForOne =
  "Setting DATABASE_URL is required with PROCESSES=2: the embedded database allows only one process.\n";

it.for([
  { name: "the setting", args: [], environment: { PROCESSES: "2" } },
  { name: "the option", args: ["--processes", "2"], environment: {} },
])("$name is refused without a PostgreSQL", async ({ args, environment }, { expect }) => {
  const ended = await runHere(["serve", ...args], { DATA_DIR: temporaryFolder(), ...environment });
  expect(ended).toEqual({ code: 1, stdout: "", stderr: embeddedHasRoomForOne });
});

it.concurrent("an error that stops the first process ends all and sets the exit code", async ({ expect }) => {
  const environment = {
    DATABASE_URL: "postgres://127.0.0.1:1/x",
    ENCRYPTION_KEYS: encryptionKeys,
    PROCESSES: "3",
  };
  const away = await runCommand(["serve"], environment);
  expect(away).toEqual({
    code: 1,
    stdout: "",
    stderr: "The database at DATABASE_URL does not respond: connect ECONNREFUSED 127.0.0.1:1\n",
  });
  const { url } = (await copyDemo("postgres")).database;
  const PORT = new URL(inject("postgresUrl")).port;
  const taken = await runCommand(["serve"], { ...environment, DATABASE_URL: url ?? "", PORT });
  expect(taken).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "PORT is used by another process: stop that process, or set another PORT (0 selects a free port).\n",
  });
});

it.concurrent("when their parent is killed, processes answer the received requests and end", async (context) => {
  const { expect } = context;
  const { service, demo, pids } = await startTwo(context);
  const body = JSON.stringify({ query: "{ __typename }" });
  const head =
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${demo.tokens.admin}\r\n` +
    "Content-Type: application/json\r\n";
  let answered = "";
  const socket = connect(Number(new URL(service.address).port), "127.0.0.1");
  socket.setEncoding("utf8").on("data", (chunk: string) => (answered += chunk));
  const closed = new Promise((done) => socket.once("close", done));
  socket.write(`${head}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await expect.poll(() => answered).toContain("100 Continue");
  expect(await service.stop("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  await expect.poll(() => linesOf(service, { msg: "Stopping.", signal: "disconnect" })).toHaveLength(2);
  await expect.poll(() => pids.filter(isAlive)).toHaveLength(1);
  socket.write(body);
  await closed;
  expect(answered).toContain('{"data":{"__typename":"Query"}');
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

it("two processes answer on one port, and together admit exactly as many requests as one would", async (context) => {
  const { expect } = context;
  const { service, demo, pids } = await startTwo(context);
  expect(service.output().match(/listens at .*/g)).toEqual([`listens at ${demo.baseUrl}`]);
  expect(service.output()).toContain("  Processes  2\n");
  const [product] = demo.products;
  const read = `${service.address}/api/v1/catalog/merchants/${product?.merchantSlug}/products/${product?.productSlug}`;

  const answers = (await Promise.all(Array.from({ length: 10 }, () => oneByOne(31, () => ask(read))))).flat();
  const admitted = answers.filter(({ status }) => status === 200);
  expect(admitted.map(({ remaining }) => remaining).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 300 }, (_, index) => index),
  );
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  await expect.poll(() => answeredBy(service)).toHaveLength(310);
  expect(new Set(answeredBy(service))).toEqual(new Set(pids));

  const guesses = await oneByOne(22, () =>
    ask(`${service.address}/api/v1/open/identity`, { authorization: "Bearer wrong" }),
  );
  expect(guesses.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);

  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(pids.filter(isAlive)).toEqual([]);
});

it("a killed process is replaced while the rest continues, and a signal ends all in order", async (context) => {
  const { expect } = context;
  const { service, demo, pids } = await startTwo(context);
  const identify = () =>
    ask(`${service.address}/api/v1/open/identity`, { authorization: `Bearer ${demo.keys.full}` });
  const guess = () => ask(`${service.address}/api/v1/open/identity`, { authorization: "Bearer wrong" });
  const refusals = (await oneByOne(10, guess)).map(({ status }) => status);
  for (const [index, victim] of pids.entries()) {
    const survivor = pidsOf(service, "process_ready").findLast((pid) => pid !== victim && isAlive(pid));
    process.kill(victim, "SIGKILL");
    await expect.poll(() => pidsOf(service, "process_ended")).toContain(victim);
    expect((await oneByOne(4, identify)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await expect.poll(() => pidsOf(service, "process_ready")).toHaveLength(3 + index);
    const answered = answeredBy(service).length;
    expect((await oneByOne(4, identify)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await expect.poll(() => answeredBy(service).length).toBe(answered + 4);
    expect(new Set(answeredBy(service).slice(answered))).toEqual(
      new Set([survivor, pidsOf(service, "process_ready").at(-1)]),
    );
  }
  expect(linesOf(service, { event: "process_ended" })).toEqual(
    pids.map((pid) => expect.objectContaining({ level: "warn", pid, code: null, signal: "SIGKILL" })),
  );
  expect(service.output().match(/listens at /g)).toHaveLength(1);
  // The process that keeps the counters was not killed: 20 wrong credentials are admitted in five minutes.
  refusals.push(...(await oneByOne(12, guess)).map(({ status }) => status));
  expect(refusals).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);

  const replaced = pidsOf(service, "process_ready").slice(2);
  // A terminal signals every process, and the first process signals the others too.
  for (const pid of replaced) process.kill(pid, "SIGINT");
  expect(await service.stop("SIGINT")).toEqual({ code: 0, signal: null });
  expect(replaced.filter(isAlive)).toEqual([]);
});

interface Two {
  readonly service: Running;
  readonly demo: DemoJsonFileContent;
  readonly pids: readonly number[];
}

async function startTwo({ expect, onTestFinished }: TestContext): Promise<Two> {
  const dataDir = temporaryFolderUntil(onTestFinished);
  const { database, fill } = await copyDemo("postgres");
  fill(dataDir);
  const service = await startService(
    {
      DATABASE_URL: database.url ?? "",
      ENCRYPTION_KEYS: encryptionKeys,
      DATABASE_POOL: "3",
      DATA_DIR: dataDir,
      DEMO: "1",
      PROCESSES: "2",
    },
    onTestFinished,
  );
  // Log lines are written at the end of an event loop turn.
  await expect.poll(() => pidsOf(service, "process_ready")).toHaveLength(2);
  const pids = pidsOf(service, "process_ready");
  return { service, demo: readDemoJsonFile(dataDir) as DemoJsonFileContent, pids };
}

interface Answer {
  readonly status: number;
  readonly remaining: number;
}

/** Sends a request on a new connection. */
function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((done, failed) => {
    httpGet(url, { agent: false, headers }, (response) => {
      const [, remaining] = /;r=(\d+);/.exec(String(response.headers["ratelimit"])) ?? [];
      response
        .resume()
        .once("end", () => done({ status: response.statusCode ?? 0, remaining: Number(remaining) }));
    }).once("error", failed);
  });
}

async function oneByOne(howMany: number, act: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < howMany) answers.push(await act());
  return answers;
}

interface Line extends Readonly<Record<string, unknown>> {
  readonly pid?: number;
}

/** Returns the log lines with this message. */
function linesOf(service: Running, said: Line): Line[] {
  const lines = service
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as Line);
  return lines.filter((line) => Object.entries(said).every(([name, value]) => line[name] === value));
}

const pidsOf = (service: Running, event: string): number[] =>
  linesOf(service, { event }).map(({ pid = 0 }) => pid);

/** Returns the process that answered each request. */
const answeredBy = (service: Running): number[] =>
  linesOf(service, { method: "GET" }).map(({ pid = 0 }) => pid);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
