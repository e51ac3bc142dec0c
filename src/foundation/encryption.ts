/**
 * Encryption at rest: AES-256-GCM under a data key of the row's own, which is wrapped by the first of the
 * ENCRYPTION_KEYS (all of them unwrap). Both are bound to table, column and row, so that nothing opens in
 * another place. What does not open throws; there is no fallback.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

export interface Sealed {
  readonly sealed: Uint8Array;
  /** Wrapped by the key that `keyId` names. */
  readonly dataKey: Uint8Array;
  readonly keyId: string;
}

export interface Place {
  readonly table: string;
  readonly column: string;
  readonly rowId: string;
}

export interface Keyring {
  /** The id of the key that wraps what is sealed now. */
  readonly currentKeyId: string;
  seal(plaintext: Uint8Array | string, place: Place): Sealed;
  open(sealed: Sealed, place: Place): Buffer;
  /** The same payload, its data key wrapped by the first key. */
  rewrap(sealed: Sealed, place: Place): Sealed;
  /**
   * A digest of something beside it, keyed by its data key: nobody guesses what it is of without the keys,
   * and wrapped anew it stays what it is.
   */
  digest(sealed: Sealed, place: Place, beside: Uint8Array): Buffer;
  /** Keys for something else than encrypting, one of each key of the ring, the first one's first. */
  derive(purpose: string): readonly Buffer[];
}

export class DecryptionFailed extends Error {}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

export function createKeyring(keys: readonly EncryptionKey[]): Keyring {
  const [current] = keys;
  if (current === undefined) throw new Error("A keyring needs a key.");
  const byId = new Map(keys.map(({ id, key }) => [id, Buffer.from(key)]));
  if (byId.size < keys.length) throw new Error("Two keys of a keyring have the same id.");
  for (const { id, key } of keys)
    if (key.length !== keyBytes)
      throw new Error(`The key ${id} has ${key.length} bytes and must have ${keyBytes}.`);
  const currentKey = Buffer.from(current.key);

  const wrap = (dataKey: Uint8Array, place: Place): Uint8Array => encrypt(currentKey, dataKey, place);
  const unwrap = ({ dataKey, keyId }: Sealed, place: Place): Buffer => {
    const key = byId.get(keyId);
    if (key === undefined)
      throw new DecryptionFailed(
        `${nameOf(place)} was encrypted with the key ${keyId}, which is not in ENCRYPTION_KEYS.`,
      );
    return decrypt(key, dataKey, place);
  };

  return {
    currentKeyId: current.id,
    seal: (plaintext, place) => {
      const dataKey = randomBytes(keyBytes);
      return { sealed: encrypt(dataKey, plaintext, place), dataKey: wrap(dataKey, place), keyId: current.id };
    },
    open: (sealed, place) => decrypt(unwrap(sealed, place), sealed.sealed, place),
    rewrap: (sealed, place) => ({
      sealed: sealed.sealed,
      dataKey: wrap(unwrap(sealed, place), place),
      keyId: current.id,
    }),
    digest: (sealed, place, beside) =>
      createHmac("sha256", derived(unwrap(sealed, place), "digest"))
        .update(beside)
        .digest(),
    derive: (purpose) => [...byId.values()].map((key) => derived(key, purpose)),
  };
}

const derived = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", key, "", purpose, keyBytes));

/**
 * Nonce, ciphertext, tag. The nonce is random: each data key encrypts once, and a wrapping key far fewer than
 * 2³² times.
 */
function encrypt(key: Uint8Array, plaintext: Uint8Array | string, place: Place): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(associatedData(place));
  const encrypted =
    typeof plaintext === "string" ? cipher.update(plaintext, "utf8") : cipher.update(plaintext);
  return Buffer.concat([nonce, encrypted, cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, sealed: Uint8Array, place: Place): Buffer {
  if (sealed.length < nonceBytes + tagBytes)
    throw new DecryptionFailed(`${nameOf(place)} is too short to be what was encrypted.`);
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(associatedData(place));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plaintext = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch (error) {
    throw new DecryptionFailed(`${nameOf(place)} does not decrypt: it, its key or its place was changed.`, {
      cause: error,
    });
  }
}

/** Each part behind its length, so that no two places give the same bytes. */
function associatedData({ table, column, rowId }: Place): Buffer {
  return Buffer.from([table, column, rowId].map((part) => `${Buffer.byteLength(part)}:${part}`).join(""));
}

function nameOf({ table, column, rowId }: Place): string {
  return `${table}.${column} of ${rowId}`;
}
