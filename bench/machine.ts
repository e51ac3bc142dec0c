/**
 * Assigns cores to processes, and reads their CPU time and memory from /proc. Without Linux's /proc and
 * `taskset`, the processes are not pinned to cores, and CPU time and memory are 0.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";

export interface CoreAssignment {
  /** The core of the measured server, for `taskset --cpu-list`. */
  readonly server: string;
  /** The cores of PostgreSQL and of this process, which sends the load, for `taskset --cpu-list`. */
  readonly rest: string;
}

/**
 * Assigns the first core to the servers, which run one at a time, and the other cores to PostgreSQL and this
 * process. Returns undefined without `taskset` or with a single core.
 */
export function findCores(): CoreAssignment | undefined {
  if (spawnSync("taskset", ["--version"], { stdio: "ignore" }).status !== 0) return undefined;
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read("/proc/self/status"))?.[1];
  const list = (allowed ?? "").split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  const [server, ...rest] = list;
  return server === undefined || rest.length === 0
    ? undefined
    : { server: String(server), rest: rest.join(",") };
}

/** Pins this process, and the processes that it starts later, to its cores. */
export function pinThisProcess({ rest }: CoreAssignment): void {
  spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", rest, String(process.pid)], {
    stdio: "ignore",
  });
}

export function describeMachine(cores: CoreAssignment | undefined): string {
  const pinned =
    cores === undefined
      ? "not pinned"
      : `servers on core ${cores.server}, PostgreSQL and load on ${cores.rest}`;
  const memory = Math.round(totalmem() / 2 ** 30);
  const model = cpus()[0]?.model.trim() ?? "unknown CPU";
  return `${model}, ${cpus().length} cores, ${memory} GiB, Node ${process.versions.node}, ${pinned}`;
}

const ticksPerSecond = 100;

/** Returns the user and system time of a process in microseconds. */
export function processCpuMicros(pid: number): number {
  return microsIn(pid, [11, 12]);
}

/** Returns the CPU time of the ended child processes of a process. */
const endedCpuMicros = (pid: number): number => microsIn(pid, [13, 14]);

function microsIn(pid: number, columns: readonly number[]): number {
  const fields = afterName(read(`/proc/${pid}/stat`));
  return (columns.reduce((sum, column) => sum + Number(fields[column] ?? 0), 0) * 1_000_000) / ticksPerSecond;
}

/**
 * Returns the CPU time of a process and its child processes in microseconds. For PostgreSQL, the child
 * processes are the connections, including connections that a pool has closed.
 */
export function processTreeCpuMicros(pid: number): number {
  const children = listProcesses().filter((candidate) => findParentProcess(candidate) === pid);
  return [pid, ...children].reduce((sum, member) => sum + processCpuMicros(member), endedCpuMicros(pid));
}

/** Returns the id of the process that started a process; NaN if the process is not on this machine. */
export const findParentProcess = (pid: number): number =>
  Number(afterName(read(`/proc/${pid}/stat`))[1] ?? Number.NaN);

export function residentMegabytes(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

function listProcesses(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Returns the fields of /proc/…/stat after the program's name, which is in parentheses. */
const afterName = (stat: string): string[] => stat.slice(stat.lastIndexOf(")") + 2).split(" ");

/** Reads a file of /proc; returns an empty text if the process has ended or there is no /proc. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
