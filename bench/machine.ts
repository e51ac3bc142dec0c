/**
 * The machine: its cores, and what /proc says of a process. Without Linux's /proc and `taskset` the benchmark
 * runs unpinned, and CPU and memory read 0.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";

export interface CoreAssignment {
  /** What `taskset --cpu-list` takes. */
  readonly server: string;
  readonly rest: string;
}

/**
 * The first core is the servers', one at a time; the others are PostgreSQL's and ours. Undefined: there is
 * nothing to pin with or to.
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

/** Everything started from now on inherits it. */
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
  return `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores, ${memory} GiB, Node ${process.versions.node}, ${pinned}`;
}

const ticksPerSecond = 100;

/** User and system time so far, in microseconds. */
export function processCpuMicros(pid: number): number {
  return microsIn(pid, [11, 12]);
}

/** Of the processes it started that have ended. */
const endedCpuMicros = (pid: number): number => microsIn(pid, [13, 14]);

function microsIn(pid: number, columns: readonly number[]): number {
  const fields = afterName(read(`/proc/${pid}/stat`));
  return (columns.reduce((sum, column) => sum + Number(fields[column] ?? 0), 0) * 1_000_000) / ticksPerSecond;
}

/**
 * Of a process and the processes it started, which for PostgreSQL are the connections; a pool closes those
 * that it has not used for a while.
 */
export function processTreeCpuMicros(pid: number): number {
  const children = listProcesses().filter(
    (candidate) => Number(afterName(read(`/proc/${candidate}/stat`))[1]) === pid,
  );
  return [pid, ...children].reduce((sum, member) => sum + processCpuMicros(member), endedCpuMicros(pid));
}

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

/** The second field is the program's name in parentheses, which may hold anything. */
const afterName = (stat: string): string[] => stat.slice(stat.lastIndexOf(")") + 2).split(" ");

/** Empty when there is no such file: the process has ended, or this is not Linux. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
