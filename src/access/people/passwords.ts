/**
 * Passwords at rest: Argon2id (RFC 9106) as a PHC string, which carries its own parameters, so that they may
 * be raised without touching old ones.
 */
import { argon2, type Argon2Parameters, randomBytes, timingSafeEqual } from "node:crypto";
import { fail } from "#foundation/failure.ts";

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** OWASP's recommendation: 19 MiB, two passes. Some fifty milliseconds of one core. */
const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;

export const passwordLength = { min: 12, max: 256 } as const;

/** 120 random bits, which nobody has to invent. */
export const generatePassword = (): string => randomBytes(15).toString("base64url");

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const tag = await derive(password, { ...cost, salt, tagLength: tagBytes });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** What nobody has: costs as much as an account's own. */
const nobody = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${"A".repeat(22)}$${"A".repeat(43)}`;

/** Takes as long without an account (no stored hash) as with a wrong password. */
export async function matchesPassword(password: string, stored: string | undefined): Promise<boolean> {
  const { salt, tag, ...its } = parse(stored ?? nobody);
  const isEqual = timingSafeEqual(await derive(password, { ...its, salt, tagLength: tag.length }), tag);
  return isEqual && stored !== undefined;
}

const form =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([0-9A-Za-z+/]{11,86})\$([0-9A-Za-z+/]{43,86})$/;

function parse(phc: string): Cost & { readonly salt: Buffer; readonly tag: Buffer } {
  const [, memory, passes, parallelism, salt, tag] = form.exec(phc) ?? [];
  if (salt === undefined || tag === undefined)
    throw new Error("A stored password hash is not a PHC string of Argon2id.");
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

type Derivation = Cost & { readonly salt: Buffer; readonly tagLength: number };

/** One form for one password: what was typed with a composed and with a decomposed é is the same. */
function derive(password: string, { salt, ...rest }: Derivation): Promise<Buffer> {
  const parameters: Argon2Parameters = { ...rest, nonce: salt, message: password.normalize("NFC") };
  return inTurn(
    () =>
      new Promise((resolve, reject) => {
        argon2("argon2id", parameters, (error, tag) => (error === null ? resolve(tag) : reject(error)));
      }),
  );
}

/** Two at a time: four would be all the threads that names, files and compression wait for as well. */
const atOnce = 2;
/** Less than a second's work: whoever came later would wait longer than a page should take. */
const waitingMax = 32;
const waiting: (() => void)[] = [];
let running = 0;

/** Refused, with nothing done, where too many wait already: `service_unavailable`. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running < atOnce) running += 1;
  else if (waiting.length < waitingMax) await new Promise<void>((go) => void waiting.push(go));
  else
    throw fail("service_unavailable", {
      retryAfterSeconds: 2,
      message: "Too many passwords are being checked at the moment.",
    });
  try {
    return await work();
  } finally {
    // The turn is handed on, so that nobody who comes just now takes it.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

const unpadded = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
