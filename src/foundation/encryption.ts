/**
 * Encrypts values that the database stores. Each value is encrypted with AES-256-GCM and its own data key.
 * The data key is itself encrypted (wrapped) with the first key of ENCRYPTION_KEYS, and can be decrypted with
 * the key that encrypted it as long as this key is in ENCRYPTION_KEYS. A value and its data key are bound to
 * the value's table, column and row, so a value that is copied to another row or column cannot be decrypted.
 * Reading a value that cannot be decrypted throws `DecryptionError`; no other value is returned instead.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

export interface EncryptionKey {
  readonly id: string;
  /** The secret AES-256 key, 32 bytes long. */
  readonly key: Uint8Array;
}

export interface EncryptedValue {
  readonly sealed: Uint8Array;
  /**
   * The data key that encrypts this value. The data key itself is encrypted with the encryption key whose id
   * is `keyId`.
   */
  readonly dataKey: Uint8Array;
  readonly keyId: string;
}

/**
 * The table, column and row of an encrypted value. AES-GCM authenticates them together with the value
 * (associated data), so the value cannot be decrypted if it is copied to another place.
 */
export interface EncryptionContext {
  readonly table: string;
  readonly column: string;
  readonly rowId: string;
}

export interface EncryptionKeyring {
  /** The id of the encryption key that encrypts new data keys: the first key of ENCRYPTION_KEYS. */
  readonly currentKeyId: string;
  /** The ids of all encryption keys, in the order of ENCRYPTION_KEYS. */
  readonly keyIds: readonly string[];
  /** Encrypts a value with a new data key. */
  seal(plaintext: Uint8Array | string, context: EncryptionContext): EncryptedValue;
  /** Encrypts a value as `seal` does, and returns the `digest` of `data` for the encrypted value. */
  sealWithDigest(
    plaintext: Uint8Array | string,
    context: EncryptionContext,
    data: Uint8Array,
  ): { readonly encrypted: EncryptedValue; readonly digest: Buffer };
  /**
   * Decrypts a value. Throws `DecryptionError` if the encrypted value was changed, its encryption key is
   * missing, or the given table, column or row is not that of the value.
   */
  open(sealed: EncryptedValue, context: EncryptionContext): Buffer;
  /**
   * Encrypts the data key of an encrypted value again, with the current encryption key. Returns the encrypted
   * value with the new data key; the value itself stays unchanged.
   */
  rewrap(sealed: EncryptedValue, context: EncryptionContext): EncryptedValue;
  /**
   * Returns an HMAC-SHA-256 of `data`, keyed with the data key of the encrypted value `sealed`. Without the
   * encryption keys, a guess of `data` cannot be checked against the HMAC. The HMAC stays the same if the
   * data key is encrypted again with another encryption key.
   */
  digest(sealed: EncryptedValue, context: EncryptionContext, data: Uint8Array): Buffer;
  /**
   * Derives keys for a purpose other than encryption, for example for signatures. Returns one derived key for
   * each encryption key, in the order of ENCRYPTION_KEYS.
   */
  derive(purpose: string): readonly Buffer[];
}

export class DecryptionError extends Error {
  /** The id of the encryption key with which the data key of the value was encrypted. */
  readonly keyId: string;

  constructor(message: string, keyId: string, options?: ErrorOptions) {
    super(message, options);
    this.keyId = keyId;
  }
}

/** The error that is thrown if ENCRYPTION_KEYS lacks the key with which a value was encrypted. */
export class MissingEncryptionKeyError extends DecryptionError {}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

export function createEncryptionKeyring(keys: readonly EncryptionKey[]): EncryptionKeyring {
  const [current] = keys;
  if (current === undefined) throw new Error("A keyring needs a key.");
  const byId = new Map(keys.map(({ id, key }) => [id, Buffer.from(key)]));
  if (byId.size < keys.length) throw new Error("Two keys of a keyring have the same id.");
  for (const { id, key } of keys)
    if (key.length !== keyBytes)
      throw new Error(`The key ${id} has ${key.length} bytes and must have ${keyBytes}.`);
  const currentKey = Buffer.from(current.key);

  const wrap = (dataKey: Uint8Array, context: EncryptionContext): Uint8Array =>
    encrypt({ key: currentKey, nonce: randomBytes(nonceBytes) }, dataKey, associatedData(context));
  const sealWith = (
    { dataKey, nonces }: RandomParts,
    plaintext: Uint8Array | string,
    context: EncryptionContext,
  ): EncryptedValue => {
    const bound = associatedData(context);
    return {
      sealed: encrypt({ key: dataKey, nonce: nonces[0] }, plaintext, bound),
      dataKey: encrypt({ key: currentKey, nonce: nonces[1] }, dataKey, bound),
      keyId: current.id,
    };
  };
  const unwrap = ({ dataKey, keyId }: EncryptedValue, context: EncryptionContext): Buffer => {
    const key = byId.get(keyId);
    if (key === undefined)
      throw new MissingEncryptionKeyError(
        `${describe(context)} was encrypted with the key ${keyId}, which is not in ENCRYPTION_KEYS.`,
        keyId,
      );
    return decrypt(key, { bytes: dataKey, keyId }, context);
  };

  return {
    currentKeyId: current.id,
    keyIds: [...byId.keys()],
    seal: (plaintext, context) => sealWith(createRandomParts(), plaintext, context),
    sealWithDigest: (plaintext, context, data) => {
      const parts = createRandomParts();
      return { encrypted: sealWith(parts, plaintext, context), digest: digestWith(parts.dataKey, data) };
    },
    open: (sealed, context) =>
      decrypt(unwrap(sealed, context), { bytes: sealed.sealed, keyId: sealed.keyId }, context),
    rewrap: (sealed, context) => ({
      sealed: sealed.sealed,
      dataKey: wrap(unwrap(sealed, context), context),
      keyId: current.id,
    }),
    digest: (sealed, context, data) => digestWith(unwrap(sealed, context), data),
    derive: (purpose) => [...byId.values()].map((key) => deriveKey(key, purpose)),
  };
}

interface RandomParts {
  readonly dataKey: Buffer;
  /** The nonces with which the value and its data key are encrypted. */
  readonly nonces: readonly [value: Buffer, dataKey: Buffer];
}

/** Creates a data key and two nonces with one call of the random generator, which is faster than three. */
function createRandomParts(): RandomParts {
  const bytes = randomBytes(keyBytes + 2 * nonceBytes);
  const dataKeyAt = 2 * nonceBytes;
  return {
    nonces: [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes, dataKeyAt)],
    dataKey: bytes.subarray(dataKeyAt),
  };
}

const digestWith = (dataKey: Uint8Array, data: Uint8Array): Buffer =>
  createHmac("sha256", deriveKey(dataKey, "digest")).update(data).digest();

const deriveKey = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", key, "", purpose, keyBytes));

/**
 * Encrypts with AES-256-GCM and returns nonce, ciphertext and authentication tag, in this order. Random
 * nonces are safe here: a data key encrypts one value only, and an encryption key encrypts far fewer than 2³²
 * data keys.
 */
function encrypt(
  { key, nonce }: { readonly key: Uint8Array; readonly nonce: Uint8Array },
  plaintext: Uint8Array | string,
  bound: Uint8Array,
): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(bound);
  const encrypted =
    typeof plaintext === "string" ? cipher.update(plaintext, "utf8") : cipher.update(plaintext);
  return Buffer.concat([nonce, encrypted, cipher.final(), cipher.getAuthTag()]);
}

interface EncryptedBytes {
  readonly bytes: Uint8Array;
  /** The id of the encryption key that decrypts the value, for error messages. */
  readonly keyId: string;
}

function decrypt(
  key: Uint8Array,
  { bytes: sealed, keyId }: EncryptedBytes,
  context: EncryptionContext,
): Buffer {
  if (sealed.length < nonceBytes + tagBytes)
    throw new DecryptionError(`${describe(context)} is too short for an encrypted value.`, keyId);
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(associatedData(context));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plaintext = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch (error) {
    throw new DecryptionError(
      `${describe(context)} does not decrypt: the value, its key or its place was changed.`,
      keyId,
      { cause: error },
    );
  }
}

/**
 * Returns the table, column and row id of a value as one buffer, which AES-GCM authenticates with the value
 * (associated data). The length of each part precedes the part, so different tables, columns or rows never
 * give the same buffer.
 */
function associatedData({ table, column, rowId }: EncryptionContext): Buffer {
  return Buffer.from([table, column, rowId].map((part) => `${Buffer.byteLength(part)}:${part}`).join(""));
}

function describe({ table, column, rowId }: EncryptionContext): string {
  return `${table}.${column} of ${rowId}`;
}
