/**
 * Starts the servers as child processes on their core, and measures the time until the first answer. Kills
 * the servers when this process ends.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { openConnection } from "./connection.ts";
import type { CoreAssignment } from "./machine.ts";

export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  /** Milliseconds from the start of the process to the first answer with status 200. */
  readonly coldStartMs: number;
  stop(): Promise<void>;
}

export interface ServerProgram {
  /** The program with its arguments, relative to the project's folder. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The request that is repeated until the server answers with status 200. */
  readonly firstRequest: Buffer;
}

export interface ProcessPlacement {
  readonly cores: CoreAssignment | undefined;
  readonly nodeOptions: readonly string[];
}

const projectFolder = fileURLToPath(new URL("../", import.meta.url));
const startMsMax = 60_000;
const stopMsMax = 10_000;

export async function startServer(
  program: ServerProgram,
  { cores, nodeOptions }: ProcessPlacement,
): Promise<ServerProcess> {
  const port = await findFreePort();
  const command = [process.execPath, ...nodeOptions, ...program.command];
  const startedAt = performance.now();
  const child = start(command, {
    cores: cores?.server,
    environment: { ...program.environment, PORT: String(port) },
    isQuiet: true,
  });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  let isExpectedToRun = true;
  child.once("exit", (code, signal) => {
    if (isExpectedToRun)
      process.stderr.write(`${program.command.join(" ")} ended by itself (${code ?? signal}).\n`);
  });
  const stop = async (): Promise<void> => {
    isExpectedToRun = false;
    child.kill("SIGTERM");
    const hasTimedOut = await Promise.race([ended.then(() => false), sleep(stopMsMax, true, { ref: false })]);
    if (hasTimedOut) child.kill("SIGKILL");
    await ended;
  };
  try {
    await awaitFirstAnswer(child, port, program.firstRequest);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, port, coldStartMs: performance.now() - startedAt, stop };
}

/** Runs a command and shows its output. Resolves when the command ends; throws if the command fails. */
export async function runCommand(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const child = start([process.execPath, ...command], { cores: undefined, environment, isQuiet: false });
  const code = await new Promise<number | null>((done) => child.once("exit", done));
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}.`);
}

interface SpawnOptions {
  readonly cores: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly isQuiet: boolean;
}

function start(command: readonly string[], { cores, environment, isQuiet }: SpawnOptions): ChildProcess {
  const [file = "", ...rest] = cores === undefined ? command : ["taskset", "--cpu-list", cores, ...command];
  const child = spawn(file, rest, {
    cwd: projectFolder,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "production", ...environment },
    stdio: ["ignore", isQuiet ? "ignore" : "inherit", "inherit"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.removeListener("exit", kill));
  return child;
}

/** Sends the request until the server answers with status 200. */
async function awaitFirstAnswer(child: ChildProcess, port: number, request: Buffer): Promise<void> {
  const until = performance.now() + startMsMax;
  while (performance.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`A server ended before it answered (${child.spawnargs.join(" ")}).`);
    try {
      const connection = await openConnection(port);
      const { status } = await connection.send(request).finally(() => connection.close());
      if (status === 200) return;
    } catch {
      // The server does not listen yet.
    }
    await sleep(5);
  }
  throw new Error(
    `A server did not answer with 200 in ${startMsMax / 1000} s (${child.spawnargs.join(" ")}).`,
  );
}
