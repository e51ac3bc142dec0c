/**
 * The keys that access tokens are signed with. Private halves lie sealed; every process keeps both in memory
 * and looks again when it meets a key it does not know. A new key is known everywhere before it signs, and an
 * old one is believed until the last token it signed is over.
 */
import { type JWK, calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import { type Selectable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { OauthSigningKeyTable } from "#database/tables.ts";
import { inTransaction, type Reader, type Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { DecryptionFailed, type Keyring, type Place } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import { accessTokenLifetimeSeconds, tokenSigningAlgorithms } from "#access/authorization.ts";

export interface SigningKeys {
  /**
   * All that are believed, those that will sign soon included. One that is asked for and not known is looked
   * for, once a second at most.
   */
  publicJwks(kid?: string): Promise<{ readonly keys: JWK[] }>;
  /** Private halves of those that sign now and open here, newest first, ES256 before EdDSA. */
  signing(): Promise<readonly PrivateJwk[]>;
  /** New keys, which sign from a minute later on in place of the old. Gives the id of the one for ES256. */
  rotate(): Promise<string>;
}

export interface PrivateJwk extends JWK {
  readonly kid: string;
  readonly alg: string;
}

export interface SigningKeysParts {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Told of keys that should sign and do not open. */
  readonly log?: Log;
}

/**
 * How long what is in memory is believed, and how often at most somebody's unknown key id makes a process
 * look again.
 */
const freshMs = 30_000;
const lookAgainMs = 1_000;
/** Between a new key and its first token: every process has looked once by then. */
const announcedMs = 60_000;
/** After a key's last token: its life, clocks that differ, and processes that have not looked yet. */
const believedMs = accessTokenLifetimeSeconds * 1_000 + 60_000 + freshMs;
const lock = 7_462_193_017;

export function createSigningKeys({ db, keyring, clock, log }: SigningKeysParts): SigningKeys {
  let held: { readonly keys: readonly HeldKey[]; readonly at: number } | undefined;
  let looking: Promise<readonly HeldKey[]> | undefined;

  const look = (): Promise<readonly HeldKey[]> => {
    looking ??= read().finally(() => (looking = undefined));
    return looking;
  };
  const read = async (): Promise<readonly HeldKey[]> => {
    const rows = await findRows(db);
    const keys = (rows.length > 0 ? rows : await makeFirst()).map(hold);
    held = { keys, at: clock.now().getTime() };
    return keys;
  };
  const makeFirst = (): Promise<SigningKeyRow[]> =>
    inTransaction(db, async (transaction) => {
      await sql`select pg_advisory_xact_lock(${lock}::bigint)`.execute(transaction);
      const rows = await findRows(transaction);
      if (rows.length > 0) return rows;
      const now = clock.now();
      // Also by clocks that are a little behind.
      await insertKeys(transaction, keyring, { now, signsFrom: new Date(now.getTime() - announcedMs) });
      return findRows(transaction);
    });
  /**
   * Only what is to sign is opened: a key that is sealed with what this process does not have yet verifies
   * all the same.
   */
  const openKey = (key: HeldKey): PrivateJwk | undefined => {
    if (key.opened !== undefined) return key.opened.privateJwk;
    const privateJwk = tryToOpen(key.row, keyring, log);
    key.opened = { privateJwk };
    return privateJwk;
  };
  const isOlderThan = (ms: number): boolean =>
    held === undefined || Math.abs(clock.now().getTime() - held.at) >= ms;
  const current = async (): Promise<readonly HeldKey[]> =>
    held === undefined || isOlderThan(freshMs) ? look() : held.keys;
  const isBelieved = ({ retiredAt }: HeldKey): boolean =>
    retiredAt === null || retiredAt.getTime() + believedMs > clock.now().getTime();
  const has = (keys: readonly HeldKey[], kid: string): boolean =>
    keys.some(({ publicJwk }) => publicJwk.kid === kid);

  return {
    publicJwks: async (kid) => {
      const known = await current();
      const keys = kid === undefined || has(known, kid) || !isOlderThan(lookAgainMs) ? known : await look();
      return { keys: keys.filter(isBelieved).map(({ publicJwk }) => publicJwk) };
    },
    signing: async () => {
      const keys = await current();
      // The first may have been made only now.
      const now = clock.now();
      return keys
        .filter(({ signsFrom, retiredAt }) => signsFrom <= now && (retiredAt === null || retiredAt > now))
        .flatMap((key) => openKey(key) ?? []);
    },
    rotate: async () => {
      const kid = await inTransaction(db, (transaction) =>
        rotateSigningKeys(transaction, keyring, clock.now()),
      );
      await look();
      return kid;
    },
  };
}

/** The first sign at once; those that follow once every process knows them. */
export async function rotateSigningKeys(
  transaction: Transaction,
  keyring: Keyring,
  now: Date,
): Promise<string> {
  await sql`select pg_advisory_xact_lock(${lock}::bigint)`.execute(transaction);
  const signsFrom = new Date(now.getTime() + announcedMs);
  const { numAffectedRows = 0n } =
    await sql`update oauth_signing_key set retired_at = greatest(signs_from, ${signsFrom}) where retired_at is null`.execute(
      transaction,
    );
  return insertKeys(transaction, keyring, {
    now,
    signsFrom: numAffectedRows > 0n ? signsFrom : new Date(now.getTime() - announcedMs),
  });
}

type SigningKeyRow = Selectable<OauthSigningKeyTable>;

interface HeldKey extends Pick<SigningKeyRow, "signsFrom" | "retiredAt"> {
  readonly publicJwk: JWK;
  readonly row: SigningKeyRow;
  /** What came of opening it. */
  opened?: { readonly privateJwk: PrivateJwk | undefined };
}

/** Newest first, and of those that were made together the one for ES256. */
async function findRows(reader: Reader): Promise<SigningKeyRow[]> {
  const rows = await reader.selectFrom("oauthSigningKey").selectAll().execute();
  const rank = ({ algorithm }: SigningKeyRow): number =>
    tokenSigningAlgorithms.findIndex((name) => name === algorithm);
  return rows.toSorted(
    (one, other) => other.signsFrom.getTime() - one.signsFrom.getTime() || rank(one) - rank(other),
  );
}

interface KeyTimes {
  readonly now: Date;
  readonly signsFrom: Date;
}

async function insertKeys(
  transaction: Transaction,
  keyring: Keyring,
  { now, signsFrom }: KeyTimes,
): Promise<string> {
  const made = await Promise.all(tokenSigningAlgorithms.map(makeKey));
  const rows = made.map(({ publicJwk, privateJwk }) => ({
    id: privateJwk.kid,
    algorithm: privateJwk.alg,
    publicJwk: JSON.stringify(publicJwk),
    ...keyring.seal(JSON.stringify(privateJwk), signingKeySealContext(privateJwk.kid)),
    createdAt: now,
    signsFrom,
  }));
  await transaction.insertInto("oauthSigningKey").values(rows).execute();
  return made.find(({ privateJwk }) => privateJwk.alg === "ES256")?.privateJwk.kid ?? "";
}

/** Its id is its thumbprint (RFC 7638). */
async function makeKey(alg: string): Promise<{ readonly publicJwk: JWK; readonly privateJwk: PrivateJwk }> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const [publicPart, privatePart] = await Promise.all([exportJWK(publicKey), exportJWK(privateKey)]);
  const marks = { kid: await calculateJwkThumbprint(publicPart), alg, use: "sig" };
  return { publicJwk: { ...publicPart, ...marks }, privateJwk: { ...privatePart, ...marks } };
}

const hold = (row: SigningKeyRow): HeldKey => ({
  row,
  publicJwk: row.publicJwk as JWK,
  signsFrom: row.signsFrom,
  retiredAt: row.retiredAt,
});

function tryToOpen(
  { id, sealed, dataKey, keyId }: SigningKeyRow,
  keyring: Keyring,
  log: Log | undefined,
): PrivateJwk | undefined {
  try {
    return JSON.parse(
      keyring.open({ sealed, dataKey, keyId }, signingKeySealContext(id)).toString("utf8"),
    ) as PrivateJwk;
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error;
    log?.error(
      { kid: id, encryptionKey: keyId, err: error },
      "A signing key does not open: it verifies, and another signs.",
    );
    return undefined;
  }
}

export const signingKeySealContext = (id: string): Place => ({
  table: "oauth_signing_key",
  column: "sealed",
  rowId: id,
});

/** Those that nothing is believed from any more. */
export async function sweepSigningKeys(db: Database, now: Date): Promise<void> {
  const overSince = new Date(now.getTime() - believedMs);
  await db.deleteFrom("oauthSigningKey").where("retiredAt", "<", overSince).execute();
}
