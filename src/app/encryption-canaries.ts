/**
 * Checks ENCRYPTION_KEYS at the start. For each key that has encrypted data, the database stores a canary: a
 * text of known content, encrypted with this key. A process that cannot decrypt every canary does not start.
 * If it started with a wrong key, it could not decrypt the existing values, and would encrypt new values with
 * a second key.
 */
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import {
  DecryptionError,
  type EncryptionKeyring,
  MissingEncryptionKeyError,
  type EncryptionContext,
} from "#foundation/encryption.ts";
import {
  createEncryptionKeyringFromSettings,
  EncryptionKeysMismatchError,
  type EncryptionKeySettings,
} from "./encryption-keys.ts";
import { verifySampledEncryptedValues } from "./rewrap.ts";

/**
 * Creates the object that encrypts and decrypts with the configured keys. Throws EncryptionKeysMismatchError
 * if these keys are not the keys with which the data in the database is encrypted.
 */
export async function createVerifiedEncryptionKeyring(
  db: Database,
  settings: EncryptionKeySettings,
): Promise<EncryptionKeyring> {
  const keyring = createEncryptionKeyringFromSettings(settings);
  await runInTransaction(db, (transaction) => verifyKeyring(transaction, keyring));
  return keyring;
}

/** The text that every canary contains. */
const content = "canary";

const contextOf = (rowId: string): EncryptionContext => ({
  table: "encryption_canary",
  column: "canary",
  rowId,
});

async function verifyKeyring(transaction: Transaction, keyring: EncryptionKeyring): Promise<void> {
  const ids = await openCanaries(transaction, keyring);
  // Databases of earlier releases have no canaries, but may already contain encrypted values. Some of these
  // values are decrypted instead, to check the keys.
  if (ids.length === 0)
    await verifySampledEncryptedValues({ db: transaction, keyring }).catch((error: unknown) =>
      explain(error),
    );
  const id = keyring.currentKeyId;
  if (ids.includes(id)) return;
  const { sealed: canary, dataKey: wrappedKey } = keyring.seal(content, contextOf(id));
  const { numInsertedOrUpdatedRows = 0n } = await transaction
    .insertInto("encryptionCanary")
    .values({ id, canary, wrappedKey })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  // Another process with a different key under the same key id may have started at the same time and inserted
  // its canary first. Decrypting all canaries again detects this case.
  if (numInsertedOrUpdatedRows === 0n) await openCanaries(transaction, keyring);
}

/** Decrypts all canaries and returns the ids of their keys. */
async function openCanaries(transaction: Transaction, keyring: EncryptionKeyring): Promise<string[]> {
  const rows = await transaction
    .selectFrom("encryptionCanary")
    .select(["id", "canary", "wrappedKey"])
    .execute();
  for (const { id, canary, wrappedKey } of rows)
    try {
      keyring.open({ sealed: canary, dataKey: wrappedKey, keyId: id }, contextOf(id));
    } catch (error) {
      explain(error);
    }
  return rows.map(({ id }) => id);
}

function explain(error: unknown): never {
  if (!(error instanceof DecryptionError)) throw error;
  const { keyId } = error;
  throw new EncryptionKeysMismatchError(
    error instanceof MissingEncryptionKeyError
      ? `ENCRYPTION_KEYS lacks the key ${keyId}, which has encrypted values of this database: add the key. If ` +
          "ENCRYPTION_KEYS is set, the file encryption-keys in DATA_DIR is not read. Before you remove a key, run " +
          "`keys rewrap`."
      : `The key ${keyId} of ENCRYPTION_KEYS is not the key ${keyId} that has encrypted values of this ` +
          "database: restore the right key.",
    { cause: error },
  );
}

/**
 * After `keys rewrap`: deletes the canaries of the keys that no longer encrypt any value. The canaries of
 * keys that are missing in ENCRYPTION_KEYS stay, because `keys rewrap` could not decrypt the values of these
 * keys.
 */
export async function deleteUnusedEncryptionCanaries(
  db: Database,
  keyring: EncryptionKeyring,
): Promise<void> {
  const rows = await db.selectFrom("encryptionCanary").select("id").execute();
  const unused = rows
    .map(({ id }) => id)
    .filter((id) => id !== keyring.currentKeyId && keyring.keyIds.includes(id));
  if (unused.length > 0) await db.deleteFrom("encryptionCanary").where("id", "in", unused).execute();
}
