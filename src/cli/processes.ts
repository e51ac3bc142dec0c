/**
 * Several processes on one port. The one that was started serves nothing: it takes connections and gives each
 * to one of the others, counts requests for all of them, has what they measure added up, and starts another
 * one where one has ended.
 */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { ProcessRole } from "#app/background.ts";
import { findFreePort } from "#app/open-resources.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryLimiter } from "#http/rate-limiter.ts";
import { answerLimits, type Port } from "#http/shared-limiter.ts";
import { createMetricsHub } from "#observability/gathering.ts";
import {
  type ReadyState,
  type ReadyMessage,
  type ServeOptions,
  stopOnSignal,
  printWelcome,
} from "./start-and-stop.ts";

/** The first one of `serve` does what is to be done once: the demo, and what goes on beside requests. */
export async function serveInProcesses(serving: ServeOptions): Promise<void> {
  const { settings, role, log } = serving;
  const port = settings.port === 0 ? await findFreePort(settings.host) : settings.port;
  const limiter = settings.redisUrl === undefined ? createMemoryLimiter(settings.rateLimitScale) : undefined;
  const metrics = createMetricsHub();
  const crew = createCrew(log, (child) => {
    const childPort = portOf(child);
    if (limiter !== undefined) answerLimits(childPort, limiter);
    return metrics.join(childPort);
  });
  stopOnSignal(crew.stop, log);
  const common = { PORT: String(port), PROCESSES: "1" };
  const ready = await crew.add({ command: commands[role], environment: common, isFirst: true });
  const other = {
    command: role === "all" ? "gateway" : commands[role],
    environment: { ...common, DEMO: "0" },
    isFirst: false,
  };
  await Promise.all(Array.from({ length: settings.processes - 1 }, () => crew.add(other)));
  printWelcome(serving, ready);
}

const commands = { all: "serve", gateway: "gateway", worker: "worker" } as const satisfies Record<
  ProcessRole,
  string
>;

interface Place {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  /** When it ends before it was ever ready, so does everything. */
  readonly isFirst: boolean;
}

interface Crew {
  /** Keeps a process in this place from now on; resolves when one is ready for the first time. */
  readonly add: (place: Place) => Promise<ReadyState>;
  readonly stop: () => Promise<void>;
}

const replaceMs = 1_000;

/** `onStart` gives what is to be called when that process has ended, or could not be started. */
function createCrew(log: Log, onStart: (child: Worker) => () => void): Crew {
  const living = new Set<Worker>();
  let isStopping = false;
  const start = (place: Place, on: ChildEvents): void => {
    if (isStopping) return;
    const child = fork(place, {
      onReady: (ready) => {
        log.info({ event: "process_ready", pid: child.process.pid }, "A process is ready.");
        on.onReady(ready);
      },
      onEnd: (code, signal) => {
        living.delete(child);
        leave();
        if (isStopping) return;
        on.onEnd(code, signal);
        log.warn(
          { event: "process_ended", pid: child.process.pid, code, signal },
          "A process has ended: another one takes its place.",
        );
        setTimeout(start, replaceMs, place, on);
      },
    });
    living.add(child);
    const leave = onStart(child);
  };
  return {
    add: (place) =>
      new Promise((resolve) => {
        let wasReady = false;
        start(place, {
          onReady: (ready) => {
            wasReady = true;
            resolve(ready);
          },
          onEnd: (code) => {
            // It has said why.
            if (place.isFirst && !wasReady) process.exit(code === null || code === 0 ? 1 : code);
          },
        });
      }),
    stop: async () => {
      isStopping = true;
      // Whoever has not ended by then never will.
      process.once("exit", () => {
        for (const child of living) child.process.kill("SIGKILL");
      });
      await Promise.all(Array.from(living, end));
    },
  };
}

interface ChildEvents {
  readonly onReady: (ready: ReadyState) => void;
  readonly onEnd: (code: number | null, signal: string | null) => void;
}

function fork({ command, environment }: Place, { onReady, onEnd }: ChildEvents): Worker {
  cluster.setupPrimary({ args: [command] });
  const child = cluster.fork(environment);
  child.on("message", (message: { readonly type: string }) => {
    if (isReady(message)) onReady(message);
  });
  child.once("exit", onEnd);
  child.once("error", () => {
    // Without a process there is no exit.
    if (child.process.pid === undefined) onEnd(null, null);
  });
  return child;
}

const isReady = (message: { readonly type: string }): message is ReadyMessage => message.type === "ready";

async function end(child: Worker): Promise<void> {
  const ended = once(child, "exit");
  // One that is not ready yet knows no other way than to end at once.
  child.process.kill("SIGTERM");
  const [code]: unknown[] = await ended;
  if (typeof code === "number" && code !== 0)
    throw new Error(`Process ${child.process.pid} ended with ${code}.`);
}

function portOf(child: Worker): Port {
  return {
    send: (message) => {
      if (!child.isConnected()) return false;
      // That nobody hears it any more is told by its exit.
      child.send(message, () => undefined);
      return true;
    },
    onMessage: (listener) => void child.on("message", listener),
  };
}
