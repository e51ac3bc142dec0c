/**
 * The lock on the folder of an embedded database: held by one living process, and taken over only from a dead
 * one.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import {
  DataFolderInUseError,
  DataFolderUnusableError,
  lockDataFolder,
  readProcessStatusWithPsCommand,
  waitForDataFolderLock,
} from "#database/folder-lock.ts";
import { migratedFolder } from "#test/support/copies.ts";

const hasPs = spawnSync("ps", ["-p", String(process.pid)]).status === 0;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lockOf = (): { pid: number; startedAt: string | null } =>
  JSON.parse(readFileSync(join(folder, "lock"), "utf8")) as never;
const writeLock = (lock: unknown): void =>
  writeFileSync(join(folder, "lock"), typeof lock === "string" ? lock : JSON.stringify(lock));

const startTimeOf = (pid: number): string | undefined => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
};

/** Returns the id of a process that has certainly ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["--eval", ""]);
  await once(child, "exit");
  return child.pid ?? 0;
}

it("the lock of a folder names its process, is readable only by its owner, and is deleted on release", () => {
  const release = lockDataFolder(folder);
  expect(lockOf()).toEqual({ pid: process.pid, startedAt: expect.stringMatching(/^\d+$/) as unknown });
  expect(statSync(join(folder, "lock")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["lock"]);
  release();
  expect(readdirSync(folder)).toEqual([]);
  lockDataFolder(folder)();
});

it("the lock of a folder is refused while this process holds it, naming folder and process", () => {
  const release = lockDataFolder(folder);
  const expected = `DATA_DIR ${folder} is in use by process ${process.pid}: stop it, or choose another DATA_DIR.`;
  expect(() => lockDataFolder(folder)).toThrow(new DataFolderInUseError(expected));
  expect(lockOf().pid).toBe(process.pid);
  release();
});

it("the lock of a folder is refused while another living process holds it", async () => {
  const child = spawn(process.execPath, ["--eval", "process.stdin.resume()"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  try {
    await once(child, "spawn");
    writeLock({ pid: child.pid, startedAt: startTimeOf(child.pid ?? 0) });
    expect(() => lockDataFolder(folder)).toThrow(`in use by process ${child.pid}`);
    writeLock({ pid: child.pid, startedAt: null });
    expect(() => lockDataFolder(folder)).toThrow(DataFolderInUseError);
  } finally {
    child.kill("SIGKILL");
  }
});

it("the lock of a folder is taken over from a process that has ended but is still in the process table", async () => {
  // The shell starts a process and replaces itself by a program that never reads the exit status. The process
  // ends only after that, because the shell could read the exit status.
  const parent = spawn("sh", ["-c", "sleep 1 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [text] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(text);
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
    writeLock({ pid, startedAt: startTimeOf(pid) });
    lockDataFolder(folder)();
    writeLock({ pid, startedAt: null });
    lockDataFolder(folder)();
    // Systems without /proc have the program `ps`.
    if (hasPs) expect(readProcessStatusWithPsCommand(pid)?.hasEnded).toBe(true);
  } finally {
    parent.kill("SIGKILL");
  }
});

it.runIf(hasPs)("the entry of a process is read with ps if there is no /proc", async () => {
  const own = readProcessStatusWithPsCommand(process.pid);
  expect(own).toEqual({
    startedAt: expect.stringMatching(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/) as unknown,
    hasEnded: false,
  });
  expect(readProcessStatusWithPsCommand(process.pid)).toEqual(own);
  expect(readProcessStatusWithPsCommand(await deadPid())).toBeUndefined();
});

it("a start waits for the lock of a process that is ending", async () => {
  const child = spawn(process.execPath, ["--eval", "process.stdin.resume()"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  await once(child, "spawn");
  writeLock({ pid: child.pid, startedAt: startTimeOf(child.pid ?? 0) });
  const waiting = waitForDataFolderLock(folder);
  child.kill("SIGKILL");
  const release = await waiting;
  expect(lockOf().pid).toBe(process.pid);
  // It does not wait for its own process.
  await expect(waitForDataFolderLock(folder)).rejects.toThrow(DataFolderInUseError);
  release();
});

it("a start waits for the lock of another process only while waiting is useful", async () => {
  writeLock({ pid: process.ppid, startedAt: startTimeOf(process.ppid) });
  const answers = [true, true, false];
  await expect(waitForDataFolderLock(folder, () => answers.shift() ?? false)).rejects.toThrow(
    DataFolderInUseError,
  );
  expect(answers).toEqual([]);
});

it.each([
  ["a dead process", async () => ({ pid: await deadPid(), startedAt: "1" })],
  ["a process whose id another one has now", () => Promise.resolve({ pid: process.ppid, startedAt: "1" })],
  ["a process that had our id", () => Promise.resolve({ pid: process.pid, startedAt: "1" })],
  ["nobody: half a file", () => Promise.resolve('{"pid":')],
  ["nobody: an empty file", () => Promise.resolve("")],
  ["nobody: no pid", () => Promise.resolve({ pid: "x" })],
])("the lock of a folder is taken over from %s", async (_name, left) => {
  writeLock(await left());
  const release = lockDataFolder(folder);
  expect(lockOf().pid).toBe(process.pid);
  expect(readdirSync(folder)).toEqual(["lock"]);
  release();
});

it("the lock of a folder that was taken over is not released by the process that lost it", () => {
  const release = lockDataFolder(folder);
  writeLock({ pid: process.ppid, startedAt: "1" });
  release();
  expect(lockOf().pid).toBe(process.ppid);
});

it("the lock of a folder is released if the database cannot be opened, and when it is closed", async () => {
  writeFileSync(join(folder, "database"), "no folder");
  expect(await openDatabase({ folder }).catch(() => "refused")).toBe("refused");
  expect(existsSync(join(folder, "lock"))).toBe(false);
  rmSync(join(folder, "database"));
  cpSync(await migratedFolder(), folder, { recursive: true });
  const database = await openDatabase({ folder });
  await expect(openDatabase({ folder })).rejects.toThrow(DataFolderInUseError);
  await database.close();
  expect(existsSync(join(folder, "lock"))).toBe(false);
});

it("the lock of a folder names the responsible setting if the folder cannot be created", async () => {
  writeFileSync(join(folder, "file"), "");
  const inside = join(folder, "file", "data");
  await expect(openDatabase({ folder: inside })).rejects.toThrow(DataFolderUnusableError);
  await expect(openDatabase({ folder: inside })).rejects.toThrow(
    `DATA_DIR ${inside} cannot be used: ENOTDIR`,
  );
});
