/** Packs and installs the command line for integrators, and runs its commands. */
import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { onTestFinished } from "vitest";

const root = new URL("../../", import.meta.url).pathname;
const run = promisify(execFile);

/**
 * Packs the package and installs it into an empty folder. The dependencies come from the project's own
 * packages, so that the test needs no registry.
 */
export async function installCommandLine(folder: string): Promise<string> {
  const sources = ["./clients/cli", "./node_modules/commander", "./node_modules/leven"];
  await run("npm", ["pack", "--silent", "--pack-destination", folder, ...sources], { cwd: root });
  const packages = globSync(join(folder, "*.tgz"));
  if (packages.length !== sources.length) throw new Error("npm has not packed every package.");
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", ...packages], { cwd: folder });
  return join(folder, "node_modules/.bin/commerce");
}

export interface CommandLine {
  /** The installed program. */
  readonly program: string;
  /** The folder in which commands run. A folder with `.data/demo.json` would give them its credentials. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

const start = ({ program, folder, environment }: CommandLine, args: readonly string[]): Child => {
  const { PATH } = process.env;
  return spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
};

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runCommerce(line: CommandLine, ...args: readonly string[]): Promise<CommandResult> {
  const child = start(line, args);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

export interface RunningCommand {
  readonly output: () => string;
  readonly interrupt: () => Promise<number | null>;
}

/** Starts a command that runs until it is interrupted. */
export function startCommerce(line: CommandLine, ...args: readonly string[]): RunningCommand {
  const child = start(line, args);
  const ended = once(child, "close") as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  return {
    output: () => output,
    interrupt: async () => {
      child.kill("SIGINT");
      return (await ended)[0];
    },
  };
}

export interface WebhookReceiver {
  readonly url: string;
  /** The events whose signature was verified with the secret, in the order of their arrival. */
  readonly events: { id: string; type: string; headers: Readonly<Record<string, unknown>> }[];
  /** Number of requests whose signature is wrong. */
  readonly refused: () => number;
}

/** Starts a receiver that answers 200 to verified webhooks and 400 to all others. */
export async function startReceiver(secret: string): Promise<WebhookReceiver> {
  const events: WebhookReceiver["events"] = [];
  let refused = 0;
  const verify = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    try {
      const event = new Webhook(secret).verify(body, request.headers as Record<string, string>) as {
        id: string;
        type: string;
      };
      events.push({ ...event, headers: request.headers });
      response.writeHead(200).end();
    } catch {
      refused += 1;
      response.writeHead(400).end();
    }
  };
  const server = createServer((request, response) => void verify(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hooks`, events, refused: () => refused };
}

export interface BreakableProxy {
  readonly url: string;
  /** Breaks all connections and refuses new ones. */
  readonly cut: () => void;
  readonly restore: () => void;
}

/** Starts a TCP proxy in front of the service, whose connections the test can break. */
export async function startProxy(target: string): Promise<BreakableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createTcpServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined).on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    restore: () => {
      isCut = false;
    },
  };
}

export interface DemoSecrets {
  readonly keys: Readonly<Record<string, string>>;
  readonly tokens: Readonly<Record<string, string>>;
}

export const readDemoSecrets = (dataDir: string): DemoSecrets =>
  JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as DemoSecrets;
