/** `serve`, `gateway`, `worker`: reads the settings, and starts what they are for in this process or in several. */
import cluster from "node:cluster";
import type { Role } from "#app/background.ts";
import { misspeltSettings, readSettings, type Settings } from "#app/settings.ts";
import { BadSetting } from "#foundation/failure.ts";
import { createLog } from "#foundation/log.ts";

export async function serve(role: Role, { processes }: { readonly processes?: string } = {}): Promise<void> {
  const settings = readSettings(processes === undefined ? process.env : { ...process.env, PROCESSES: processes });
  requireDatabase(role, settings);
  const log = createLog(settings.logLevel, process.stdout.isTTY ? (await import("#foundation/pretty-log.ts")).createPrettyOutput() : undefined);
  // What each needs is loaded by itself: the process that starts the others serves nothing.
  if (cluster.isWorker) return (await import("./one-process.ts")).serveAsOneOfMany({ settings, role, log: log.child({ pid: process.pid }) });
  for (const { given, meant } of misspeltSettings(process.env)) log.warn({ setting: given }, `${given} is no setting: is ${meant} meant?`);
  if (settings.processes > 1) return (await import("./processes.ts")).serveInProcesses({ settings, role, log });
  return (await import("./one-process.ts")).serveAlone({ settings, role, log });
}

function requireDatabase(role: Role, { databaseUrl, processes }: Settings): void {
  if (databaseUrl !== undefined) return;
  if (role !== "all")
    throw new BadSetting(`DATABASE_URL is required: ${role} shares a database with other processes, and the embedded one has room for one.`);
  if (processes > 1) throw new BadSetting(`DATABASE_URL is required with PROCESSES=${processes}: the embedded database has room for one process.`);
}
