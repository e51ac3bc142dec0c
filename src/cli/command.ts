/**
 * Shared by the commands: the database of the settings, common options, and `write`, which runs a change of
 * access in one transaction together with its events and its audit entry.
 */
import { Command, InvalidArgumentError } from "commander";
import type { AccessEvent } from "#access/credential-changes.ts";
import type { AccessCommandContext } from "#access/keys/manage-keys.ts";
import { appendAuditEntries, commandLineActor, auditableId } from "#access/audit.ts";
import { readSettings, type Settings } from "#app/settings.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { type Database, type OpenDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { printResult } from "./output.ts";

export interface JsonOption {
  readonly json?: boolean;
}

export const createCommand = (name: string, description: string): Command =>
  new Command(name).description(description).option("--json", "as JSON").exitOverride();

interface CommandLineContext extends AccessCommandContext {
  /** Collects the events of installations and keys. */
  readonly tell: (happened: readonly AccessEvent[]) => void;
  readonly settings: Settings;
}

type Result = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * For the audit: the name of the mutation that does the same, and the type of its target where the id does
 * not show it.
 */
type Action = string | { readonly name: string; readonly targetType: string };

/** The platform's own hands: no merchant is foreign to the command line. */
export async function runAccessChange(
  { json }: JsonOption,
  action: Action,
  work: (transaction: Transaction, access: CommandLineContext) => Promise<Result>,
): Promise<void> {
  await withDatabase(async ({ db }, settings) => {
    const now = new Date();
    const done = await inTransaction(db, async (transaction) => {
      const happened: AccessEvent[] = [];
      const result = await work(transaction, {
        merchantId: null,
        now,
        settings,
        tell: (more) => void happened.push(...more),
      });
      await publishCommandEvents(transaction, happened, { db, settings, now });
      const what =
        typeof action === "string" ? { action } : { action: action.name, targetType: action.targetType };
      const entry = {
        merchantId: null,
        now,
        ...what,
        targetId: result.id,
        requestId: null,
        details: idsBeside(result),
      };
      await appendAuditEntries(transaction, { ...commandLineActor, ...entry });
      return result;
    });
    printResult(done, json === true);
  });
}

/** The other ids of the result. */
const idsBeside = ({ id: _target, ...others }: Result): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(others).filter(([, value]) => auditableId(value) !== undefined));

export function parseTimeOption(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError("It must be a time like 2027-01-31T09:15:00Z.");
  return time;
}

interface CommandServices {
  readonly db: Database;
  readonly settings: Settings;
  readonly now: Date;
}

/**
 * Publishes events of installations and keys, as the service does. The renderer is loaded only if there are
 * events.
 */
async function publishCommandEvents(
  transaction: Transaction,
  happened: readonly AccessEvent[],
  { db, settings, now }: CommandServices,
): Promise<void> {
  if (happened.length === 0) return;
  const [{ createCommandRender }, { publishAccessEvents }] = await Promise.all([
    import("#app/services.ts"),
    import("#graph/access/access-events.ts"),
  ]);
  // Whoever has the shell is staff.
  const cause = { operationId: null, actor: "staff", requestId: null } as const;
  await publishAccessEvents(transaction, happened, { now, cause, render: createCommandRender(db, settings) });
}

/** Opens the database of the settings, migrated, for the duration of a command. */
export async function withDatabase<Done>(
  work: (database: OpenDatabase, settings: Settings) => Promise<Done>,
): Promise<Done> {
  const settings = readSettings(process.env);
  const database = await openDatabase({
    url: settings.databaseUrl,
    directUrl: settings.databaseDirectUrl,
    poolSize: settings.databasePool,
    prepared: settings.databasePrepared,
    folder: settings.databaseUrl === undefined ? settings.dataDir : undefined,
  });
  try {
    await migrate(database);
    return await work(database, settings);
  } finally {
    await database.close();
  }
}
