/**
 * `keys check`, `keys rewrap`, `privacy erase`, `audit export`: what has to be done to what is stored, once
 * in a while or when somebody asks.
 */
import { once } from "node:events";
import { SingleBar } from "cli-progress";
import { Command } from "commander";
import { appendAuditEntries, readAuditPages, type AuditRow, commandLineActor } from "#access/audit.ts";
import { readKeyring } from "#app/encryption-keys.ts";
import { eraseBuyerOnRequest } from "#app/erase-buyers.ts";
import { countRowsToRewrap, checkSealedValues, type RewrapResult, rewrapSealedValues } from "#app/rewrap.ts";
import type { Erased } from "#commerce/orders/erasure/erase-buyer.ts";
import type { ErasureTarget } from "#commerce/orders/erasure/erasure-scope.ts";
import type { Database } from "#database/connect.ts";
import { inTransaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { printResult } from "./output.ts";
import { createCommand, type JsonOption, parseTimeOption, withDatabase } from "./command.ts";

export function addMaintenanceCommands(program: Command): void {
  program.addCommand(
    new Command("keys")
      .description("What encrypts the data at rest (ENCRYPTION_KEYS).")
      .addCommand(keysCheck())
      .addCommand(keysRewrap()),
  );
  program.addCommand(
    new Command("privacy").description("What is stored of buyers.").addCommand(privacyErase()),
  );
  program.addCommand(new Command("audit").description("Who did what.").addCommand(auditExport()));
}

function keysCheck(): Command {
  return createCommand(
    "check",
    "Opens everything that lies encrypted with whichever of ENCRYPTION_KEYS it was written under, and writes none of it. Ends with 1 and names what does not open.",
  ).action(async ({ json }: JsonOption) => {
    await withDatabase(async ({ db }, settings) => {
      const results = await checkSealedValues({ db, keyring: readKeyring(settings) });
      const broken = results.flatMap((result) => result.broken);
      printResult(
        {
          ...Object.fromEntries(results.map(({ table, opened }) => [table, opened])),
          ...(json === true ? { broken } : {}),
        },
        json === true,
      );
      tell(broken);
    });
  });
}

function keysRewrap(): Command {
  return createCommand(
    "rewrap",
    "Wraps the data key of everything that lies encrypted by the first of ENCRYPTION_KEYS, beside the running service. Stopped, it goes on where it was.",
  ).action(async ({ json }: JsonOption) => {
    await withDatabase(async ({ db }, settings) => {
      const keyring = readKeyring(settings);
      const key = keyring.currentKeyId;
      // It may be stopped, and has given some rows their key by then.
      await recordRewrap(db, { key, state: "begun" });
      const results = await withBar(await countRowsToRewrap({ db, keyring }), json === true, (onProgress) =>
        rewrapSealedValues({ db, keyring, onProgress }),
      );
      await recordRewrap(db, {
        key,
        state: "done",
        rewrapped: results.reduce((sum, { rewrapped }) => sum + rewrapped, 0),
      });
      report(results, { key, isJson: json === true });
    });
  });
}

const recordRewrap = (db: Database, details: Readonly<Record<string, unknown>>): Promise<void> =>
  inTransaction(db, (transaction) =>
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

/** 1 where the other keys cannot be taken away yet. */
function report(
  results: readonly RewrapResult[],
  { key, isJson }: { readonly key: string; readonly isJson: boolean },
): void {
  const broken = results.flatMap((result) => result.broken);
  const left = results.reduce((sum, result) => sum + result.left, 0);
  const counts = Object.fromEntries(results.map(({ table, rewrapped }) => [table, rewrapped]));
  printResult({ key, ...counts, left, ...(isJson ? { broken } : {}) }, isJson);
  tell(broken);
  if (left > 0)
    process.stderr.write(
      `${left} rows were written with another key meanwhile: restart every process with ${key} first, then run this again.\n`,
    );
  if (left > 0) process.exitCode = 1;
}

function tell(broken: readonly string[]): void {
  for (const message of broken) process.stderr.write(`${message}\n`);
  if (broken.length > 0) process.exitCode = 1;
}

async function withBar<Result>(
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

interface Erasing extends JsonOption {
  readonly buyerReference?: string;
  readonly merchant?: string;
  readonly cart?: string;
  readonly order?: string;
  readonly addressToken?: string;
  readonly force?: boolean;
}

function privacyErase(): Command {
  return createCommand(
    "erase",
    "Erases a buyer's addresses and e-mails wherever they lie, for good. What was bought, and for how much, stays.",
  )
    .option("--buyer-reference <reference>", "all of this buyer, with --merchant")
    .option("--merchant <id>", "the merchant whose buyer that is")
    .option("--cart <id>", "what this cart and its order know, cart_…")
    .option("--order <id>", "what this order and its cart know, ord_…")
    .option("--address-token <token>", "what the cart of this token knows, adt_…")
    .option("--force", "also while an order is still to be sent")
    .action(async (given: Erasing, self: Command) => {
      const target = targetOf(given);
      if (typeof target === "string") self.error(`error: ${target}`, { exitCode: 2 });
      printResult({ ...(await erase(target, given.force === true)) }, given.json === true);
    });
}

/** Or what is wrong with what was given. */
function targetOf({ merchant, ...given }: Erasing): ErasureTarget | string {
  const targets = (["buyerReference", "cart", "order", "addressToken"] as const).flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [{ by: name, value }];
  });
  const [target] = targets;
  if (targets.length !== 1 || target === undefined)
    return "give one of --buyer-reference, --cart, --order and --address-token";
  const { by, value } = target;
  if (by !== "buyerReference") return { by, value };
  return merchant === undefined
    ? "--buyer-reference needs --merchant: each merchant has references of its own"
    : { by, value, merchantId: merchant };
}

function erase(target: ErasureTarget, isForced: boolean): Promise<Erased> {
  return withDatabase(async ({ db }, settings) => {
    const { createCommandRender } = await import("#app/services.ts");
    const services = {
      db,
      keyring: readKeyring(settings),
      render: createCommandRender(db, settings),
      publicUrl: settings.publicUrl ?? "",
    };
    return eraseBuyerOnRequest({ ...services, now: new Date() }, { target, isForced });
  });
}

interface Exporting extends JsonOption {
  readonly merchant?: string;
  readonly from?: Date;
  readonly to?: Date;
}

const fields = [
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
      "Writes what was done to standard output, oldest first: CSV, or one JSON object a line. From --from up to, and without, --to: where one export ends, the next begins. What is being done at this moment may be dated a little back: let --to lie a minute ago.",
    )
    .option("--merchant <id>", "only of this merchant; without it of all, and of the platform")
    .option(
      "--from <time>",
      "only what was done then or later, to the millisecond, RFC 3339",
      parseTimeOption,
    )
    .option("--to <time>", "only what was done before, and not then, RFC 3339", parseTimeOption)
    .option("--json", "as JSON, one object a line")
    .exitOverride()
    .action(async ({ merchant, from, to, json }: Exporting) => {
      if (from !== undefined && to !== undefined && from >= to)
        throw fail("invalid_parameter", { message: "--from must be before --to." });
      await withDatabase(async ({ db }) => {
        if (json !== true) await writeOut(`${fields.join(",")}\r\n`);
        for await (const rows of readAuditPages(db, { merchantId: merchant ?? null, from, until: to }))
          await writeOut(
            rows.map((row) => (json === true ? `${JSON.stringify(row)}\n` : toCsv(row))).join(""),
          );
      });
    });
}

/** Waits where whoever reads is slower: the whole of it may be larger than memory. */
async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

/** RFC 4180. */
const toCsv = (row: AuditRow): string =>
  `${fields
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
