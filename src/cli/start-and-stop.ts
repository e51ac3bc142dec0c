/**
 * The start and the end of a serving process: the welcome text with its addresses, and an orderly stop on
 * SIGTERM and SIGINT.
 */
import cluster from "node:cluster";
import type { ProcessRole } from "#app/background.ts";
import type { Settings } from "#app/settings.ts";
import type { DemoFile } from "#demo/demo-file.ts";
import type { Log } from "#foundation/log.ts";
import { printLine } from "./output.ts";

export interface ServeOptions {
  readonly settings: Settings;
  readonly role: ProcessRole;
  readonly log: Log;
}

export interface ReadyState {
  readonly address: string;
  readonly demo: DemoFile | undefined;
}

/** Sent by a process to the one that started it. */
export interface ReadyMessage extends ReadyState {
  readonly type: "ready";
}

export function printWelcome({ settings, role }: ServeOptions, { address, demo }: ReadyState): void {
  if (role === "worker") {
    printLine(`\nCommerce Gateway's worker: health at ${address}/healthz and ${address}/readyz\n`);
    return;
  }
  printLine(`\nCommerce Gateway listens at ${address}`);
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
  printLine(`Demo account for the console and OAuth: ${demo.staff.email} with the password in demo.json\n`);
  printLine("Try it:");
  printLine(`  curl -H 'Authorization: Bearer ${demo.keys.full}' ${address}/api/v1/open/catalog/products`);
  if (product !== undefined)
    printLine(
      `  curl '${address}/api/v1/catalog/merchants/${product.merchantSlug}/products/${product.productSlug}'`,
    );
  printLine("");
}

/** A process that has not stopped by then is ended. */
const stopMsMax = 10_000;
const sameSignalMs = 1_000;

/**
 * Ends with 0 when `close` is done. The function that is given back does as a signal does, for the reason it
 * is told.
 */
export function stopOnSignal(close: () => Promise<void>, log: Log): (reason: string) => void {
  let stoppingSince: number | undefined;
  const stop = (signal: string): void => {
    if (stoppingSince !== undefined) {
      // npm and terminals pass a signal on, so a second one at once is the same. Of several processes the
      // first decides.
      if (cluster.isPrimary && performance.now() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "Stopping.");
    setTimeout(() => process.exit(1), stopMsMax).unref();
    close().then(
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
