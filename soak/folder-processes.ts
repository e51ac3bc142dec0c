/** Ends all processes that a test has started with paths in its own temporary folder. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Kills every process whose command line contains the path of the folder, and returns the number of these
 * processes. Only the test that created the folder knows its path. A list of started processes would lack the
 * processes that these have started in turn, for example PostgreSQL, which Patroni starts.
 */
function killProcessesOf(folder: string): number {
  let found = 0;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 0) || pid === process.pid || !readCommandLine(pid).includes(folder)) continue;
    found += 1;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found;
}

/** Returns the command line of a process; "" if the process has ended. */
function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The maximum number of scans at the end of this process. A killed process can have started another one. */
const scansMax = 100;

/**
 * Returns an object that kills the processes of the folder and deletes the folder: when the object is
 * disposed, or when this process ends before.
 */
export function ownFolder(folder: string): AsyncDisposable {
  const remove = (): void =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  const removeAtEnd = (): void => {
    for (let scan = 0; scan < scansMax && killProcessesOf(folder) > 0; scan += 1);
    remove();
  };
  process.once("exit", removeAtEnd);
  return {
    [Symbol.asyncDispose]: async () => {
      while (killProcessesOf(folder) > 0) await sleep(50);
      process.removeListener("exit", removeAtEnd);
      remove();
    },
  };
}
