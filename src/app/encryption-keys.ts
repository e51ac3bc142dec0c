/**
 * Reads the encryption keys of stored data from the setting ENCRYPTION_KEYS. With the embedded database, the
 * setting is optional: if ENCRYPTION_KEYS is not set, a key is generated once and stored in a file in
 * DATA_DIR. The key file is written in one step and never replaced, because data cannot be decrypted after
 * its key is lost.
 */
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DataFolderUnusableError, toDataFolderUnusableError } from "#database/folder-lock.ts";
import {
  createEncryptionKeyring,
  type EncryptionKey,
  type EncryptionKeyring,
} from "#foundation/encryption.ts";

export const encryptionKeysRule = "a comma-separated list of id:base64, each key 32 bytes";

const keyForm = /^([\w-]{1,32}):([A-Za-z\d+/]{43}=?)$/;

/**
 * Parses the text of the setting ENCRYPTION_KEYS. Returns the keys; if the text is invalid, returns a text
 * with the broken rule.
 */
export function parseEncryptionKeys(text: string): EncryptionKey[] | string {
  const keys = text.split(",").flatMap((part): EncryptionKey[] => {
    const [, id, base64] = keyForm.exec(part.trim()) ?? [];
    return id === undefined || base64 === undefined ? [] : [{ id, key: Buffer.from(base64, "base64") }];
  });
  if (keys.length < text.split(",").length) return `must be ${encryptionKeysRule}`;
  return new Set(keys.map(({ id }) => id)).size < keys.length ? "must not repeat an id" : keys;
}

/**
 * Thrown if the keys in ENCRYPTION_KEYS are not those with which the data in the database is encrypted. The
 * message says which key is wrong.
 */
export class EncryptionKeysMismatchError extends Error {}

export interface EncryptionKeySettings {
  readonly encryptionKeys: readonly EncryptionKey[] | undefined;
  readonly dataDir: string;
}

/**
 * Creates the object that encrypts and decrypts stored data, with the keys of ENCRYPTION_KEYS, or with the
 * key file in DATA_DIR if this setting is not set.
 */
export const createEncryptionKeyringFromSettings = ({
  encryptionKeys,
  dataDir,
}: EncryptionKeySettings): EncryptionKeyring =>
  createEncryptionKeyring(encryptionKeys ?? loadOrCreateEncryptionKeys(dataDir));

/**
 * Reads the file with the encryption key in the folder `dataDir`, and creates the file if it is missing. If
 * several processes call this at the same time, all get the same key.
 */
export function loadOrCreateEncryptionKeys(dataDir: string): EncryptionKey[] {
  const path = join(dataDir, "encryption-keys");
  try {
    const text = readIfExists(path) ?? createKeyFile(dataDir, path);
    const keys = parseEncryptionKeys(text);
    if (typeof keys !== "string") return keys;
  } catch (error) {
    throw toDataFolderUnusableError(dataDir, error);
  }
  throw new DataFolderUnusableError(
    `${path} is damaged: it must be ${encryptionKeysRule}. Restore it from a backup: without ` +
      "it, the data that it encrypted cannot be read.",
  );
}

/**
 * Creates the file with the encryption key and returns its content. If another process has created the file
 * first, returns the content that the other process has written.
 */
function createKeyFile(dataDir: string, path: string): string {
  // The id of the key is random, so that the keys of two data folders have different ids. Data that was
  // encrypted in another folder then fails to decrypt with an error that names an unknown key id.
  const text = `local-${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}\n`;
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
    // The complete file is written under a temporary name and then linked to its final name: creating a hard
    // link fails if the name exists, and other processes never see an incomplete file.
    linkSync(draft, path);
    return text;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      return readFileSync(path, "utf8");
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
