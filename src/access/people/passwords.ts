/**
 * Password hashes: Argon2id (RFC 9106) in the PHC string format. Each hash contains its cost parameters, so
 * new hashes can have a higher cost while old hashes remain valid.
 */
import { argon2, type Argon2Parameters, randomBytes, timingSafeEqual } from "node:crypto";
import { createFailure } from "#foundation/failure.ts";

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/**
 * The cost of new Argon2id hashes, as OWASP recommends it: 19 MiB of memory and two passes. Computing a hash
 * takes about 50 ms of one core.
 */
const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;

export const passwordLength = { min: 12, max: 256 } as const;

/** Generates a random password with 120 bits of entropy. */
export const generatePassword = (): string => randomBytes(15).toString("base64url");

/** Hashes a password with a salt, by default a random one. */
export async function hashPassword(password: string, salt: Buffer = randomBytes(saltBytes)): Promise<string> {
  const tag = await derive(password, { ...cost, salt, tagLength: tagBytes });
  return hashText(unpadded(salt), unpadded(tag));
}

/** Builds the text of a password hash in the PHC string format, with the cost parameters of new hashes. */
const hashText = (salt: string, tag: string): string =>
  `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${salt}$${tag}`;

/**
 * A hash that matches no password. If an account does not exist, the password is checked against this hash,
 * so that the answer takes as long as for an existing account.
 */
const hashOfNoPassword = hashText("A".repeat(22), "A".repeat(43));

/** Returns the salt of a stored hash; undefined if the text is not a hash of this service. */
export const getSaltOfPasswordHash = (stored: string): Buffer | undefined =>
  phcFormat.test(stored) ? parse(stored).salt : undefined;

/**
 * Returns the stored hashes that match a password. Hashes with the same salt and cost need only one Argon2id
 * computation. Without a stored hash, the check computes a dummy hash, so that it takes the same time.
 */
export async function findMatchingPasswordHashes(
  password: string,
  stored: readonly string[],
): Promise<readonly string[]> {
  const bySalt = Map.groupBy(stored.length === 0 ? [hashOfNoPassword] : stored, parametersOf);
  const matching: string[] = [];
  for (const hashes of bySalt.values()) {
    const { tag, ...parameters } = parse(hashes[0] ?? hashOfNoPassword);
    const derived = await derive(password, { ...parameters, tagLength: tag.length });
    matching.push(...hashes.filter((hash) => timingSafeEqual(derived, parse(hash).tag)));
  }
  return stored.length === 0 ? [] : matching;
}

/**
 * Returns a grouping key for a stored hash: its Argon2id parameters and salt, and the length of its tag (the
 * Argon2id output). Hashes with the same grouping key need only one Argon2id computation.
 */
function parametersOf(stored: string): string {
  const end = stored.lastIndexOf("$");
  return `${stored.slice(0, end)} ${stored.length - end}`;
}

const phcFormat =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([0-9A-Za-z+/]{11,86})\$([0-9A-Za-z+/]{43,86})$/;

function parse(phc: string): Cost & { readonly salt: Buffer; readonly tag: Buffer } {
  const [, memory, passes, parallelism, salt, tag] = phcFormat.exec(phc) ?? [];
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

/**
 * Computes the Argon2id tag of a password. The password is normalized to NFC first, so that a composed and a
 * decomposed é give the same tag.
 */
function derive(password: string, { salt, ...rest }: Derivation): Promise<Buffer> {
  const parameters: Argon2Parameters = { ...rest, nonce: salt, message: password.normalize("NFC") };
  return runInSlot(
    () =>
      new Promise((resolve, reject) => {
        argon2("argon2id", parameters, (error, tag) => (error === null ? resolve(tag) : reject(error)));
      }),
  );
}

/**
 * Maximum number of hashes that are computed at the same time. Four hashes would occupy all libuv threads,
 * which DNS, file access and compression also need.
 */
const concurrentMax = 2;
/**
 * Maximum number of hashes that wait to be computed. Computing 32 hashes takes less than a second. Further
 * requests are refused, because their callers would wait too long.
 */
const waitingMax = 32;
const waiting: (() => void)[] = [];
let running = 0;

/**
 * Runs the computation of a password hash as soon as fewer than the maximum number of computations run. Fails
 * with `service_unavailable` if too many hashes wait.
 */
async function runInSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running < concurrentMax) running += 1;
  else if (waiting.length < waitingMax) await new Promise<void>((proceed) => void waiting.push(proceed));
  else
    throw createFailure("service_unavailable", {
      retryAfterSeconds: 2,
      message: "Too many passwords are being checked at the moment: retry in 2 seconds.",
    });
  try {
    return await work();
  } finally {
    // A finished computation gives its slot to the next waiting call, so that a call that has just arrived
    // cannot overtake it.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

const unpadded = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
