/**
 * The keys that encrypt what is stored: given by ENCRYPTION_KEYS, or, for the embedded database, made once
 * and kept in DATA_DIR. A file of keys is written whole or not at all and never again: whoever replaced it
 * would lose what its keys have encrypted.
 */
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FolderUnusable, unusable } from "#database/folder-lock.ts";
import { createKeyring, type EncryptionKey, type Keyring } from "#foundation/encryption.ts";

export const encryptionKeysRule = "a comma-separated list of id:base64, each key 32 bytes";

const keyForm = /^([\w-]{1,32}):([A-Za-z\d+/]{43}=?)$/;

/** The keys, or the rule that the text breaks. */
export function parseEncryptionKeys(text: string): EncryptionKey[] | string {
  const keys = text.split(",").flatMap((part): EncryptionKey[] => {
    const [, id, base64] = keyForm.exec(part.trim()) ?? [];
    return id === undefined || base64 === undefined ? [] : [{ id, key: Buffer.from(base64, "base64") }];
  });
  if (keys.length < text.split(",").length) return `must be ${encryptionKeysRule}`;
  return new Set(keys.map(({ id }) => id)).size < keys.length ? "must have each id once" : keys;
}

interface KeySettings {
  readonly encryptionKeys: readonly EncryptionKey[] | undefined;
  readonly dataDir: string;
}

/** Of the keys that were given, or else of those that are kept. */
export const readKeyring = ({ encryptionKeys, dataDir }: KeySettings): Keyring =>
  createKeyring(encryptionKeys ?? loadEncryptionKeys(dataDir));

/**
 * The keys kept in the folder. The first call makes one; of several at the same time one makes it, and all
 * use it.
 */
export function loadEncryptionKeys(dataDir: string): EncryptionKey[] {
  const path = join(dataDir, "encryption-keys");
  try {
    const text = readIfThere(path) ?? createKeyFile(dataDir, path);
    const keys = parseEncryptionKeys(text);
    if (typeof keys !== "string") return keys;
  } catch (error) {
    throw unusable(dataDir, error);
  }
  throw new FolderUnusable(
    `${path} is damaged: it must be ${encryptionKeysRule}. Restore it: without it, what it has encrypted is lost.`,
  );
}

/** The content of the file, which is another process's when that was first. */
function createKeyFile(dataDir: string, path: string): string {
  // A random name, so that data of another folder says which key it lacks.
  const text = `local-${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}\n`;
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
    // A link is made only where nothing is, and of what is whole.
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

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
