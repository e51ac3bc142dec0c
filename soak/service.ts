/**
 * The service as its own process, the way people start it: killed without warning and started again at the
 * same address. It ends with us.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import type { Ask, HttpAnswer, DemoCredentials } from "./shop.ts";

const main = new URL("../src/main.ts", import.meta.url).pathname;
/** What `npm start` tells Node itself. */
const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly scripts: { readonly start: string };
};
const nodeOptions = scripts.start.match(/(?<=\s)--\S+/g) ?? [];
const arenas = /MALLOC_ARENA_MAX:-(\d+)/.exec(scripts.start)?.[1] ?? "";

export interface Service extends AsyncDisposable {
  readonly engine: OpenDatabase["engine"];
  readonly ask: Ask;
  readonly port: number;
  /** Where demo.json is. */
  readonly folder: string;
  /** Of the demo. */
  readonly access: DemoCredentials;
  /** What it did that nobody asked for: ended by itself. */
  readonly faults: readonly string[];
  /** Of what runs now. */
  pid(): number;
  start(): Promise<void>;
  /** SIGKILL: whatever runs is gone at once. */
  kill(): Promise<void>;
  /** SIGTERM: it answers what it has been asked, and ends; with this exit code. */
  stop(): Promise<number | null>;
  /** Looks into the database, the service being stopped. */
  inspect<Result>(look: (database: OpenDatabase) => Promise<Result>): Promise<Result>;
}

export interface ServiceOptions {
  /** What is started; `serve` unless told. */
  readonly command?: "serve" | "gateway" | "worker";
  /** PostgreSQL; without it the embedded database in a folder of its own. */
  readonly databaseUrl?: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder with demo.json, where another process has seeded the same database. */
  readonly folder?: string;
}

/** Started, and ready. */
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
  const ask = sendOverHttp(port);
  const faults: string[] = [];
  let running: Running | undefined;
  const start = async (): Promise<void> => {
    running = spawnService({ command, settings }, (fault) => faults.push(fault));
    await untilReady(running, ask);
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
    inspect: async (look) => {
      await kill();
      const database = await openDatabase(
        databaseUrl === undefined ? { folder: dataDir } : { url: databaseUrl },
      );
      return look(database).finally(() => database.close());
    },
    [Symbol.asyncDispose]: dispose,
  };
}

interface Running {
  readonly child: ChildProcess;
  /** The end of what it had to say. */
  readonly said: () => string;
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
    env: { PATH, HOME, MALLOC_ARENA_MAX: arenas, ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (said = `${said}${chunk}`.slice(-2000)));
  let isWanted = true;
  const killAtEnd = (): void => void child.kill("SIGKILL");
  process.once("exit", killAtEnd);
  child.once("exit", (code, signal) => {
    process.removeListener("exit", killAtEnd);
    if (isWanted) onFault(`The service ended by itself (${code ?? signal}): ${said}`);
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    isWanted = false;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    child,
    said: () => said,
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
}

/** Of a first start, with the demo to be made, on a machine that has other things to do. */
const readyMsMax = 180_000;

async function untilReady({ child, said }: Running, ask: Ask): Promise<void> {
  const until = performance.now() + readyMsMax;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`The service ended before it was ready: ${said()}`);
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

/** Over connections that are kept, as clients do, unless told; one that breaks is no answer. */
export function sendOverHttp(
  port: number,
  localAddress = "127.0.0.1",
  agent = new Agent({ keepAlive: true }),
): Ask {
  return ({ method, url, headers, body = "" }) =>
    new Promise<HttpAnswer>((done, failed) => {
      const place = { agent, host: "127.0.0.1", port, localAddress, timeout: answerMsMax };
      const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const call = request(
        { ...place, method, path: url, headers: { ...headers, ...length } },
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

export function findFreePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer().once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null ? done(address.port) : failed(new Error("No port.")),
      );
    });
  });
}
