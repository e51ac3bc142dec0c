/**
 * Starts the service as a process, as `npm start` does. A test can kill the process and start it again at the
 * same port. The process ends when the test ends.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import type { SendRequest, HttpAnswer, DemoCredentials } from "./shop.ts";

const main = new URL("../src/main.ts", import.meta.url).pathname;
/** The script of `npm start`, with its options for Node. */
const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly scripts: { readonly start: string };
};
const nodeOptions = scripts.start.match(/(?<=\s)--\S+/g) ?? [];
const arenasMax = /MALLOC_ARENA_MAX:-(\d+)/.exec(scripts.start)?.[1] ?? "";

export interface Service extends AsyncDisposable {
  readonly engine: OpenedDatabase["engine"];
  readonly ask: SendRequest;
  readonly port: number;
  /** The data folder, which has demo.json. */
  readonly folder: string;
  /** Keys, tokens and accounts of the demo. */
  readonly access: DemoCredentials;
  /** A sentence for each time that the process ended by itself. */
  readonly faults: readonly string[];
  /** Returns the id of the running process; 0 if no process is running. */
  pid(): number;
  start(): Promise<void>;
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM. The service answers all received requests and ends. Returns the exit code. */
  stop(): Promise<number | null>;
  /** Kills the service and runs a function with its database. */
  inspect<Result>(work: (database: OpenedDatabase) => Promise<Result>): Promise<Result>;
}

export interface ServiceOptions {
  /** The command to start; `serve` by default. */
  readonly command?: "serve" | "gateway" | "worker";
  /** The URL of PostgreSQL; if left out, the embedded database in a new folder. */
  readonly databaseUrl?: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder with demo.json of another process that has seeded the database; left out if there is none. */
  readonly folder?: string;
}

/** Starts the service and waits until it is ready. */
export async function startService({
  command = "serve",
  databaseUrl,
  environment = {},
  folder,
}: ServiceOptions): Promise<Service> {
  const dataDir = folder ?? mkdtempSync(join(tmpdir(), "commerce-gateway-soak-"));
  const port = await findFreePort();
  const settings = {
    PORT: String(port),
    DATA_DIR: dataDir,
    DEMO: "1",
    RATE_LIMIT_SCALE: "0",
    LOG_LEVEL: "fatal",
    ...(databaseUrl === undefined
      ? {}
      : { DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: `soak:${Buffer.alloc(32, 7).toString("base64")}` }),
    ...environment,
  };
  const ask = createHttpSender(port);
  const faults: string[] = [];
  let running: Running | undefined;
  const start = async (): Promise<void> => {
    running = spawnService({ command, settings }, (fault) => faults.push(fault));
    await waitUntilReady(running, ask);
  };
  const kill = async (): Promise<void> => {
    await running?.kill();
    running = undefined;
  };
  const dispose = async (): Promise<void> => {
    await kill();
    if (folder === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await dispose();
    throw error;
  }
  const access = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as DemoCredentials;
  return {
    engine: databaseUrl === undefined ? "pglite" : "postgres",
    ask,
    port,
    folder: dataDir,
    access,
    faults,
    pid: () => running?.child.pid ?? 0,
    start,
    kill,
    stop: async () => {
      const code = await running?.stop();
      running = undefined;
      return code ?? null;
    },
    inspect: async (work) => {
      await kill();
      const database = await openDatabase(
        databaseUrl === undefined ? { folder: dataDir } : { url: databaseUrl },
      );
      return work(database).finally(() => database.close());
    },
    [Symbol.asyncDispose]: dispose,
  };
}

interface Running {
  readonly child: ChildProcess;
  /** Returns the end of what the process wrote to standard output and standard error. */
  readonly output: () => string;
  kill(): Promise<void>;
  stop(): Promise<number | null>;
}

interface Started {
  readonly command: string;
  readonly settings: Readonly<Record<string, string>>;
}

function spawnService({ command, settings }: Started, onFault: (fault: string) => void): Running {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...nodeOptions, main, command], {
    env: { PATH, HOME, MALLOC_ARENA_MAX: arenasMax, DRAIN_SECONDS: "0", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (output = `${output}${chunk}`.slice(-2000)));
  let isExpectedToRun = true;
  let hasFailed = false;
  const killAtEnd = (): void => void child.kill("SIGKILL");
  process.once("exit", killAtEnd);
  child.once("exit", () => {
    process.removeListener("exit", killAtEnd);
    hasFailed = isExpectedToRun;
  });
  // Unlike `exit`, the event `close` is emitted after the last output of the process was read.
  const closed = new Promise<void>((done) => {
    child.once("close", (code, signal) => {
      if (hasFailed) onFault(`The service ended by itself (${code ?? signal}): ${output}`);
      done();
    });
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    isExpectedToRun = false;
    if (child.exitCode !== null || child.signalCode !== null) {
      await closed;
      return child.exitCode;
    }
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    child,
    output: () => output,
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
}

/** The maximum duration of a start in milliseconds, including seeding the demo on a busy machine. */
const readyMsMax = 180_000;

async function waitUntilReady({ child, output }: Running, ask: SendRequest): Promise<void> {
  const until = performance.now() + readyMsMax;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`The service ended before it was ready: ${output()}`);
    const status = await ask({ method: "GET", url: "/readyz", headers: {}, body: undefined }).then(
      (answered) => answered.status,
      () => 0,
    );
    if (status === 200) return;
    await sleep(20);
  }
  throw new Error(`The service was not ready within ${readyMsMax / 1000} s.`);
}

const answerMsMax = 20_000;

/**
 * Creates a function that sends requests over HTTP, by default over reused connections, as clients do. The
 * function throws if the connection breaks.
 */
export function createHttpSender(
  port: number,
  localAddress = "127.0.0.1",
  agent = new Agent({ keepAlive: true }),
): SendRequest {
  return ({ method, url, headers, body = "" }) =>
    new Promise<HttpAnswer>((done, failed) => {
      const connection = { agent, host: "127.0.0.1", port, localAddress, timeout: answerMsMax };
      const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const call = request(
        { ...connection, method, path: url, headers: { ...headers, ...length } },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.once("error", failed);
          response.once("end", () =>
            done({
              status: response.statusCode ?? 0,
              headers: response.headers as HttpAnswer["headers"],
              text,
            }),
          );
        },
      );
      call.once("timeout", () => call.destroy(new Error(`No answer within ${answerMsMax / 1000} s.`)));
      call.on("error", failed);
      call.end(body);
    });
}
