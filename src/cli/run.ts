/**
 * The command line: `npm run commerce -- COMMAND`. Declares the commands and prints an explanation if a
 * command fails. Exit codes: 0 on success, 1 if the command failed, 2 if its arguments are wrong. The
 * commands `serve`, `gateway` and `worker` start without loading the modules of other commands, so that they
 * start fast.
 */
import cluster from "node:cluster";
import { Command, CommanderError } from "commander";
import { InvalidSettingError, Failure } from "#foundation/failure.ts";
import { DataFolderUnusableError, waitForDataFolderLock } from "#database/folder-lock.ts";
import { isDatabaseUnreachableError, getSqlState } from "#database/database-errors.ts";
import { EncryptionKeysMismatchError } from "#app/encryption-keys.ts";
import type { ProcessRole } from "#app/background.ts";
import { findMisspelledSettings, parseServiceSettings, type ServiceSettings } from "#app/settings.ts";
import type { CliCommandRunner } from "./command-server.ts";
import { getStandardInputAlreadyRead } from "./command-session.ts";
import { printErrorLine, writeCliOutputText } from "./output.ts";
import { createLog, createPrettyLogOutput } from "#foundation/log.ts";

export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    const code = await runOrSendCommand(args);
    if (code !== 0) process.exitCode = code;
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

/**
 * Runs the command line. Returns exit code 2 if the arguments are wrong, otherwise 0. Rejects if the command
 * fails.
 */
async function runProgram(args: readonly string[]): Promise<number> {
  try {
    const program = await createCommandLineProgram(args[2]);
    await program.parseAsync(args);
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/**
 * Runs a command, or sends the command to the service if the service uses the embedded database. If the
 * service stops before it gets the command, the command waits for the end of the service and runs after it.
 * Returns the exit code of the command.
 */
async function runOrSendCommand(args: readonly string[], isSecondTry = false): Promise<number> {
  try {
    return await runProgram(args);
  } catch (error) {
    const { DatabaseUsedByServiceError } = await import("./command.ts");
    if (!(error instanceof DatabaseUsedByServiceError)) throw error;
    const { sendCliCommandToRunningService } = await import("./send-command.ts");
    const code = await sendCliCommandToRunningService(error.folder, {
      args: args.slice(2),
      input: getStandardInputAlreadyRead() ?? null,
    });
    if (code !== undefined) return code;
    if (isSecondTry || !error.isAcceptingCommands) throw error;
    const unlock = await waitForDataFolderLock(error.folder);
    unlock();
    return runOrSendCommand(args, true);
  }
}

/** Runs a command that another process has sent, with the input and output of that process. */
const runSentCommand: CliCommandRunner = async (args) => {
  try {
    return await runProgram(["node", "commerce", ...args]);
  } catch (error) {
    printErrorLine(explain(error));
    return 1;
  }
};

/** Returns the text of a failure for the operator: one line that says what to do, or the whole stack of a bug. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof InvalidSettingError) return `Setting ${error.message}`;
  if (error instanceof Failure) return error.parts.details?.[0]?.message ?? error.message;
  if (hasOperatorMessage(error)) return error.message;
  return explainListenError(error) ?? explainDatabaseError(error) ?? error.stack ?? error.message;
}

const hasOperatorMessage = (error: Error): boolean =>
  error instanceof DataFolderUnusableError ||
  error instanceof EncryptionKeysMismatchError ||
  error.message.startsWith("Migration ");

/**
 * Explains why the service cannot listen at HOST and PORT. Checks which system call failed, because an
 * unknown host name of the database has the same error code as an unknown HOST.
 */
function explainListenError(
  error: Error & { readonly code?: unknown; readonly syscall?: unknown; readonly hostname?: unknown },
): string | undefined {
  const { code, syscall, hostname } = error;
  if (code === "EADDRINUSE")
    return "PORT is used by another process: stop that process, or set another PORT (0 selects a free port).";
  if (code === "EACCES" && syscall === "listen")
    return "PORT may not be used by this user: set a PORT of 1024 or above.";
  if (code === "EADDRNOTAVAIL" || (syscall === "getaddrinfo" && hostname === process.env["HOST"]))
    return "HOST is not an address of this machine: set 127.0.0.1, or 0.0.0.0 for all addresses.";
  return undefined;
}

function explainDatabaseError(error: Error): string | undefined {
  if (isDatabaseUnreachableError(error))
    return `The database at DATABASE_URL does not respond: ${error.message || "connection refused"}`;
  // The SQLSTATE classes of two refusals by the database server: 28 (the user is not known or the password is
  // wrong) and 3D (the database does not exist).
  return /^(28|3D)/.test(getSqlState(error) ?? "")
    ? `The database at DATABASE_URL refuses the connection: ${error.message}`
    : undefined;
}

/** Declares all commands with their options and descriptions. */
export async function createCommandLineProgram(name: string | undefined): Promise<Command> {
  const program = new Command("commerce")
    .description("Commerce Gateway: the public API of a commerce platform.")
    .exitOverride();
  for (const [command, { role, description }] of Object.entries(serveCommands))
    program
      .command(command)
      .description(description)
      .option(
        "--processes <n>",
        "number of processes on the port, 1 to 64; overrides PROCESSES; more than one requires PostgreSQL",
      )
      .action(async (options: { processes?: string }) => serve(role, options));
  if (name === undefined || !Object.hasOwn(serveCommands, name)) await addOtherCommands(program);
  prepareCommands(program);
  return program;
}

/**
 * Makes a command and its subcommands write their output to the caller of the command, and throw an error
 * instead of exiting the process.
 */
function prepareCommands(command: Command): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => writeCliOutputText("stdout", text),
    writeErr: (text) => writeCliOutputText("stderr", text),
  });
  command.commands.forEach(prepareCommands);
}

const serveCommands = {
  serve: { role: "all", description: "Serves all requests and does all background work on one port." },
  gateway: {
    role: "gateway",
    description:
      "Serves requests; payments, webhook deliveries and sweeps are left to workers. Requires PostgreSQL.",
  },
  worker: {
    role: "worker",
    description:
      "Does payments, webhook deliveries and sweeps; serves only health checks and metrics. Any number " +
      "of workers can run. Requires PostgreSQL.",
  },
} as const;

async function addOtherCommands(program: Command): Promise<void> {
  const [
    { addSetupCommands, createConfigCommand },
    { addAccessCommands },
    { addOauthCommands },
    { addStaffCommands },
    { addMaintenanceCommands },
    { createWebhookCommand },
    { createPaymentProviderCommand },
    { addIntegratorCommands },
  ] = await Promise.all([
    import("./setup-commands.ts"),
    import("./access-commands.ts"),
    import("./oauth-commands.ts"),
    import("./staff-commands.ts"),
    import("./maintenance-commands.ts"),
    import("./webhook-commands.ts"),
    import("./payment-commands.ts"),
    import("#integrator/commands.ts"),
  ]);
  addSetupCommands(program);
  addAccessCommands(program);
  addOauthCommands(program);
  addStaffCommands(program);
  addMaintenanceCommands(program);
  program.addCommand(createWebhookCommand());
  program.addCommand(createPaymentProviderCommand());
  program.addCommand(createConfigCommand());
  addIntegratorCommands(program);
}

/**
 * Runs `serve`, `gateway` or `worker`: reads the settings and starts the service in one process or in several
 * processes.
 */
async function serve(role: ProcessRole, { processes }: { readonly processes?: string } = {}): Promise<void> {
  const settings = parseServiceSettings(
    processes === undefined ? process.env : { ...process.env, PROCESSES: processes },
  );
  requireDatabase(role, settings);
  const log = createLog(settings.logLevel, process.stdout.isTTY ? await createPrettyLogOutput() : undefined);
  // Modules are imported only where they are needed. The parent of several child processes serves no requests
  // itself, so it does not import the service.
  if (cluster.isWorker)
    return (await import("./one-process.ts")).serveAsChildProcess({
      settings,
      role,
      log: log.child({ pid: process.pid }),
    });
  for (const { given, meant } of findMisspelledSettings(process.env))
    log.warn({ setting: given }, `${given} is not a setting. Did you mean ${meant}?`);
  if (settings.processes > 1)
    return (await import("./processes.ts")).serveInChildProcesses({
      settings,
      role,
      log,
    });
  return (await import("./one-process.ts")).serveInOneProcess({
    settings,
    role,
    log,
    runCommand: runSentCommand,
  });
}

function requireDatabase(role: ProcessRole, { databaseUrl, processes }: ServiceSettings): void {
  if (databaseUrl !== undefined) return;
  if (role !== "all")
    throw new InvalidSettingError(
      `DATABASE_URL is required: ${role} shares its database with other processes, but the ` +
        "embedded database allows only one process.",
    );
  if (processes > 1)
    throw new InvalidSettingError(
      `DATABASE_URL is required with PROCESSES=${processes}: the embedded database allows only one process.`,
    );
}
