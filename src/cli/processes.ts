/**
 * Runs the service in several processes on one port. The parent process answers no requests: it accepts
 * connections and passes each to a child process, counts rate limits for all children, adds up their metrics,
 * and starts a new child when a child has ended.
 */
import { findFreePort } from "#foundation/free-port.ts";
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { ProcessRole } from "#app/background.ts";
import { getRateLimitQuotaFactors } from "#app/settings.ts";
import { startEventLoopWatchdog } from "#app/watchdog.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryRateLimiter } from "#http/rate-limiter.ts";
import { answerRateLimitRequestsOfChildProcess, type InterProcessMessagePort } from "#http/shared-limiter.ts";
import { createMultiProcessMetricsCollector } from "#observability/gather-metrics.ts";
import {
  type StartedServiceInfo,
  type ChildProcessReadyMessage,
  type ServiceProcessOptions,
  stopProcessOnSignal,
  printStartupMessage,
} from "./start-and-stop.ts";

/**
 * Starts the configured number of child processes. The first child of `serve` prepares the demo and does the
 * background work.
 */
export async function serveInChildProcesses(serving: ServiceProcessOptions): Promise<void> {
  const { settings, role, log } = serving;
  const port = settings.port === 0 ? await findFreePort(settings.host) : settings.port;
  const limiter =
    settings.redisUrl === undefined ? createMemoryRateLimiter(getRateLimitQuotaFactors(settings)) : undefined;
  const metrics = createMultiProcessMetricsCollector();
  const children = createChildProcesses(log, (child) => {
    const childPort = portOf(child);
    if (limiter !== undefined) answerRateLimitRequestsOfChildProcess(childPort, limiter);
    return metrics.join(childPort);
  });
  // The parent process itself does not drain. After the signal, each child process still answers requests for
  // some time, and the parent process passes connections to the children until they stop.
  stopProcessOnSignal(
    { drainMs: 0, extraCloseMs: settings.drainMs, drain: () => undefined, close: children.stop },
    log,
  );
  startEventLoopWatchdog({ limitMs: settings.watchdogMs, log });
  const common = { PORT: String(port), PROCESSES: "1" };
  const ready = await children.add({ command: commandsByRole[role], environment: common, isFirst: true });
  const other = {
    command: role === "all" ? "gateway" : commandsByRole[role],
    environment: { ...common, DEMO: "0" },
    isFirst: false,
  };
  await Promise.all(Array.from({ length: settings.processes - 1 }, () => children.add(other)));
  printStartupMessage(serving, ready);
}

const commandsByRole = { all: "serve", gateway: "gateway", worker: "worker" } as const satisfies Record<
  ProcessRole,
  string
>;

interface ChildSpec {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  /**
   * True for the child process that is started first. If this child ends before it has ever been ready, the
   * parent process exits too.
   */
  readonly isFirst: boolean;
}

interface ChildProcesses {
  /**
   * Starts a child process, and starts a new one whenever it ends. The promise resolves when the first child
   * process that `add` started is ready.
   */
  readonly add: (spec: ChildSpec) => Promise<StartedServiceInfo>;
  /** Sends the signal to all child processes and waits until all have ended. */
  readonly stop: (signal: string) => Promise<void>;
}

const restartDelayMs = 1_000;

/**
 * Starts and stops the child processes. `onStart` is called for each started process and returns a function,
 * which is called when this process has ended or could not be started.
 */
function createChildProcesses(log: Log, onStart: (child: Worker) => () => void): ChildProcesses {
  const running = new Set<Worker>();
  let isStopping = false;
  const start = (spec: ChildSpec, on: ChildEvents): void => {
    if (isStopping) return;
    const child = fork(spec, {
      onReady: (ready) => {
        log.info({ event: "process_ready", pid: child.process.pid }, "A process is ready.");
        on.onReady(ready);
      },
      onEnd: (code, signal) => {
        running.delete(child);
        onLeave();
        if (isStopping) return;
        on.onEnd(code, signal);
        log.warn(
          { event: "process_ended", pid: child.process.pid, code, signal },
          "A process has ended; a new one replaces it.",
        );
        setTimeout(start, restartDelayMs, spec, on);
      },
    });
    running.add(child);
    const onLeave = onStart(child);
  };
  return {
    add: (spec) =>
      new Promise((resolve) => {
        let wasReady = false;
        start(spec, {
          onReady: (ready) => {
            wasReady = true;
            resolve(ready);
          },
          onEnd: (code) => {
            // The child has already printed the reason, so the parent process exits without a message of its
            // own.
            if (spec.isFirst && !wasReady) process.exit(code === null || code === 0 ? 1 : code);
          },
        });
      }),
    stop: async (signal) => {
      isStopping = true;
      // When the parent process exits, kills the child processes that are still running.
      process.once("exit", () => {
        for (const child of running) child.process.kill("SIGKILL");
      });
      const childSignal = signal === "SIGINT" ? "SIGINT" : "SIGTERM";
      await Promise.all(Array.from(running, (child) => stopChild(child, childSignal)));
    },
  };
}

interface ChildEvents {
  readonly onReady: (ready: StartedServiceInfo) => void;
  readonly onEnd: (code: number | null, signal: string | null) => void;
}

function fork({ command, environment }: ChildSpec, { onReady, onEnd }: ChildEvents): Worker {
  cluster.setupPrimary({ args: [command] });
  const child = cluster.fork(environment);
  child.on("message", (message: { readonly type: string }) => {
    if (isReady(message)) onReady(message);
  });
  child.once("exit", onEnd);
  child.once("error", () => {
    // A process that could not be started emits the event `error` but no event `exit`. It is treated here as
    // ended.
    if (child.process.pid === undefined) onEnd(null, null);
  });
  return child;
}

const isReady = (message: { readonly type: string }): message is ChildProcessReadyMessage =>
  message.type === "ready";

async function stopChild(child: Worker, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, "exit");
  // A child that is not ready yet has no signal handler, so the signal ends it at once.
  child.process.kill(signal);
  const [code]: unknown[] = await ended;
  if (typeof code === "number" && code !== 0)
    throw new Error(`Process ${child.process.pid} ended with exit code ${code}.`);
}

function portOf(child: Worker): InterProcessMessagePort {
  return {
    send: (message) => {
      if (!child.isConnected()) return false;
      // A send error means that the child process has ended. It is ignored here, because the event `exit`
      // reports the end.
      child.send(message, () => undefined);
      return true;
    },
    onMessage: (listener) => void child.on("message", listener),
  };
}
