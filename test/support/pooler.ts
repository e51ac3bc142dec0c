/**
 * A PgBouncer in front of PostgreSQL in transaction pooling mode: a client has a server connection only
 * during a transaction, so no session state survives.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { chownSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled, type Listening, startProgram } from "./program.ts";

const pgbouncer = "/usr/sbin/pgbouncer";

export const hasPooler = isInstalled(pgbouncer, "--version");

/** PgBouncer refuses to run as root, so a root process runs it as `nobody`. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

export interface Pooler extends Listening {
  /** The URL of the same database through PgBouncer. */
  readonly url: string;
}

/** Fewer server connections than clients, so that the clients share them. */
const connectionsOfServer = 8;

export async function startPooler(databaseUrl: string): Promise<Pooler> {
  const port = await findFreePort();
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
