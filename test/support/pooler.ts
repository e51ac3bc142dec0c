/**
 * A PgBouncer in front of a PostgreSQL, which gives a connection for a transaction and takes it back: nothing
 * of a session outlives it.
 */
import { chownSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#soak/service.ts";
import { isInstalled, type Listening, startProgram } from "./program.ts";

const pgbouncer = "/usr/sbin/pgbouncer";

export const hasPooler = isInstalled(pgbouncer, "--version");

/** It refuses to run as root, so there it runs as `nobody`. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

export interface Pooler extends Listening {
  /** The same database, through it. */
  readonly url: string;
}

/** Few connections for many clients, so that they do share them. */
const connectionsOfServer = 8;

export async function startPooler(databaseUrl: string): Promise<Pooler> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-pgbouncer-"));
  const file = join(folder, "pgbouncer.ini");
  const { hostname, port: serverPort, username } = new URL(databaseUrl);
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connectionsOfServer}
max_client_conn = 200
logfile = ${join(folder, "log")}
`,
  );
  if (user !== undefined) for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
  const listening = await startProgram({ file: pgbouncer, args: ["-q", file], port, folder, user });
  const url = new URL(databaseUrl);
  url.port = String(port);
  return { ...listening, url: String(url) };
}
