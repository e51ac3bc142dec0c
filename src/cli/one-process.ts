/** The process that serves or works: alone, or as one of those that another one started. */
import cluster from "node:cluster";
import { type App, createApp } from "#app/app.ts";
import type { DemoFile } from "#demo/demo-file.ts";
import type { RateLimiter } from "#gateway/rate-limiter.ts";
import { createSharedLimiter, type Port } from "#gateway/shared-limiter.ts";
import { stopOnSignal } from "./stop-on-signal.ts";
import { type Ready, type ReadyMessage, type Serving, welcome } from "./welcome.ts";

export async function serveAlone(serving: Serving): Promise<void> {
  await start(serving, (app, ready) => {
    stopOnSignal(() => app.close(), serving.log);
    welcome(serving, ready);
  });
}

export async function serveAsOneOfMany(serving: Serving): Promise<void> {
  const { settings, log } = serving;
  const limiter = settings.redisUrl === undefined ? createSharedLimiter(parent, { scale: settings.rateLimitScale, log }) : undefined;
  await start({ ...serving, limiter }, (app, ready) => {
    const stop = stopOnSignal(() => app.close(), log);
    stopWithParent(() => stop("disconnect"));
    parent.send({ type: "ready", ...ready } satisfies ReadyMessage);
  });
}

async function start(
  { settings, role, log, limiter }: Serving & { readonly limiter?: RateLimiter | undefined },
  onReady: (app: App, ready: Ready) => void,
): Promise<void> {
  const app = await createApp({ settings, log, role, limiter });
  try {
    const demo = settings.demo ? await prepareDemoOf(app, settings.dataDir) : undefined;
    onReady(app, { address: await app.listen(), demo });
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function prepareDemoOf({ database, services, clock }: App, dataDir: string): Promise<DemoFile | undefined> {
  const { prepareDemo } = await import("#demo/prepare-demo.ts");
  return prepareDemo(database, { ...services, dataDir, now: clock.now() });
}

/** The process that started this one. */
const parent: Port = {
  send: (message) => {
    if (!process.connected) return false;
    // That the other end is gone is told by `disconnect`.
    process.send?.(message, undefined, {}, () => undefined);
    return true;
  },
  onMessage: (listener) => void process.on("message", listener),
};

/** Node would end this process at once when its parent is gone; whoever ends by themselves is let. */
function stopWithParent(stop: () => void): void {
  const { worker } = cluster;
  worker?.once("disconnect", () => {
    worker.exitedAfterDisconnect = true;
    stop();
  });
}
