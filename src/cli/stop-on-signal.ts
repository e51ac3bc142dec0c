/** SIGTERM and SIGINT: an end in good order, within ten seconds. */
import cluster from "node:cluster";
import type { Log } from "#foundation/log.ts";

const stopMsMax = 10_000;
const sameSignalMs = 1_000;

/** Ends with 0 when `close` is done. The function that is given back does as a signal does, for the reason it is told. */
export function stopOnSignal(close: () => Promise<void>, log: Log): (reason: string) => void {
  let stoppingSince: number | undefined;
  const stop = (signal: string): void => {
    if (stoppingSince !== undefined) {
      // npm and terminals pass a signal on, so a second one at once is the same. Of several processes the first decides.
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
