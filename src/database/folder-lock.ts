/**
 * One process per embedded database: a lock file with the process's id and start time, so that a lock left by
 * a killed process, or by another one that had the same id, is known to be stale. proper-lockfile judges a
 * lock by its age: a killed process would block the next start until the lock is old enough, and a process
 * that pauses would lose a lock that it still needs.
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
  const mine = JSON.stringify({ pid: process.pid, startedAt: startTimeOf(process.pid) });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (tryLink(draft, path)) return () => releaseLock(path, mine);
      const held = readIfThere(path);
      if (held === undefined) continue;
      const owner = parseLock(held);
      if (owner !== undefined && isAlive(owner))
        throw new FolderInUse(
          `DATA_DIR ${folder} is in use by process ${owner.pid}: stop it, or choose another DATA_DIR.`,
        );
      setAside(path, held);
    }
    throw new FolderInUse(`DATA_DIR ${folder} is being taken by another process.`);
  } finally {
    rmSync(draft, { force: true });
  }
}

interface Owner {
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

/** Moves a stale lock away. If another process has replaced the lock in the meantime, its lock is moved back. */
function setAside(path: string, stale: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readIfThere(aside) !== stale) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function releaseLock(path: string, mine: string): void {
  if (readIfThere(path) === mine) rmSync(path, { force: true });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parseLock(text: string): Owner | undefined {
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
 * True if the process of the lock still runs. A lock with this process's id is stale, because this process
 * has just started and ids repeat in containers.
 */
function isAlive({ pid, startedAt }: Owner): boolean {
  if (pid === process.pid && startedAt !== startTimeOf(pid)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return startedAt === null || startTimeOf(pid) === null || startTimeOf(pid) === startedAt;
}

/**
 * Returns the start time of a process in clock ticks since boot (field 22 of /proc/PID/stat); null without
 * such a file. The name in field 2 may contain spaces.
 */
function startTimeOf(pid: number): string | null {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
