/** Runs the service and its commands in separate processes, as users start them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished, vi } from "vitest";
import { type CliCommandEnvironment, runFunctionInCliCommandEnvironment } from "#cli/command-session.ts";
import { runCommandLine } from "#cli/run.ts";
import { findFreePort } from "#foundation/free-port.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;

/** Creates a temporary folder that is deleted after the test. */
export function temporaryFolder(): string {
  return temporaryFolderUntil(onTestFinished);
}

/** Creates a temporary folder that is deleted in the given hook, for example `afterAll`. */
export function temporaryFolderUntil(end: EndHook): string {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-test-"));
  end(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Running {
  readonly child: ChildProcess;
  readonly address: string;
  /** Returns everything that the process has printed so far. */
  readonly output: () => string;
  /** Sends the signal and waits until the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

type Environment = Readonly<Record<string, string>>;

/**
 * Starts a process with a port that this process has not yet given to another. With PORT=0, each process
 * would choose its port by itself, and two that start at the same moment could choose the same.
 */
async function start(
  args: readonly string[],
  environment: Environment,
  stdin: "ignore" | "pipe" = "ignore",
): Promise<ChildProcess> {
  const { PATH, HOME } = process.env;
  const PORT = environment["PORT"] ?? String(await findFreePort());
  return spawn(process.execPath, [main, ...args], {
    env: { PATH, HOME, DRAIN_SECONDS: "0", ...environment, PORT },
    stdio: [stdin, "pipe", "pipe"],
  });
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in another process and waits until it ends. `input` is its standard input. */
export async function runCommand(
  args: readonly string[],
  environment: Environment = {},
  input?: string,
): Promise<Ended> {
  const child = await start(args, environment, input === undefined ? "ignore" : "pipe");
  child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/**
 * Runs a command in this process, for tests of a command's output: loading all modules again takes longer
 * than most commands. Calls run one at a time, because a process has one environment and one standard output.
 * `input` is the text that the command reads as its standard input.
 */
export async function runHere(
  args: readonly string[],
  environment: Environment = {},
  input = "",
): Promise<Ended> {
  const { env, exitCode } = process;
  const { PATH, HOME } = env;
  const written = { stdout: "", stderr: "" };
  const ended = { code: 0 };
  const spies = [
    ...(["stdout", "stderr"] as const).map((name) =>
      vi.spyOn(process[name], "write").mockImplementation((text) => {
        written[name] += String(text);
        return true;
      }),
    ),
    vi.spyOn(process, "exit").mockImplementation((code) => {
      ended.code = Number(code ?? 0);
      throw new Error("The process has ended.");
    }),
  ];
  process.env = { PATH, HOME, PORT: "0", ...environment };
  process.exitCode = 0;
  try {
    await runFunctionInCliCommandEnvironment(createEnvironment(input), () =>
      runCommandLine(["node", "commerce", ...args]),
    ).catch((error: unknown) => {
      if (ended.code === 0) throw error;
    });
    return { code: ended.code || process.exitCode, ...written };
  } finally {
    process.env = env;
    process.exitCode = exitCode;
    for (const spy of spies) spy.mockRestore();
  }
}

const createEnvironment = (input: string): CliCommandEnvironment => ({
  write: async (stream, text) => void process[stream].write(text),
  readInput: () => Promise.resolve(input),
  setExitCode: (code) => void (process.exitCode = code),
});

/**
 * Starts `serve` with the demo and waits until it has printed its start messages. The service is stopped
 * after the test. Concurrent tests give `onTestFinished` of their context as `end`.
 */
export async function startService(environment: Environment, end?: EndHook): Promise<Running> {
  return untilItListens(await start(["serve"], environment), end);
}

/** Starts `serve` before the tests of a file or group, and stops it after them. */
export function useService(environment: Environment): () => Running {
  let service: Running | undefined;
  const ends: (() => Promise<void> | void)[] = [];
  beforeAll(async () => {
    service = await untilItListens(await start(["serve"], environment), (work) => void ends.push(work));
  });
  // A hook that is registered inside another hook would never run.
  afterAll(async () => {
    await Promise.all(ends.map(async (end) => end()));
  });
  return () => {
    if (service === undefined) throw new Error("The service has not started.");
    return service;
  };
}

/** Registers work for the end of a test or of a file. */
export type EndHook = (work: () => Promise<void> | void) => void;

/** Starts the service by the README's command. Signals go to npm, as a process manager sends them. */
export function startByNpm(environment: Environment): Promise<Running> {
  const { PATH, HOME } = process.env;
  const cwd = new URL("../../", import.meta.url).pathname;
  return untilItListens(
    spawn("npm", ["start"], {
      cwd,
      env: { PATH, HOME, PORT: "0", DRAIN_SECONDS: "0", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
}

async function untilItListens(child: ChildProcess, end: EndHook = onTestFinished): Promise<Running> {
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  end(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      const [, found] = /listens at (\S+)\n[^]*\/products\/[^]*\n\n/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`It ended before it listened:\n${output}`)));
  });
  return {
    child,
    address,
    output: () => output,
    stop: async (stopSignal = "SIGTERM") => {
      child.kill(stopSignal);
      const [code, signal] = await ended;
      return { code, signal };
    },
  };
}
