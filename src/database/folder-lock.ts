/**
 * Makes sure that only one process at a time uses the data folder of the embedded database. A process that
 * uses the folder writes a lock file with its process id and its start time. A lock is stale if no running
 * process has this id and start time, for example because the process was killed. The package proper-lockfile
 * is not used, because it judges a lock by its age. After a process was killed, the next start would have to
 * wait until the lock is old enough. A paused process would lose a lock that it still needs.
 */
import { spawnSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export class DataFolderUnusableError extends Error {}
export class DataFolderInUseError extends DataFolderUnusableError {}

/**
 * Maximum number of milliseconds for which a starting process waits for the lock of another process. A
 * process that is being stopped normally removes its lock sooner.
 */
const lockWaitMs = 3_000;
const lockPollMs = 50;

/**
 * Locks the folder as `lockDataFolder` does, but waits for some seconds if another process holds the lock.
 * Does not wait if this process itself holds the lock, or if `isWaitUseful` returns false.
 */
export async function waitForDataFolderLock(
  folder: string,
  isWaitUseful: () => boolean = () => true,
): Promise<() => void> {
  const deadline = performance.now() + lockWaitMs;
  for (;;)
    try {
      return lockDataFolder(folder);
    } catch (error) {
      const isOther =
        error instanceof DataFolderInUseError && readDataFolderLockOwner(folder)?.pid !== process.pid;
      if (!isOther || performance.now() >= deadline || !isWaitUseful()) throw error;
      await sleep(lockPollMs);
    }
}

/** Returns the process that holds the lock of the folder, or has left a stale lock; undefined without a lock. */
export const readDataFolderLockOwner = (folder: string): DataFolderLockOwner | undefined =>
  parseLock(readIfExists(join(folder, "lock")) ?? "");

/**
 * Converts an error of the file system to an error that names the setting DATA_DIR. Returns other errors
 * unchanged.
 */
export function toDataFolderUnusableError(folder: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  return new DataFolderUnusableError(`DATA_DIR ${folder} cannot be used: ${error.message}`, { cause: error });
}

/**
 * Locks a folder for this process and returns the function that unlocks it. Throws DataFolderInUseError if
 * another running process has locked the folder.
 */
export function lockDataFolder(folder: string): () => void {
  const path = join(folder, "lock");
  const ownLock = JSON.stringify(getOwnDataFolderLockOwner());
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, ownLock, { mode: 0o600 });
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (tryLink(draft, path)) return () => releaseLock(path, ownLock);
      const found = readIfExists(path);
      if (found === undefined) continue;
      const owner = parseLock(found);
      if (owner !== undefined && isAlive(owner))
        throw new DataFolderInUseError(
          `DATA_DIR ${folder} is in use by process ${owner.pid}: stop it, or choose another DATA_DIR.`,
        );
      moveStaleLock(path, found);
    }
    throw new DataFolderInUseError(`DATA_DIR ${folder} is being locked by another process. Try again.`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A process as its locks name it. */
export interface DataFolderLockOwner {
  readonly pid: number;
  /** The start time of the process as the system writes it; null if it cannot be read. */
  readonly startedAt: string | null;
}

/** Returns this process as its locks name it. */
export const getOwnDataFolderLockOwner = (): DataFolderLockOwner => ({
  pid: process.pid,
  startedAt: readProcessEntry(process.pid)?.startedAt ?? null,
});

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes a stale lock by renaming it. If the renamed file is not the stale lock, another process has locked
 * the folder in the meantime, so the file is moved back.
 */
function moveStaleLock(path: string, stale: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readIfExists(aside) !== stale) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function releaseLock(path: string, ownLock: string): void {
  if (readIfExists(path) === ownLock) rmSync(path, { force: true });
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parseLock(text: string): DataFolderLockOwner | undefined {
  try {
    const owner: unknown = JSON.parse(text);
    if (typeof owner !== "object" || owner === null || !("pid" in owner) || typeof owner.pid !== "number")
      return undefined;
    return {
      pid: owner.pid,
      startedAt: "startedAt" in owner && typeof owner.startedAt === "string" ? owner.startedAt : null,
    };
  } catch {
    return undefined;
  }
}

/**
 * Returns whether the process that wrote the lock still runs. The start time is compared too, because
 * containers assign the same process ids again and again. A lock with the id of this process but another
 * start time is stale. An ended process can stay in the process table until its parent reads its exit status,
 * or forever in a container without an init process. It counts as ended nevertheless.
 */
function isAlive({ pid, startedAt }: DataFolderLockOwner): boolean {
  const entry = readProcessEntry(pid);
  if (pid === process.pid && startedAt !== (entry?.startedAt ?? null)) return false;
  if (entry?.hasEnded) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return startedAt === null || entry === undefined || entry.startedAt === startedAt;
}

interface ProcessEntry {
  /**
   * The start time of the process: on Linux in clock ticks since the machine was booted, on systems without
   * /proc (macOS) as a date.
   */
  readonly startedAt: string | null;
  readonly hasEnded: boolean;
}

/** Matches the states of a process that has ended: Z (zombie) and X (dead). */
const endedState = /^[ZXx]/;

/** Returns the entry of a process in the process table; undefined if the entry cannot be read. */
function readProcessEntry(pid: number): ProcessEntry | undefined {
  const stat = readIfExists(`/proc/${pid}/stat`);
  if (stat !== undefined) return parseProcStat(stat);
  return process.platform === "linux" ? undefined : readProcessStatusWithPsCommand(pid);
}

/**
 * Parses /proc/PID/stat. Field 3 is the state, field 22 the start time. The fields are counted from the last
 * parenthesis, because the process name in field 2 may contain spaces.
 */
function parseProcStat(stat: string): ProcessEntry {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { startedAt: fields[19] ?? null, hasEnded: endedState.test(fields[0] ?? "") };
}

/** Reads the entry with the program `ps`, on systems without /proc. */
export function readProcessStatusWithPsCommand(pid: number): ProcessEntry | undefined {
  const { status, stdout } = spawnSync("ps", ["-o", "state=", "-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
  });
  const [, state, startedAt] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(stdout ?? "") ?? [];
  if (status !== 0 || state === undefined) return undefined;
  return { startedAt: startedAt ?? null, hasEnded: endedState.test(state) };
}
