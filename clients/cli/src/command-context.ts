/** Options that all commands share, the output, and the failures that end a command with exit code 1 or 2. */
import type { Command } from "commander";
import { type CredentialKind, findCredential, InvalidServiceUrl, kindOf } from "./credentials.ts";
import { RequestFailed, type Target } from "./service.ts";

export interface SharedOptions {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Adds the options that every command has. */
export const addSharedOptions = (command: Command): Command =>
  command
    .option("--url <url>", "URL of the service; by default COMMERCE_URL, the login, the demo, or port 4000")
    .option(
      "--key <key>",
      "API key (cpk_…) or internal token (cit_…); by default COMMERCE_API_KEY or the login",
    )
    .option("--json", "print results as JSON");

/** An expected failure, whose message says what to do. The message is the whole error output of the command. */
export class CommandFailed extends Error {}

/** A failure because an option or argument of the command is wrong. */
export class WrongUsage extends Error {}

/**
 * Returns an action of commander that prints expected failures as one line. It sets exit code 2 if an option
 * or argument is wrong, otherwise 1. Any other error is a bug of this program, so its stack is printed.
 */
export const guarded =
  <Arguments extends readonly unknown[]>(run: (...given: Arguments) => Promise<void>) =>
  async (...given: Arguments): Promise<void> => {
    endQuietlyWithoutReader();
    try {
      await run(...given);
    } catch (error) {
      if (!expectedErrors.some((type) => error instanceof type)) throw error;
      printError((error as Error).message);
      process.exitCode = isWrongUsage(error) ? 2 : 1;
    }
  };

/** The classes of expected errors: the message of such an error is enough for the person who runs the command. */
const expectedErrors = [CommandFailed, WrongUsage, RequestFailed, InvalidServiceUrl];

/**
 * The error codes with which the service refuses a value that the person has entered, for example an event
 * type.
 */
const wrongValueCodes = new Set(["unknown_event_type", "invalid_field", "missing_field"]);

const isWrongUsage = (error: unknown): boolean =>
  error instanceof WrongUsage ||
  error instanceof InvalidServiceUrl ||
  (error instanceof RequestFailed && wrongValueCodes.has(error.code ?? ""));

/**
 * Ends the process when the program that reads the output has ended, for example `head` in `commerce events
 * tail | head`.
 */
function endQuietlyWithoutReader(): void {
  process.stdout.once("error", (error: Error & { readonly code?: string }) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);
export const printError = (line: string): void => void process.stderr.write(`${line}\n`);
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/**
 * Returns the service and the credential for a command. Throws if there is no credential of a kind that the
 * command accepts.
 */
export function requireTarget(options: SharedOptions, accepted: readonly CredentialKind[]): Target {
  const needed = accepted.map(describeKind).join(", or ");
  const { url, credential } = findCredential(options, accepted);
  // If the option --key is given, the command never uses another credential. A key of a kind that the command
  // does not accept is therefore an error.
  if (options.key !== undefined && options.key !== "" && !accepted.includes(kindOf(options.key)))
    throw new WrongUsage(
      `--key is ${describeKind(kindOf(options.key))}, but this command needs ${needed}. Leave out --key and sign ` +
        "in with `commerce login`, or pass an internal token with --key.",
    );
  if (credential === undefined)
    throw new CommandFailed(
      `There is no credential for ${url}. This command needs ${needed}: ` +
        "sign in with `commerce login`, or set --key or COMMERCE_API_KEY.",
    );
  return { url, credential };
}

const describeKind = (kind: CredentialKind): string =>
  ({ key: "an API key", token: "an internal token", session: "a login" })[kind];

/**
 * The kinds of credentials with which staff members query the service's GraphQL schema. API keys cannot query
 * the schema.
 */
export const staffKinds: readonly CredentialKind[] = ["session", "token"];
export const allKinds: readonly CredentialKind[] = ["session", "key", "token"];

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a time: an RFC 3339 time, or a duration before now such as `10m`, `2h` or `3d`. */
export function parseTime(text: string, command: Command): Date {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T.+)?$/.test(text);
  const at =
    count === undefined
      ? new Date(isTime ? text : Number.NaN)
      : new Date(Date.now() - Number(count) * (units[unit] ?? 0));
  if (Number.isNaN(at.getTime()))
    command.error(
      `error: '${text}' is not a time. Use RFC 3339 such as 2027-01-31T09:15:00Z, or a duration such as 10m or 2h.`,
      { exitCode: 2 },
    );
  return at;
}

/** Returns a signal that is aborted by Ctrl-C or SIGTERM, so that a command can end in order. */
export function createStopSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}

/** Returns a number with its noun, for example "1 event" or "2 events". */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

export const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
