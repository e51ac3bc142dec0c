/**
 * Secrets that clients hold: `{kind}_{label}_{id: 12 base62}_{secret: 43 base62, 256 bits}{CRC-32: 6 base62}`. The checksum settles typos and
 * secret scanners' finds without a database; at rest there is only the SHA-256 of the whole.
 */
import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { Database } from "#database/connect.ts";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 12;
const secretLength = 43;
const checksumLength = 6;

export type SecretKind = "cpk" | "cit";

export interface MintedSecret {
  readonly id: string;
  /** Shown once, kept nowhere. */
  readonly value: string;
  /** Everything before the secret: fit to be shown and logged. */
  readonly prefix: string;
  readonly digest: Buffer;
  readonly lastFour: string;
}

export function mintSecret(kind: SecretKind, label: string): MintedSecret {
  const id = Array.from({ length: idLength }, () => base62.charAt(randomInt(62))).join("");
  const prefix = `${kind}_${label}_${id}`;
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  const unchecked = `${prefix}_${secret}`;
  const value = unchecked + checksumOf(unchecked);
  return { id, value, prefix, digest: digestOf(value), lastFour: value.slice(-4) };
}

const form = new RegExp(`^(cpk|cit)_([a-z]+)_([0-9A-Za-z]{${idLength}})_[0-9A-Za-z]{${secretLength + checksumLength}}$`);

/** The id inside a well-formed secret of that kind with the right checksum; undefined for anything else. */
export function parseSecret(kind: SecretKind, text: string): { readonly id: string; readonly label: string } | undefined {
  const [, foundKind, label, id] = form.exec(text) ?? [];
  if (foundKind !== kind || id === undefined || label === undefined) return undefined;
  return checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength) ? { id, label } : undefined;
}

export function digestOf(value: string): Buffer {
  return hash("sha256", value, "buffer");
}

const nobody = digestOf("nobody");

/** Takes as long for an unknown id (no stored digest) as for a wrong secret. */
export function matchesDigest(value: string, stored: Uint8Array | undefined): boolean {
  const isEqual = timingSafeEqual(digestOf(value), stored ?? nobody);
  return isEqual && stored !== undefined;
}

function checksumOf(text: string): string {
  let checksum = "";
  for (let rest = crc32(text), digits = 0; digits < checksumLength; digits += 1) {
    checksum = base62.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}

function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = base62.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}

/** When a credential was last used, noted once a minute at most: a request does not wait for it, and most cost no statement at all. */
const noteEveryMs = 60_000;
const credentialsMax = 10_000;

const noted = new WeakMap<Database, LRUCache<string, number>>();

interface Use {
  readonly credentialId: string;
  readonly now: Date;
}

export function isUseNoted(db: Database, { credentialId, now }: Use): boolean {
  const at = noted.get(db)?.get(credentialId);
  return at !== undefined && Math.abs(now.getTime() - at) < noteEveryMs;
}

/** `write` holds to the same minute by itself: other processes note as well. */
export async function noteUse(db: Database, use: Use, write: () => Promise<unknown>): Promise<void> {
  if (isUseNoted(db, use)) return;
  const { credentialId, now } = use;
  const times = noted.get(db) ?? new LRUCache<string, number>({ max: credentialsMax });
  noted.set(db, times);
  times.set(credentialId, now.getTime());
  try {
    await write();
  } catch (error) {
    times.delete(credentialId);
    throw error;
  }
}
