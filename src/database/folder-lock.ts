/**
 * Makes sure that one process at a time uses an embedded database. A lock file has the process's id and start
 * time, which show that a lock is stale: its process was killed, or another process now has the id. The
 * package proper-lockfile judges a lock by its age. With it, a killed process would block the next start
 * until the lock is old enough, and a paused process would lose a lock that it still needs.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export class FolderUnusable extends Error {}
export class FolderInUse extends FolderUnusable {}

/** Translates an error of the file system into an error that names DATA_DIR; returns other errors unchanged. */
export function toFolderError(folder: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  return new FolderUnusable(`DATA_DIR ${folder} cannot be used: ${error.message}`, { cause: error });
}

/** Locks the folder, or throws FolderInUse. Returns a function that unlocks it. */
export function lockFolder(folder: string): () => void {
  const path = join(folder, "lock");
  const ownLock = JSON.stringify({ pid: process.pid, startedAt: processStartTime(process.pid) });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, ownLock, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (tryLink(draft, path)) return () => releaseLock(path, ownLock);
      const found = readIfExists(path);
      if (found === undefined) continue;
      const owner = parseLock(found);
      if (owner !== undefined && isAlive(owner))
        throw new FolderInUse(
          `DATA_DIR ${folder} is in use by process ${owner.pid}: stop it, or choose another DATA_DIR.`,
        );
      moveStaleLock(path, found);
    }
    throw new FolderInUse(`DATA_DIR ${folder} is being locked by another process. Try again.`);
  } finally {
    rmSync(draft, { force: true });
  }
}

interface LockOwner {
  readonly pid: number;
  readonly startedAt: string | null;
}

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
 * Moves a stale lock away. If another process has replaced the lock in the meantime, the new lock is moved
 * back.
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

function parseLock(text: string): LockOwner | undefined {
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
 * True if the process of the lock still runs. A lock with this process's id and another start time is stale:
 * process ids repeat in containers.
 */
function isAlive({ pid, startedAt }: LockOwner): boolean {
  if (pid === process.pid && startedAt !== processStartTime(pid)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return startedAt === null || processStartTime(pid) === null || processStartTime(pid) === startedAt;
}

/**
 * Returns the start time of a process in clock ticks since boot (field 22 of /proc/PID/stat); null without
 * such a file. The process name in field 2 may contain spaces.
 */
function processStartTime(pid: number): string | null {
  const stat = readIfExists(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
