/**
 * A member of a PostgreSQL cluster: Patroni, run with deploy/patroni/patroni.yml, and the PostgreSQL server
 * that Patroni starts. A test can kill both, and start Patroni again. Both end with the folder of the cluster
 * (`ownFolder`).
 */
import { findFreePort } from "#foundation/free-port.ts";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const patroni = "/usr/bin/patroni";
/** The folder of the programs of the installed PostgreSQL 15. Patroni runs them, so they need no PATH. */
export const postgresPrograms = "/usr/lib/postgresql/15/bin";

const shipped = new URL("../deploy/patroni/patroni.yml", import.meta.url);

/** Root runs Patroni and PostgreSQL as the user `postgres`, because PostgreSQL refuses to run as root. */
function findPostgresUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: readPostgresId("-u"), gid: readPostgresId("-g") };
}

const readPostgresId = (flag: "-u" | "-g"): number =>
  Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));

interface Passwords {
  readonly superuser: string;
  readonly replication: string;
}

interface MemberOptions {
  readonly name: string;
  /** The folder of the whole cluster. The member creates its own folder in this folder. */
  readonly folder: string;
  readonly etcdPort: number;
  readonly passwords: Passwords;
}

/** The role of a member as Patroni reports it: `sync_standby` has stored every acknowledged commit. */
export interface MemberState {
  readonly name: string;
  readonly role: "leader" | "sync_standby" | "replica";
  readonly state: string;
}

export interface DatabaseMember {
  readonly name: string;
  /** The port of PostgreSQL. */
  readonly port: number;
  /** The port at which Patroni answers the health checks of HAProxy. */
  readonly restPort: number;
  /** Starts Patroni, unless it runs. Patroni then starts PostgreSQL. */
  start(): void;
  /**
   * Kills PostgreSQL's main process with SIGKILL; with `patroni: true`, kills Patroni before. Waits until the
   * other processes of PostgreSQL have ended, because a process that runs a statement ends only after it.
   */
  kill(options: { readonly patroni: boolean }): Promise<void>;
  /** Returns the roles of all members; undefined if Patroni of this member does not answer. */
  readCluster(): Promise<readonly MemberState[] | undefined>;
  /** Returns the end of Patroni's log. */
  readLog(): string;
}

export async function createMember(options: MemberOptions): Promise<DatabaseMember> {
  const { name } = options;
  const user = findPostgresUser();
  const folder = join(options.folder, name);
  const data = join(folder, "data");
  const log = join(folder, "patroni.log");
  const configuration = join(folder, "patroni.yml");
  mkdirSync(folder);
  copyFileSync(shipped, configuration);
  if (user !== undefined) for (const path of [folder, configuration]) chownSync(path, user.uid, user.gid);
  const [port, restPort] = [await findFreePort(), await findFreePort()];
  const env = patroniEnvironment({ ...options, port, restPort, folder, data });
  let running: ChildProcess | undefined;
  return {
    name,
    port,
    restPort,
    start: () => {
      if (isRunning(running)) return;
      const output = openSync(log, "a");
      running = spawn(patroni, [configuration], {
        ...user,
        cwd: folder,
        env,
        stdio: ["ignore", output, output],
      });
      closeSync(output);
    },
    kill: async (killed) => {
      if (killed.patroni && isRunning(running)) {
        const ended = once(running, "exit");
        running.kill("SIGKILL");
        await ended;
      }
      const pid = readServerPid(data);
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
      process.kill(pid, "SIGKILL");
      while (children.some((child) => existsSync(`/proc/${child}`))) await sleep(2);
    },
    readCluster: () => readCluster(restPort),
    readLog: () => readFileSync(log, "utf8").slice(-2000),
  };
}

const isRunning = (child: ChildProcess | undefined): child is ChildProcess =>
  child !== undefined && child.exitCode === null && child.signalCode === null;

interface MemberPlace extends MemberOptions {
  readonly port: number;
  readonly restPort: number;
  readonly data: string;
}

/** Returns the variables that deploy/patroni/patroni.yml lists. */
function patroniEnvironment({
  name,
  etcdPort,
  passwords,
  port,
  restPort,
  folder,
  data,
}: MemberPlace): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    LC_ALL: "C.UTF-8",
    PATRONI_NAME: name,
    PATRONI_ETCD3_HOSTS: `127.0.0.1:${etcdPort}`,
    PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${restPort}`,
    PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
    PATRONI_POSTGRESQL_DATA_DIR: data,
    PATRONI_POSTGRESQL_BIN_DIR: postgresPrograms,
    PATRONI_POSTGRESQL_PGPASS: join(folder, "pgpass"),
    PATRONI_SUPERUSER_USERNAME: "postgres",
    PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
    PATRONI_REPLICATION_USERNAME: "replicator",
    PATRONI_REPLICATION_PASSWORD: passwords.replication,
  };
}

/** Returns the process id in the first line of PostgreSQL's postmaster.pid. */
const readServerPid = (data: string): number =>
  Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);

const answerMsMax = 2_000;

async function readCluster(restPort: number): Promise<readonly MemberState[] | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
      signal: AbortSignal.timeout(answerMsMax),
    });
    const { members = [] } = (await answer.json()) as { readonly members?: readonly MemberState[] };
    return members;
  } catch {
    return undefined;
  }
}
