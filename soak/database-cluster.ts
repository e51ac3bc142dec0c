/**
 * Starts the PostgreSQL cluster of deploy/patroni on this machine: etcd, three members under Patroni, and
 * HAProxy, which connects clients to the primary. Needs the Debian packages patroni, etcd-server, haproxy and
 * postgresql-15.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { isInstalled, startProgram } from "#test/support/program.ts";
import {
  createMember,
  type DatabaseMember,
  type MemberState,
  patroni,
  postgresPrograms,
} from "./database-members.ts";
import { ownFolder } from "./folder-processes.ts";

const etcd = "/usr/bin/etcd";
const haproxy = "/usr/sbin/haproxy";

export const hasHaproxy = isInstalled(haproxy, "-v");

const shipped = new URL("../deploy/patroni/haproxy.cfg", import.meta.url);

/** Returns the Debian packages that the cluster needs and that are not installed. */
export function findMissingPackages(): readonly string[] {
  return [
    ...(isInstalled(patroni, "--version") ? [] : ["patroni"]),
    ...(isInstalled(etcd, "--version") ? [] : ["etcd-server"]),
    ...(hasHaproxy ? [] : ["haproxy"]),
    ...(existsSync(join(postgresPrograms, "postgres")) ? [] : ["postgresql-15"]),
  ];
}

export interface DatabaseCluster extends AsyncDisposable {
  /** The URL of the primary through HAProxy, for DATABASE_URL. */
  readonly url: string;
  /** The URL of the standbys through HAProxy, for DATABASE_READ_URL. */
  readonly standbysUrl: string;
  readonly members: readonly DatabaseMember[];
  /** Returns the primary. Throws while HAProxy knows no primary. */
  findPrimary(): Promise<DatabaseMember | undefined>;
  /** Returns whether all members run, and the primary has one synchronous and one other streaming standby. */
  isWhole(): Promise<boolean>;
}

/** The role that owns the service's database, as docs/operating.md creates it. */
const owner = "commerce";
/**
 * The folder of a file system in memory, which the cluster uses if it exists: on a busy disk, a member that
 * was killed needs minutes to write all of its files to the disk (fsync) before it starts.
 */
const memoryFolder = "/dev/shm";
const folderPrefix = "commerce-gateway-patroni-";
const memberNames = ["db-1", "db-2", "db-3"];
const startMsMax = 180_000;

export async function startDatabaseCluster(): Promise<DatabaseCluster> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(existsSync(memoryFolder) ? memoryFolder : tmpdir(), folderPrefix));
  // The user `postgres` must be able to enter the folder.
  chmodSync(folder, 0o755);
  stack.use(ownFolder(folder));
  const etcdPort = await startEtcd(folder, stack);
  const passwords = { superuser: createPassword(), replication: createPassword(), owner: createPassword() };
  const members: DatabaseMember[] = [];
  for (const name of memberNames) members.push(await createMember({ name, folder, etcdPort, passwords }));
  const ports = stack.use(await startHaproxy(folder, members));
  const rootUrl = urlOf("postgres", { password: passwords.superuser, port: ports.primary, name: "postgres" });
  const cluster = {
    url: urlOf(owner, { password: passwords.owner, port: ports.primary, name: owner }),
    standbysUrl: urlOf(owner, { password: passwords.owner, port: ports.standbys, name: owner }),
    members,
    findPrimary: () => findPrimary(members, rootUrl),
    isWhole: () => isWhole(members, rootUrl),
  };
  for (const member of members) member.start();
  await waitUntil(cluster.isWhole, () => members.map((member) => member.readLog()).join("\n"));
  await runSql(rootUrl, `create role ${owner} login password '${passwords.owner}'`);
  await runSql(rootUrl, `create database ${owner} owner ${owner}`);
  const started = stack.move();
  return { ...cluster, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

interface UrlParts {
  readonly password: string;
  readonly port: number;
  readonly name: string;
}

const urlOf = (user: string, { password, port, name }: UrlParts): string =>
  `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;

const createPassword = (): string => randomBytes(16).toString("hex");

/** Waits until the condition is true. Throws an error with the log after three minutes. */
async function waitUntil(isTrue: () => Promise<boolean>, readLog: () => string): Promise<void> {
  for (const until = performance.now() + startMsMax; !(await isTrue()); await sleep(200))
    if (performance.now() > until)
      throw new Error(`The cluster was not complete within ${startMsMax / 1000} s.\n${readLog()}`);
}

async function startEtcd(folder: string, stack: AsyncDisposableStack): Promise<number> {
  const [port, peerPort] = [await findFreePort(), await findFreePort()];
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const home = join(folder, "etcd");
  const options = {
    "data-dir": home,
    "listen-client-urls": clientUrl,
    "advertise-client-urls": clientUrl,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `default=${peerUrl}`,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  stack.use(await startProgram({ file: etcd, args, port, folder: home }));
  return port;
}

export interface DatabaseProxy extends AsyncDisposable {
  /** The port that leads to the primary. */
  readonly primary: number;
  /** The port that leads to the standbys. */
  readonly standbys: number;
}

/** Starts HAProxy with deploy/patroni/haproxy.cfg, whose addresses are replaced. Needs three members. */
export async function startHaproxy(
  folder: string,
  members: readonly Pick<DatabaseMember, "port" | "restPort">[],
): Promise<DatabaseProxy> {
  const ports = { primary: await findFreePort(), standbys: await findFreePort() };
  const home = join(folder, "haproxy");
  const file = join(home, "haproxy.cfg");
  mkdirSync(home);
  const changes: (readonly [string, string])[] = [
    ["127.0.0.1:5000", `127.0.0.1:${ports.primary}`],
    ["127.0.0.1:5001", `127.0.0.1:${ports.standbys}`],
    ...members.map(({ port, restPort }, index): readonly [string, string] => [
      `10.0.0.1${index + 1}:5432 check port 8008`,
      `127.0.0.1:${port} check port ${restPort}`,
    ]),
  ];
  let configuration = readFileSync(shipped, "utf8");
  for (const [from, to] of changes) {
    if (!configuration.includes(from))
      throw new Error(`deploy/patroni/haproxy.cfg does not contain: ${from}`);
    configuration = configuration.replaceAll(from, to);
  }
  writeFileSync(file, configuration);
  const args = ["-db", "-f", file];
  const started = await startProgram({ file: haproxy, args, port: ports.primary, folder: home });
  return { ...ports, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}

/** Asks the primary itself through HAProxy, because Patroni's list of members can be some seconds old. */
async function findPrimary(
  members: readonly DatabaseMember[],
  rootUrl: string,
): Promise<DatabaseMember | undefined> {
  const [row] = await runSql(rootUrl, "select current_setting('port')::int as port");
  return members.find(({ port }) => port === row?.["port"]);
}

/**
 * Asks the primary for its standbys, and Patroni of each member for the roles of all members. Patroni's
 * answers can be some seconds old; the cluster is whole only if all of them agree with the primary.
 */
async function isWhole(members: readonly DatabaseMember[], rootUrl: string): Promise<boolean> {
  try {
    const standbys = await runSql(
      rootUrl,
      "select application_name as name, sync_state from pg_stat_replication where state = 'streaming'",
    );
    const nameOf = (state: string): unknown => standbys.find((row) => row["sync_state"] === state)?.["name"];
    const [synchronous, other] = [nameOf("sync"), nameOf("async")];
    if (synchronous === undefined || other === undefined) return false;
    const views = await Promise.all(members.map((member) => member.readCluster()));
    return views.every(
      (view = []) => findName(view, "sync_standby") === synchronous && findName(view, "replica") === other,
    );
  } catch {
    return false;
  }
}

const findName = (view: readonly MemberState[], role: MemberState["role"]): string | undefined =>
  view.find((member) => member.role === role)?.name;

async function runSql(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 10_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
