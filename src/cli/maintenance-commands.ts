/** The maintenance commands `keys check`, `keys rewrap`, `privacy erase` and `audit export`. */
import { SingleBar } from "cli-progress";
import { Command } from "commander";
import {
  appendAuditEntries,
  streamAuditEntryPages,
  type AuditEntryRow,
  commandLineActor,
} from "#access/audit.ts";
import { deleteUnusedEncryptionCanaries } from "#app/encryption-canaries.ts";
import { createEncryptionKeyringFromSettings } from "#app/encryption-keys.ts";
import { findAndEraseBuyerData } from "#app/erase-buyers.ts";
import {
  countRowsWithOldEncryptionKey,
  verifyAllEncryptedValues,
  type DataKeyRewrapResult,
  rewrapDataKeys,
} from "#app/rewrap.ts";
import type { BuyerErasureResult } from "#commerce/orders/erasure/erase-buyer.ts";
import type { BuyerIdentifierForErasure } from "#commerce/orders/erasure/erasure-scope.ts";
import type { Database } from "#database/connect.ts";
import { requireMigratedDatabase } from "#database/migrate.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { formatCountWithNoun } from "#foundation/text.ts";
import { getCliCommandEnvironment } from "./command-session.ts";
import { printErrorLine, printCommandResult } from "./output.ts";
import {
  createCliCommand,
  type JsonOutputOption,
  parseTimeOption,
  isCliCommandRunningInService,
  runWithExistingDatabase,
  runFunctionWithMigratedDatabase,
} from "./command.ts";

export function addMaintenanceCommands(program: Command): void {
  program.addCommand(
    new Command("keys")
      .description("Checks and changes the encryption of stored data (ENCRYPTION_KEYS).")
      .addCommand(keysCheck())
      .addCommand(keysRewrap()),
  );
  program.addCommand(
    new Command("privacy").description("Erases personal data of buyers.").addCommand(privacyErase()),
  );
  program.addCommand(new Command("audit").description("Exports the audit log.").addCommand(auditExport()));
}

function keysCheck(): Command {
  return createCliCommand(
    "check",
    "Decrypts every encrypted value in the database with ENCRYPTION_KEYS and changes nothing. Counts the " +
      "values that cannot be decrypted; the exit code is then 1. It is also 1 if there are no values.",
  ).action(async ({ json }: JsonOutputOption) => {
    await runWithExistingDatabase(async (database, settings) => {
      await requireMigratedDatabase(database);
      const { db } = database;
      const results = await verifyAllEncryptedValues({
        db,
        keyring: createEncryptionKeyringFromSettings(settings),
      });
      const broken = results.flatMap((result) => result.broken);
      printCommandResult(
        {
          ...Object.fromEntries(results.map(({ table, opened }) => [table, opened])),
          ...(json === true ? { broken } : {}),
        },
        json === true,
      );
      printBroken(results);
      if (results.some(({ opened }) => opened > 0) || broken.length > 0) return;
      printErrorLine(
        "The database has no encrypted values, so no key was checked: " +
          "do DATABASE_URL and DATA_DIR name the right database?",
      );
      getCliCommandEnvironment().setExitCode(1);
    });
  });
}

function keysRewrap(): Command {
  return createCliCommand(
    "rewrap",
    "Wraps the data key of every encrypted value with the first of ENCRYPTION_KEYS. The service can keep " +
      "running. If the command is stopped, run it again: it continues where it stopped.",
  ).action(async ({ json }: JsonOutputOption) => {
    await runFunctionWithMigratedDatabase(async ({ db }, settings) => {
      const keyring = createEncryptionKeyringFromSettings(settings);
      const key = keyring.currentKeyId;
      // The start of `keys rewrap` is recorded in the audit log too, and not only its end: a run that is
      // interrupted has already rewrapped some rows.
      await recordRewrap(db, { key, state: "begun" });
      const results = await withProgressBar(
        await countRowsWithOldEncryptionKey({ db, keyring }),
        json === true || isCliCommandRunningInService(),
        (onProgress) => rewrapDataKeys({ db, keyring, onProgress }),
      );
      await recordRewrap(db, {
        key,
        state: "done",
        rewrapped: results.reduce((sum, { rewrapped }) => sum + rewrapped, 0),
      });
      if (results.every(({ left }) => left === 0)) await deleteUnusedEncryptionCanaries(db, keyring);
      printRewrapResult(results, { key, isJson: json === true });
    });
  });
}

const recordRewrap = (db: Database, details: Readonly<Record<string, unknown>>): Promise<void> =>
  runInTransaction(db, (transaction) =>
    appendAuditEntries(transaction, {
      ...commandLineActor,
      merchantId: null,
      now: new Date(),
      action: "keysRewrap",
      targetId: null,
      requestId: null,
      details,
    }),
  );

/**
 * Prints the result of `keys rewrap`. Sets exit code 1 if other keys than the first one of ENCRYPTION_KEYS
 * are still needed to decrypt stored data.
 */
function printRewrapResult(
  results: readonly DataKeyRewrapResult[],
  { key, isJson }: { readonly key: string; readonly isJson: boolean },
): void {
  const broken = results.flatMap((result) => result.broken);
  const left = results.reduce((sum, result) => sum + result.left, 0);
  const counts = Object.fromEntries(results.map(({ table, rewrapped }) => [table, rewrapped]));
  printCommandResult({ key, ...counts, left, ...(isJson ? { broken } : {}) }, isJson);
  printBroken(results);
  if (left > 0)
    printErrorLine(
      `${formatCountWithNoun(left, "row was", "rows were")} written with another key meanwhile: ` +
        `restart every process with ${key} first, then run this again.`,
    );
  if (left > 0) getCliCommandEnvironment().setExitCode(1);
}

/**
 * Prints for each table how many values could not be decrypted, with one of them as an example. Sets exit
 * code 1 if there are any.
 */
function printBroken(
  results: readonly { readonly table: string; readonly broken: readonly string[] }[],
): void {
  for (const { table, broken } of results) {
    if (broken.length === 0) continue;
    const count = formatCountWithNoun(broken.length, "value");
    printErrorLine(`${table}: ${count} cannot be decrypted, for example:\n${broken[0]}`);
    getCliCommandEnvironment().setExitCode(1);
  }
}

async function withProgressBar<Result>(
  count: number,
  isQuiet: boolean,
  work: (onProgress: (rows: number) => void) => Promise<Result>,
): Promise<Result> {
  if (isQuiet || count === 0) return work(() => undefined);
  const bar = new SingleBar({ format: "{bar} {percentage}% {value}/{total} rows, {eta_formatted} left" });
  bar.start(count, 0);
  try {
    return await work((rows) => bar.increment(rows));
  } finally {
    bar.stop();
  }
}

interface EraseOptions extends JsonOutputOption {
  readonly buyerReference?: string;
  readonly merchant?: string;
  readonly cart?: string;
  readonly order?: string;
  readonly addressToken?: string;
  readonly force?: boolean;
}

function privacyErase(): Command {
  return createCliCommand(
    "erase",
    "Erases a buyer's addresses and e-mail addresses permanently. The purchased items and their prices stay.",
  )
    .option(
      "--buyer-reference <reference>",
      "erase all data of the buyer with this reference; requires --merchant",
    )
    .option("--merchant <id>", "id of the buyer's merchant, mer_…")
    .option("--cart <id>", "erase the buyer's data in this cart and its order, cart_…")
    .option("--order <id>", "erase the buyer's data in this order and its cart, ord_…")
    .option("--address-token <token>", "erase the buyer's data in the cart of this address token, adt_…")
    .option("--force", "erase even if an order has not been shipped completely")
    .action(async (options: EraseOptions, self: Command) => {
      const target = toErasureTarget(options);
      if (typeof target === "string") self.error(`error: ${target}`, { exitCode: 2 });
      printCommandResult({ ...(await erase(target, options.force === true)) }, options.json === true);
    });
}

/** Returns whose personal data the command erases, or the error text if the options are wrong. */
function toErasureTarget({ merchant, ...options }: EraseOptions): BuyerIdentifierForErasure | string {
  const targets = (["buyerReference", "cart", "order", "addressToken"] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [{ by: name, value }];
  });
  const [target] = targets;
  if (targets.length !== 1 || target === undefined)
    return "give exactly one of --buyer-reference, --cart, --order and --address-token";
  const { by, value } = target;
  if (by !== "buyerReference") return { by, value };
  return merchant === undefined
    ? "--buyer-reference requires --merchant, because every merchant has its own references"
    : { by, value, merchantId: merchant };
}

function erase(target: BuyerIdentifierForErasure, isForced: boolean): Promise<BuyerErasureResult> {
  return runFunctionWithMigratedDatabase(async ({ db }, settings) => {
    const { createEventSubjectRendererForCli } = await import("#app/services.ts");
    const services = {
      db,
      keyring: createEncryptionKeyringFromSettings(settings),
      render: createEventSubjectRendererForCli(db, settings),
      publicUrl: settings.publicUrl ?? "",
    };
    return findAndEraseBuyerData({ ...services, now: new Date() }, { target, isForced });
  });
}

interface ExportOptions extends JsonOutputOption {
  readonly merchant?: string;
  readonly from?: Date;
  readonly to?: Date;
}

const csvFields = [
  "id",
  "at",
  "merchantId",
  "actor",
  "actorId",
  "action",
  "targetType",
  "targetId",
  "requestId",
  "details",
] as const;

function auditExport(): Command {
  return new Command("export")
    .description(
      "Writes the audit log to standard output, oldest first, as CSV or as one JSON object per line. " +
        "--from is inclusive and --to is exclusive, so an export can start where the previous one ended. " +
        "Set --to to at least one minute ago: changes that are being made now may still appear with an " +
        "earlier time.",
    )
    .option(
      "--merchant <id>",
      "only entries of the merchant with this id; without it, entries of all merchants and of the platform",
    )
    .option(
      "--from <time>",
      "only changes made at this time or later (RFC 3339, to the millisecond)",
      parseTimeOption,
    )
    .option("--to <time>", "only changes made before this time (RFC 3339)", parseTimeOption)
    .option("--json", "print one JSON object per line instead of CSV")
    .exitOverride()
    .action(async ({ merchant, from, to, json }: ExportOptions) => {
      if (from !== undefined && to !== undefined && from >= to)
        throw createFailure("invalid_parameter", { message: "--from must be before --to." });
      await runFunctionWithMigratedDatabase(async ({ db }) => {
        // Waits while the reader of the output is slower than the database, because an audit export may be
        // larger than the memory.
        const { write } = getCliCommandEnvironment();
        if (json !== true) await write("stdout", `${csvFields.join(",")}\r\n`);
        for await (const rows of streamAuditEntryPages(db, { merchantId: merchant ?? null, from, until: to }))
          await write(
            "stdout",
            rows.map((row) => (json === true ? `${JSON.stringify(row)}\n` : toCsv(row))).join(""),
          );
      });
    });
}

/** Formats an audit entry as a CSV row (RFC 4180). */
const toCsv = (row: AuditEntryRow): string =>
  `${csvFields
    .map((field) => {
      const value = row[field];
      const text =
        value === null
          ? ""
          : value instanceof Date
            ? value.toISOString()
            : typeof value === "string"
              ? value
              : JSON.stringify(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(",")}\r\n`;
