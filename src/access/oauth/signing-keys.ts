/**
 * The key pairs that sign access tokens. Private keys are stored encrypted. Every process caches the keys,
 * and reads them again when a token names a key id that the process does not know. A new key signs only after
 * all processes have read it. An old key is accepted until the last token that it signed has expired.
 */
import { type JWK, calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import { type Selectable, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { OauthSigningKeyTable } from "#database/tables.ts";
import { runInTransaction, type DatabaseOrTransaction, type Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { DecryptionError, type EncryptionKeyring, type EncryptionContext } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import { accessTokenLifetimeSeconds, tokenSigningAlgorithms } from "#access/authorization.ts";

export interface OauthSigningKeyProvider {
  /**
   * Returns the public keys of all key pairs whose signatures are accepted, also of new key pairs that do not
   * sign yet. If this process does not know the key id `kid`, the keys are read from the database again, at
   * most once per second.
   */
  publicJwks(kid?: string): Promise<{ readonly keys: JWK[] }>;
  /**
   * Returns the private keys that are in use for signing now and that this process can decrypt. Newer keys
   * come first; of keys that were created together, ES256 comes before EdDSA.
   */
  signing(): Promise<readonly PrivateJwk[]>;
  /** Creates new keys, which replace the old keys one minute later. Returns the id of the new ES256 key. */
  rotate(): Promise<string>;
}

export interface PrivateJwk extends JWK {
  readonly kid: string;
  readonly alg: string;
}

export interface OauthSigningKeyProviderOptions {
  readonly db: Database;
  readonly keyring: EncryptionKeyring;
  readonly clock: Clock;
  /** The log to which missing signing keys are reported: keys that should be in use but cannot be decrypted. */
  readonly log?: Log;
}

/** Milliseconds after which cached keys are read from the database again. */
const freshMs = 30_000;
/** Minimum milliseconds between two reads of the keys from the database because of unknown key ids in tokens. */
const rereadMs = 1_000;
/**
 * Milliseconds from the creation of a key to its first signature. The time is long enough for every process
 * to read the new key.
 */
const announceMs = 60_000;
/**
 * Milliseconds for which signatures of a retired key are accepted. The terms of the sum are the lifetime of
 * an access token, one minute for differences between clocks, and the time until every process has read the
 * keys again.
 */
const acceptMs = accessTokenLifetimeSeconds * 1_000 + 60_000 + freshMs;
/** The id of the PostgreSQL advisory lock that a process holds while it creates signing keys. */
const lock = 7_462_193_017;

export function createOauthSigningKeyProvider({
  db,
  keyring,
  clock,
  log,
}: OauthSigningKeyProviderOptions): OauthSigningKeyProvider {
  let cached: { readonly keys: readonly CachedKey[]; readonly at: number } | undefined;
  let reading: Promise<readonly CachedKey[]> | undefined;

  const readShared = (): Promise<readonly CachedKey[]> => {
    reading ??= read().finally(() => (reading = undefined));
    return reading;
  };
  const read = async (): Promise<readonly CachedKey[]> => {
    const rows = await findRows(db);
    const keys = (rows.length > 0 ? rows : await createFirst()).map(toCachedKey);
    cached = { keys, at: clock.now().getTime() };
    return keys;
  };
  const createFirst = (): Promise<SigningKeyRow[]> =>
    runInTransaction(db, async (transaction) => {
      await sql`select pg_advisory_xact_lock(${lock}::bigint)`.execute(transaction);
      const rows = await findRows(transaction);
      if (rows.length > 0) return rows;
      const now = clock.now();
      // `signsFrom` is the time from which a key signs. For the first keys, this time is in the past, so that
      // processes with a slow clock can also sign at once.
      await insertKeys(transaction, keyring, { now, signsFrom: new Date(now.getTime() - announceMs) });
      return findRows(transaction);
    });
  /**
   * Decrypts a private key when it is needed for the first time. A process without the encryption key of a
   * signing key can still verify tokens, because verification needs only the public key.
   */
  const decryptKey = (key: CachedKey): PrivateJwk | undefined => {
    if (key.decrypted !== undefined) return key.decrypted.privateJwk;
    const privateJwk = tryToDecrypt(key.row, keyring, log);
    key.decrypted = { privateJwk };
    return privateJwk;
  };
  const isOlderThan = (ms: number): boolean =>
    cached === undefined || Math.abs(clock.now().getTime() - cached.at) >= ms;
  const current = async (): Promise<readonly CachedKey[]> =>
    cached === undefined || isOlderThan(freshMs) ? readShared() : cached.keys;
  const isAccepted = ({ retiredAt }: CachedKey): boolean =>
    retiredAt === null || retiredAt.getTime() + acceptMs > clock.now().getTime();
  const has = (keys: readonly CachedKey[], kid: string): boolean =>
    keys.some(({ publicJwk }) => publicJwk.kid === kid);

  return {
    publicJwks: async (kid) => {
      const known = await current();
      const keys =
        kid === undefined || has(known, kid) || !isOlderThan(rereadMs) ? known : await readShared();
      return { keys: keys.filter(isAccepted).map(({ publicJwk }) => publicJwk) };
    },
    signing: async () => {
      const keys = await current();
      // The current time is read after the keys were loaded. Loading may create the first keys, which are
      // valid from that moment, so a time that was read earlier would exclude them.
      const now = clock.now();
      return keys
        .filter(({ signsFrom, retiredAt }) => signsFrom <= now && (retiredAt === null || retiredAt > now))
        .flatMap((key) => decryptKey(key) ?? []);
    },
    rotate: async () => {
      const kid = await runInTransaction(db, (transaction) =>
        rotateOauthSigningKeys(transaction, keyring, clock.now()),
      );
      await readShared();
      return kid;
    },
  };
}

/**
 * Rotates the signing keys. If there were no keys, the new keys sign at once; otherwise they sign after one
 * minute, when every process has read them. Returns the id of the new ES256 key.
 */
export async function rotateOauthSigningKeys(
  transaction: Transaction,
  keyring: EncryptionKeyring,
  now: Date,
): Promise<string> {
  await sql`select pg_advisory_xact_lock(${lock}::bigint)`.execute(transaction);
  const signsFrom = new Date(now.getTime() + announceMs);
  const { numAffectedRows = 0n } =
    await sql`update oauth_signing_key set retired_at = greatest(signs_from, ${signsFrom})
      where retired_at is null`.execute(transaction);
  return insertKeys(transaction, keyring, {
    now,
    signsFrom: numAffectedRows > 0n ? signsFrom : new Date(now.getTime() - announceMs),
  });
}

type SigningKeyRow = Selectable<OauthSigningKeyTable>;

interface CachedKey extends Pick<SigningKeyRow, "signsFrom" | "retiredAt"> {
  readonly publicJwk: JWK;
  readonly row: SigningKeyRow;
  /**
   * The result of decrypting the private key; undefined before the first attempt. `privateJwk` is undefined
   * if the key could not be decrypted.
   */
  decrypted?: { readonly privateJwk: PrivateJwk | undefined };
}

/** Reads all signing keys, the newest first. Of keys that were created together, ES256 comes first. */
async function findRows(reader: DatabaseOrTransaction): Promise<SigningKeyRow[]> {
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
  keyring: EncryptionKeyring,
  { now, signsFrom }: KeyTimes,
): Promise<string> {
  const generated = await Promise.all(tokenSigningAlgorithms.map(generateKey));
  const rows = generated.map(({ publicJwk, privateJwk }) => ({
    id: privateJwk.kid,
    algorithm: privateJwk.alg,
    publicJwk: JSON.stringify(publicJwk),
    ...keyring.seal(JSON.stringify(privateJwk), getSigningKeyEncryptionContext(privateJwk.kid)),
    createdAt: now,
    signsFrom,
  }));
  await transaction.insertInto("oauthSigningKey").values(rows).execute();
  return generated.find(({ privateJwk }) => privateJwk.alg === "ES256")?.privateJwk.kid ?? "";
}

/** Generates a key pair for signing. The id of the key pair is the thumbprint of its public key (RFC 7638). */
async function generateKey(
  alg: string,
): Promise<{ readonly publicJwk: JWK; readonly privateJwk: PrivateJwk }> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const [publicPart, privatePart] = await Promise.all([exportJWK(publicKey), exportJWK(privateKey)]);
  const parameters = { kid: await calculateJwkThumbprint(publicPart), alg, use: "sig" };
  return { publicJwk: { ...publicPart, ...parameters }, privateJwk: { ...privatePart, ...parameters } };
}

const toCachedKey = (row: SigningKeyRow): CachedKey => ({
  row,
  publicJwk: row.publicJwk as JWK,
  signsFrom: row.signsFrom,
  retiredAt: row.retiredAt,
});

function tryToDecrypt(
  { id, sealed, dataKey, keyId }: SigningKeyRow,
  keyring: EncryptionKeyring,
  log: Log | undefined,
): PrivateJwk | undefined {
  try {
    return JSON.parse(
      keyring.open({ sealed, dataKey, keyId }, getSigningKeyEncryptionContext(id)).toString("utf8"),
    ) as PrivateJwk;
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    log?.error(
      { kid: id, encryptionKey: keyId, err: error },
      "A private signing key cannot be decrypted with ENCRYPTION_KEYS. Its public key still verifies " +
        "tokens; another key signs.",
    );
    return undefined;
  }
}

export const getSigningKeyEncryptionContext = (id: string): EncryptionContext => ({
  table: "oauth_signing_key",
  column: "sealed",
  rowId: id,
});

/** Deletes retired signing keys if all tokens that they signed have expired. */
export async function deleteExpiredOauthSigningKeys(db: Database, now: Date): Promise<void> {
  const overSince = new Date(now.getTime() - acceptMs);
  await db.deleteFrom("oauthSigningKey").where("retiredAt", "<", overSince).execute();
}
