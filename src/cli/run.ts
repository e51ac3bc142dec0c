/**
 * The command line: `npm run commerce -- COMMAND`. Exit code 0: done, 1: it failed, 2: the command was not
 * understood. Declares the commands and explains their failures. The modules of the other commands are loaded
 * only if the command is none of `serve`, `gateway` and `worker`, so that serving starts fast.
 */
import cluster from "node:cluster";
import { Command, CommanderError } from "commander";
import { BadSetting, Failure } from "#foundation/failure.ts";
import { FolderUnusable } from "#database/folder-lock.ts";
import { isDatabaseAway, sqlState } from "#database/database-errors.ts";
import type { ProcessRole } from "#app/background.ts";
import { findMisspeltSettings, readSettings, type Settings } from "#app/settings.ts";
import { createLog, createPrettyOutput } from "#foundation/log.ts";

export async function runCommandLine(words: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(words[2]);
    await program.parseAsync(words);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      process.stderr.write(`${explain(error)}\n`);
      process.exit(1);
    }
  }
}

/**
 * The text of a failure for a person at the command line: one line that says what to do, or the whole stack
 * of a bug.
 */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof BadSetting) return `Setting ${error.message}`;
  if (error instanceof Failure) return error.parts.details?.[0]?.message ?? error.message;
  if (isForPeople(error)) return error.message;
  return cannotListen(error) ?? databaseRefusal(error) ?? error.stack ?? error.message;
}

const isForPeople = (error: Error): boolean =>
  error instanceof FolderUnusable || error.message.startsWith("Migration ");

/** Told by the call that failed: looking up the database's name fails with the same code as looking up HOST. */
function cannotListen(
  error: Error & { readonly code?: unknown; readonly syscall?: unknown; readonly hostname?: unknown },
): string | undefined {
  const { code, syscall, hostname } = error;
  if (code === "EADDRINUSE")
    return "PORT is taken by another process: stop it, or set another PORT (0 picks a free one).";
  if (code === "EACCES" && syscall === "listen")
    return "PORT is not open to this user: set one from 1024 upwards.";
  if (code === "EADDRNOTAVAIL" || (syscall === "getaddrinfo" && hostname === process.env["HOST"]))
    return "HOST is no address of this machine: set 127.0.0.1, or 0.0.0.0 for all of them.";
  return undefined;
}

function databaseRefusal(error: Error): string | undefined {
  if (isDatabaseAway(error))
    return `The database at DATABASE_URL does not answer: ${error.message || "connection refused"}`;
  // Classes 28 and 3D: who asks is not known there, or what is asked for.
  return /^(28|3D)/.test(sqlState(error) ?? "")
    ? `The database at DATABASE_URL refuses: ${error.message}`
    : undefined;
}

/** All commands with their options and help. */
export async function createProgram(name: string | undefined): Promise<Command> {
  const program = new Command("commerce")
    .description("Commerce Gateway: a commerce platform's public API.")
    .exitOverride();
  for (const [command, { role, description }] of Object.entries(serving))
    program
      .command(command)
      .description(description)
      .option(
        "--processes <n>",
        "how many share the port, 1 to 64, instead of PROCESSES; more than one need PostgreSQL",
      )
      .action(async (options: { processes?: string }) => serve(role, options));
  if (name === undefined || !Object.hasOwn(serving, name)) await addOthers(program);
  for (const command of program.commands) command.exitOverride();
  return program;
}

const serving = {
  serve: { role: "all", description: "Serves everything on one port." },
  gateway: {
    role: "gateway",
    description: "Serves requests and leaves payments, webhooks and sweeps to workers. Needs PostgreSQL.",
  },
  worker: {
    role: "worker",
    description:
      "Does payments, webhooks and sweeps, and answers for its health alone. Any number of them. Needs PostgreSQL.",
  },
} as const;

async function addOthers(program: Command): Promise<void> {
  const [
    { addSetupCommands, configCommand },
    { addAccessCommands },
    { addOauthCommands },
    { addStaffCommands },
    { addMaintenanceCommands },
    { webhookCommand },
  ] = await Promise.all([
    import("./setup-commands.ts"),
    import("./access-commands.ts"),
    import("./oauth-commands.ts"),
    import("./staff-commands.ts"),
    import("./maintenance-commands.ts"),
    import("./webhook-commands.ts"),
  ]);
  addSetupCommands(program);
  addAccessCommands(program);
  addOauthCommands(program);
  addStaffCommands(program);
  addMaintenanceCommands(program);
  program.addCommand(webhookCommand());
  program.addCommand(configCommand());
}

/** `serve`, `gateway`, `worker`: reads the settings and starts the role in this process or in several. */
async function serve(role: ProcessRole, { processes }: { readonly processes?: string } = {}): Promise<void> {
  const settings = readSettings(
    processes === undefined ? process.env : { ...process.env, PROCESSES: processes },
  );
  requireDatabase(role, settings);
  const log = createLog(settings.logLevel, process.stdout.isTTY ? await createPrettyOutput() : undefined);
  // Each role loads its own modules: the process that starts the others serves nothing.
  if (cluster.isWorker)
    return (await import("./one-process.ts")).serveAsChildProcess({
      settings,
      role,
      log: log.child({ pid: process.pid }),
    });
  for (const { given, meant } of findMisspeltSettings(process.env))
    log.warn({ setting: given }, `${given} is no setting: is ${meant} meant?`);
  if (settings.processes > 1)
    return (await import("./processes.ts")).serveInProcesses({ settings, role, log });
  return (await import("./one-process.ts")).serveInOneProcess({ settings, role, log });
}

function requireDatabase(role: ProcessRole, { databaseUrl, processes }: Settings): void {
  if (databaseUrl !== undefined) return;
  if (role !== "all")
    throw new BadSetting(
      `DATABASE_URL is required: ${role} shares a database with other processes, and the embedded one has room for one.`,
    );
  if (processes > 1)
    throw new BadSetting(
      `DATABASE_URL is required with PROCESSES=${processes}: the embedded database has room for one process.`,
    );
}
