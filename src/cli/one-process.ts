/** Runs the service in this process: alone, or as one of several processes that a parent process started. */
import cluster from "node:cluster";
import { type ServiceApp, type ServiceAppOptions, createServiceApp } from "#app/app.ts";
import { getRateLimitQuotaFactors, type ServiceSettings } from "#app/settings.ts";
import { startEventLoopWatchdog } from "#app/watchdog.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import type { Log } from "#foundation/log.ts";
import { createChildProcessRateLimiter, type InterProcessMessagePort } from "#http/shared-limiter.ts";
import { createChildToParentMetricsConnection } from "#observability/gather-metrics.ts";
import { type CliCommandRunner, startCliCommandServer } from "./command-server.ts";
import {
  type StartedServiceInfo,
  type ChildProcessReadyMessage,
  type ServiceProcessOptions,
  type StoppableService,
  stopProcessOnSignal,
  printStartupMessage,
} from "./start-and-stop.ts";

/**
 * Runs the service in this process until the process is stopped. `runCommand` runs the commands that other
 * processes send while this process uses the embedded database.
 */
export async function serveInOneProcess(
  serving: ServiceProcessOptions & Pick<StartOptions, "runCommand">,
): Promise<void> {
  await start(serving, (stoppable, ready) => {
    stopProcessOnSignal(stoppable, serving.log);
    printStartupMessage(serving, ready);
  });
}

export async function serveAsChildProcess(serving: ServiceProcessOptions): Promise<void> {
  const { settings, log } = serving;
  const limiter =
    settings.redisUrl === undefined
      ? createChildProcessRateLimiter(parent, { scale: getRateLimitQuotaFactors(settings), log })
      : undefined;
  await start(
    { ...serving, limiter, exchange: createChildToParentMetricsConnection(parent) },
    (stoppable, ready) => {
      const stop = stopProcessOnSignal(stoppable, log);
      stopWithParent(() => stop("disconnect"));
      parent.send({ type: "ready", ...ready } satisfies ChildProcessReadyMessage);
    },
  );
}

interface StartOptions extends ServiceProcessOptions, Pick<ServiceAppOptions, "limiter" | "exchange"> {
  readonly runCommand?: CliCommandRunner;
}

async function start(
  { settings, role, log, runCommand, limiter, exchange }: StartOptions,
  onReady: (stoppable: StoppableService, ready: StartedServiceInfo) => void,
): Promise<void> {
  const stopTracing = await startConfiguredTracing(settings, log);
  let app: ServiceApp | undefined;
  let stopCommands: (() => Promise<void>) | undefined;
  let stopWatchdog: (() => Promise<void>) | undefined;
  // Tracing stops last, so that the spans of `close` are exported even if `close` fails.
  const close = async (): Promise<void> => {
    try {
      await stopCommands?.();
      await app?.close();
    } finally {
      await stopTracing?.();
      await stopWatchdog?.();
    }
  };
  try {
    app = await createServiceApp({ settings, log, role, limiter, exchange });
    const demo = settings.demo ? await prepareConfiguredDemo(app, settings.dataDir) : undefined;
    if (settings.databaseUrl === undefined && runCommand !== undefined)
      stopCommands = await startCliCommandServer({ database: app.database, settings, log, runCommand });
    const { drain } = app;
    // A worker stops without a drain period, because load balancers send no requests to it.
    const drainMs = role === "worker" ? 0 : settings.drainMs;
    onReady({ drainMs, drain, close }, { address: await app.listen(), demo });
    // The watchdog starts last, because with the embedded database, migrations and the creation of demo data
    // block the event loop.
    stopWatchdog = startEventLoopWatchdog({ limitMs: settings.watchdogMs, log });
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Starts tracing. Must be called before the service is created, because parts of the service check only once,
 * when they are created, whether tracing is on.
 */
async function startConfiguredTracing(
  { tracesEndpoint: endpoint }: ServiceSettings,
  log: Log,
): Promise<(() => Promise<void>) | undefined> {
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import("#observability/tracing.ts");
  return startTracing({ endpoint, environment: process.env, log });
}

async function prepareConfiguredDemo(
  { database, services, clock }: ServiceApp,
  dataDir: string,
): Promise<DemoJsonFileContent | undefined> {
  const { prepareDemoDataAndFile } = await import("#demo/prepare-demo.ts");
  return prepareDemoDataAndFile(database, { ...services, dataDir, now: clock.now() });
}

/** The channel on which this process exchanges messages with its parent process. */
const parent: InterProcessMessagePort = {
  send: (message) => {
    if (!process.connected) return false;
    // A send error means that the parent process has ended. It is ignored here, because the event
    // `disconnect` reports the end.
    process.send?.(message, undefined, {}, () => undefined);
    return true;
  },
  onMessage: (listener) => void process.on("message", listener),
};

/**
 * Stops this process in an orderly way when the parent process has ended; by default, Node would exit at
 * once.
 */
function stopWithParent(stop: () => void): void {
  const { worker } = cluster;
  worker?.once("disconnect", () => {
    worker.exitedAfterDisconnect = true;
    stop();
  });
}
