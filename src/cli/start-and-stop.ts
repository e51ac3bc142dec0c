/**
 * Prints the welcome text with the URLs of a started service, and stops the process in an orderly way on
 * SIGTERM and SIGINT.
 */
import cluster from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessRole } from "#app/background.ts";
import type { ServiceSettings } from "#app/settings.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import type { Log } from "#foundation/log.ts";
import { printLine } from "./output.ts";

export interface ServiceProcessOptions {
  readonly settings: ServiceSettings;
  readonly role: ProcessRole;
  readonly log: Log;
}

export interface StartedServiceInfo {
  readonly address: string;
  readonly demo: DemoJsonFileContent | undefined;
}

/** The message that a child process sends to its parent process when it is ready to serve requests. */
export interface ChildProcessReadyMessage extends StartedServiceInfo {
  readonly type: "ready";
}

export function printStartupMessage(
  { settings, role }: ServiceProcessOptions,
  { address, demo }: StartedServiceInfo,
): void {
  if (role === "worker") {
    printLine(`\nCommerce Gateway worker: health checks at ${address}/healthz and ${address}/readyz\n`);
    return;
  }
  printLine(`\nCommerce Gateway listens at ${address}`);
  printLine(`  Start page ${address}/`);
  printLine(`  API        ${address}/docs, as OpenAPI ${address}/openapi.json`);
  printLine(`  Console    ${address}/console`);
  printLine(`  GraphiQL   ${address}/graphql`);
  printLine(
    `  Database   ${settings.databaseUrl === undefined ? `embedded, in ${settings.dataDir}` : "PostgreSQL"}`,
  );
  if (settings.processes > 1) printLine(`  Processes  ${settings.processes}`);
  if (demo === undefined) return;
  const [product] = demo.products;
  printLine(`  Demo       keys and tokens in ${settings.dataDir}/demo.json\n`);
  printLine(`Demo API key: ${demo.keys.full}`);
  printLine(`Demo token for GraphiQL (admin): ${demo.tokens.admin}`);
  printLine(`Demo account for the console: ${demo.staff.email} with the password ${demo.staff.password}`);
  if (demo.checkout !== undefined) printLine(`Demo checkout: ${demo.checkout.url}`);
  printLine("\nTry it:");
  printLine(`  curl -H 'Authorization: Bearer ${demo.keys.full}' ${address}/api/v1/open/catalog/products`);
  if (product !== undefined)
    printLine(
      `  curl '${address}/api/v1/catalog/merchants/${product.merchantSlug}/products/${product.productSlug}'`,
    );
  printLine("");
}

/**
 * Maximum number of milliseconds for stopping the process after its drain period. A process that takes longer
 * is ended by force.
 */
const stopMsMax = 10_000;
const sameSignalMs = 1_000;

export interface StoppableService {
  /**
   * Milliseconds for which the process continues to answer requests after SIGTERM. After SIGINT, which a
   * terminal sends for Ctrl-C, the process stops at once.
   */
  readonly drainMs: number;
  /**
   * Milliseconds by which the time limit of `close` is extended, for example because `close` waits for child
   * processes that drain.
   */
  readonly extraCloseMs?: number;
  /**
   * Called when the process begins to drain. From then on, load balancers should send no new requests, but
   * the process still answers all requests.
   */
  readonly drain: () => void;
  readonly close: (signal: string) => Promise<void>;
}

/**
 * Stops the process on SIGTERM and SIGINT: drains it, calls `close` and exits with code 0. Returns a function
 * that stops the process in the same way without a signal; its argument is the reason, which is logged.
 */
export function stopProcessOnSignal(
  { drainMs, extraCloseMs = 0, drain, close }: StoppableService,
  log: Log,
): (reason: string) => void {
  let stoppingSince: number | undefined;
  const drainEnd = new AbortController();
  const stop = (signal: string): void => {
    if (stoppingSince !== undefined) {
      // npm and terminals repeat a signal, so a second signal within one second is ignored. A later signal
      // ends the drain, or exits at once if the drain has ended. In child processes, further signals are
      // ignored.
      if (!cluster.isPrimary || performance.now() - stoppingSince <= sameSignalMs) return;
      if (drainEnd.signal.aborted) process.exit(1);
      stoppingSince = performance.now();
      drainEnd.abort();
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "Stopping.");
    setTimeout(() => process.exit(1), drainMs + extraCloseMs + stopMsMax).unref();
    drain();
    if (signal !== "SIGTERM" || drainMs === 0) drainEnd.abort();
    void sleep(drainMs, undefined, { signal: drainEnd.signal })
      .catch(() => undefined)
      .then(() => {
        drainEnd.abort();
        return close(signal);
      })
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, "Stopping failed.");
          process.exit(1);
        },
      );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  return stop;
}
