/**
 * Functions that all commands use: they open the configured database, declare common options, and run a
 * change in one transaction together with its events and its audit entry (`runAuditedCliCommand`).
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import type { InstallationOrApiKeyEvent } from "#access/credential-changes.ts";
import type { AccessManagementCommandContext } from "#access/keys/manage-keys.ts";
import { appendAuditEntries, commandLineActor, getIdIfSafeForAuditLog } from "#access/audit.ts";
import { parseServiceSettings, type ServiceSettings } from "#app/settings.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import {
  type Database,
  embeddedDatabaseFolder,
  type OpenedDatabase,
  openDatabase,
} from "#database/connect.ts";
import { DataFolderInUseError } from "#database/folder-lock.ts";
import { isMigrationTableCreated, migrate } from "#database/migrate.ts";
import { InvalidSettingError } from "#foundation/failure.ts";
import { readCommandServerPortAndSecret } from "./command-file.ts";
import { getCliCommandEnvironment } from "./command-session.ts";
import { printCommandResult } from "./output.ts";

export interface JsonOutputOption {
  readonly json?: boolean;
}

export const createCliCommand = (name: string, description: string): Command =>
  new Command(name).description(description).option("--json", "print the result as JSON").exitOverride();

interface CommandLineContext extends AccessManagementCommandContext {
  /**
   * Collects the events about installations and API keys that the change causes. The events are published at
   * the end of the transaction that makes the change.
   */
  readonly publish: (events: readonly InstallationOrApiKeyEvent[]) => void;
  readonly settings: ServiceSettings;
}

type Result = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * The name of the change in the audit entry: the name of the GraphQL mutation that makes the same change.
 * `targetType` is the type of the changed object; it is needed only if the prefix of the object's id does not
 * show the type.
 */
type Action = string | { readonly name: string; readonly targetType: string };

/**
 * Runs the change of a command with the rights of the platform, writes the audit entry, and prints the
 * result.
 */
export async function runAuditedCliCommand(
  { json }: JsonOutputOption,
  action: Action,
  change: (transaction: Transaction, access: CommandLineContext) => Promise<Result>,
): Promise<void> {
  await runFunctionWithMigratedDatabase(async ({ db }, settings) => {
    const now = new Date();
    const done = await runInTransaction(db, async (transaction) => {
      const events: InstallationOrApiKeyEvent[] = [];
      const result = await change(transaction, {
        merchantId: null,
        now,
        settings,
        publish: (more) => void events.push(...more),
      });
      await publishCommandEvents(transaction, events, { db, settings, now });
      const target =
        typeof action === "string" ? { action } : { action: action.name, targetType: action.targetType };
      const entry = {
        merchantId: null,
        now,
        ...target,
        targetId: result.id,
        requestId: null,
        details: otherIds(result),
      };
      await appendAuditEntries(transaction, { ...commandLineActor, ...entry });
      return result;
    });
    printCommandResult(done, json === true);
  });
}

/**
 * Returns the ids in the result of a command, except the id of the changed object. The audit entry lists
 * these ids as details.
 */
const otherIds = ({ id: _target, ...others }: Result): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(others).filter(([, value]) => getIdIfSafeForAuditLog(value) !== undefined),
  );

export function parseTimeOption(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError("It must be an RFC 3339 time, for example 2027-01-31T09:15:00Z.");
  return time;
}

interface CommandServices {
  readonly db: Database;
  readonly settings: ServiceSettings;
  readonly now: Date;
}

/**
 * Publishes the events about installations and API keys that a command has caused, as the service does for
 * its own changes. The code that renders events is loaded only if there are events.
 */
async function publishCommandEvents(
  transaction: Transaction,
  events: readonly InstallationOrApiKeyEvent[],
  { db, settings, now }: CommandServices,
): Promise<void> {
  if (events.length === 0) return;
  const [{ createEventSubjectRendererForCli }, { publishInstallationAndApiKeyEvents }] = await Promise.all([
    import("#app/services.ts"),
    import("#graph/access/access-events.ts"),
  ]);
  // Events can name only certain kinds of actors as their cause, and the command line is not one of them. The
  // operator is therefore named as `staff`.
  const cause = { operationId: null, actor: "staff", requestId: null } as const;
  await publishInstallationAndApiKeyEvents(transaction, events, {
    now,
    cause,
    render: createEventSubjectRendererForCli(db, settings),
  });
}

/**
 * Returns whether another process has sent the command to the running service. The service runs such a
 * command without a progress bar.
 */
export const isCliCommandRunningInService = (): boolean => getCliCommandEnvironment().service !== undefined;

/** Thrown if another process uses the embedded database; the command is then sent to that process. */
export class DatabaseUsedByServiceError extends DataFolderInUseError {
  readonly folder: string;
  /** True if the process accepted commands, so that this command has not waited for the end of the process. */
  readonly isAcceptingCommands: boolean;
  constructor(folder: string, isAcceptingCommands: boolean, cause: DataFolderInUseError) {
    super(cause.message, { cause });
    this.folder = folder;
    this.isAcceptingCommands = isAcceptingCommands;
  }
}

type DatabaseWork<Done> = (database: OpenedDatabase, settings: ServiceSettings) => Promise<Done>;

/**
 * Opens the configured database, applies pending migrations, and closes the database when the command has
 * ended. Refuses a folder or a database that the service has never used.
 */
export function runFunctionWithMigratedDatabase<Done>(change: DatabaseWork<Done>): Promise<Done> {
  return runWithExistingDatabase(async (database, settings) => {
    if (!(await isMigrationTableCreated(database)))
      throw new InvalidSettingError(
        `${settings.databaseUrl === undefined ? "DATA_DIR" : "DATABASE_URL"} names a database without the ` +
          "tables of the service. Set it to the service's database, or create the tables with " +
          "`npm run commerce -- migrate`.",
      );
    await migrate(database);
    return change(database, settings);
  });
}

/**
 * Opens the configured database like `runFunctionWithMigratedDatabase`, but creates the database if it is
 * missing.
 */
export function runWithDatabaseCreatedIfMissing<Done>(change: DatabaseWork<Done>): Promise<Done> {
  return runWithOpenDatabase(async (database, settings) => {
    await migrate(database);
    return change(database, settings);
  });
}

/** Opens the configured database without migrating it. Refuses a folder without an embedded database. */
export async function runWithExistingDatabase<Done>(work: DatabaseWork<Done>): Promise<Done> {
  const { service } = getCliCommandEnvironment();
  if (service === undefined) requireEmbeddedDatabase(parseServiceSettings(process.env));
  return runWithOpenDatabase(work);
}

function requireEmbeddedDatabase({ databaseUrl, dataDir }: ServiceSettings): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, embeddedDatabaseFolder))) return;
  throw new InvalidSettingError(
    `DATA_DIR names the folder ${resolve(dataDir)}, which contains no database. Set DATA_DIR to the folder ` +
      "of the service's database, or create a database there with `npm run commerce -- migrate` (empty) or " +
      "`npm run seed` (with the demo). For a PostgreSQL database, set DATABASE_URL.",
  );
}

/**
 * Opens the configured database and closes it when the command has ended. A command that runs inside the
 * service uses the open database of the service.
 */
async function runWithOpenDatabase<Done>(work: DatabaseWork<Done>): Promise<Done> {
  const { service } = getCliCommandEnvironment();
  if (service !== undefined) return work(service.database, service.settings);
  const settings = parseServiceSettings(process.env);
  let isAcceptingCommands = false;
  const database = await openDatabase({
    url: settings.databaseUrl,
    directUrl: settings.databaseDirectUrl,
    ownerUrl: settings.databaseOwnerUrl,
    poolSize: settings.databasePool,
    prepared: settings.databasePrepared,
    folder: settings.databaseUrl === undefined ? settings.dataDir : undefined,
    // A running service that accepts commands runs this command on its own database.
    isWaitForFolderUseful: () => {
      isAcceptingCommands = readCommandServerPortAndSecret(settings.dataDir) !== undefined;
      return !isAcceptingCommands;
    },
  }).catch((error: unknown) => {
    throw error instanceof DataFolderInUseError
      ? new DatabaseUsedByServiceError(settings.dataDir, isAcceptingCommands, error)
      : error;
  });
  try {
    return await work(database, settings);
  } finally {
    await database.close();
  }
}
