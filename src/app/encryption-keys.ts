/**
 * Reads the encryption keys of stored data from the setting ENCRYPTION_KEYS. With the embedded database, the
 * setting is optional; without it, a key is generated once and stored in a file in DATA_DIR. The key file is
 * written atomically and never replaced, because data encrypted with a lost key cannot be decrypted.
 */
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DataFolderUnusable, toDataFolderError } from "#database/folder-lock.ts";
import { createKeyring, type EncryptionKey, type Keyring } from "#foundation/encryption.ts";

export const encryptionKeysRule = "a comma-separated list of id:base64, each key 32 bytes";

const keyForm = /^([\w-]{1,32}):([A-Za-z\d+/]{43}=?)$/;

/**
 * Parses the text of ENCRYPTION_KEYS. Returns the keys; returns the broken rule, a text, if the text is
 * invalid.
 */
export function parseEncryptionKeys(text: string): EncryptionKey[] | string {
  const keys = text.split(",").flatMap((part): EncryptionKey[] => {
    const [, id, base64] = keyForm.exec(part.trim()) ?? [];
    return id === undefined || base64 === undefined ? [] : [{ id, key: Buffer.from(base64, "base64") }];
  });
  if (keys.length < text.split(",").length) return `must be ${encryptionKeysRule}`;
  return new Set(keys.map(({ id }) => id)).size < keys.length ? "must not repeat an id" : keys;
}

/** ENCRYPTION_KEYS does not belong to the database. The message says which key is wrong. */
export class EncryptionKeysMismatch extends Error {}

export interface KeySettings {
  readonly encryptionKeys: readonly EncryptionKey[] | undefined;
  readonly dataDir: string;
}

/** Creates the keyring from the configured keys, or from the key file if none are configured. */
export const createConfiguredKeyring = ({ encryptionKeys, dataDir }: KeySettings): Keyring =>
  createKeyring(encryptionKeys ?? loadOrCreateEncryptionKeys(dataDir));

/**
 * Reads the key file in the folder; creates the file if it is missing. Concurrent calls of several processes
 * return the same keys.
 */
export function loadOrCreateEncryptionKeys(dataDir: string): EncryptionKey[] {
  const path = join(dataDir, "encryption-keys");
  try {
    const text = readIfExists(path) ?? createKeyFile(dataDir, path);
    const keys = parseEncryptionKeys(text);
    if (typeof keys !== "string") return keys;
  } catch (error) {
    throw toDataFolderError(dataDir, error);
  }
  throw new DataFolderUnusable(
    `${path} is damaged: it must be ${encryptionKeysRule}. Restore it from a backup: without ` +
      "it, the data that it encrypted cannot be read.",
  );
}

/** Creates the key file. Returns its content, which is from another process if that was faster. */
function createKeyFile(dataDir: string, path: string): string {
  // The key id is random, so that an error about data from another folder names the key that is missing.
  const text = `local-${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}\n`;
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
    // Creating a hard link fails if the file exists, and never makes an incomplete file visible.
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
