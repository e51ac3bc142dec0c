/**
 * Ids of objects. An id is a prefix that names the kind of object, `_`, and a ULID in lower-case Crockford
 * base32 (48 bits of time, 80 random bits). Ids sort by creation time, cannot be guessed, and are easy to
 * search for in logs.
 */
import { randomFillSync } from "node:crypto";
import { isTextWithoutForbiddenCharacters } from "./text.ts";

export const idPrefixes = {
  addressToken: "adt",
  app: "app",
  audit: "aud",
  apiKey: "key",
  buyerSession: "bse",
  cart: "cart",
  cartLine: "cln",
  category: "cat",
  checkoutSession: "chs",
  deliveryMethod: "dlm",
  event: "evt",
  export: "exp",
  fulfillment: "ful",
  installation: "ins",
  internalToken: "tok",
  market: "mkt",
  media: "med",
  merchant: "mer",
  oauthClient: "oac",
  oauthGrant: "grt",
  order: "ord",
  orderLine: "oln",
  payment: "pay",
  paymentConnection: "pcn",
  paymentOperation: "pop",
  personalData: "psd",
  policy: "pol",
  product: "prd",
  promotion: "prm",
  promotionCode: "pcd",
  refund: "rfd",
  request: "req",
  return: "ret",
  staff: "stf",
  taxRate: "txr",
  trustedDocument: "tdc",
  variant: "var",
  warranty: "wty",
  warrantyClaim: "wcl",
  webhookAttempt: "wha",
  webhookDelivery: "whd",
  webhookEndpoint: "whe",
  webhookSecret: "whs",
} as const;

export type IdKind = keyof typeof idPrefixes;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const tail = /^[0-9a-hjkmnp-tv-z]{26}$/;

export function createId(kind: IdKind, at: number = Date.now()): string {
  return `${idPrefixes[kind]}_${timeOf(at)}${base32(randomBits())}`;
}

const bytesEach = 10;
const pool = new Uint8Array(1024 * bytesEach);
let usedBytes = pool.length;

/**
 * Returns the next 80 unused bits of a pool of random bytes. The pool is filled with many bytes at once,
 * because generating random bytes for each id separately would be slow.
 */
function randomBits(): Uint8Array {
  if (usedBytes === pool.length) {
    randomFillSync(pool);
    usedBytes = 0;
  }
  usedBytes += bytesEach;
  return pool.subarray(usedBytes - bytesEach, usedBytes);
}

let ordered = 0;

/**
 * Creates an id that sorts after every ordered id that this process has created for the same or an earlier
 * time. An ordered id has only 40 random bits, so it must not serve as a secret.
 */
export function createTimeSortedId(kind: IdKind, at: number): string {
  ordered += 1;
  return `${idPrefixes[kind]}_${timeOf(at)}${digitsOf(ordered, 8)}${base32(randomBits().subarray(0, 5))}`;
}

/**
 * Returns the lowest possible id of a kind for a time: all ids of this kind that were created at this time or
 * later sort after the returned text.
 */
export function getLowestIdAtTime(kind: IdKind, at: number): string {
  return `${idPrefixes[kind]}_${timeOf(at)}${"0".repeat(16)}`;
}

const timeOf = (at: number): string => digitsOf(at, 10);

function digitsOf(value: number, length: number): string {
  let text = "";
  for (let rest = value, digits = 0; digits < length; digits += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/**
 * Returns the noun for a kind of object with its article, for error messages: `an order`, `a checkout
 * session`.
 */
export function formatObjectKindWithArticle(kind: IdKind): string {
  const noun = kind
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^api /, "API ")
    .replace(/^oauth /, "OAuth ");
  return `${/^[aeioAEIO]/.test(noun) ? "an" : "a"} ${noun}`;
}

/** Returns whether the text has the form of an object id of the given kind. */
export function isIdOfKind(kind: IdKind, text: string): boolean {
  const prefix = `${idPrefixes[kind]}_`;
  return text.startsWith(prefix) && tail.test(text.slice(prefix.length));
}

const kinds = new Map(
  Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind as IdKind] as const),
) as ReadonlyMap<string, IdKind>;

/** Returns the kind of object to which an object id belongs; undefined if the text is not an object id. */
export function getObjectKindOfId(text: string): IdKind | undefined {
  const kind = kinds.get(text.slice(0, text.indexOf("_")));
  return kind !== undefined && isIdOfKind(kind, text) ? kind : undefined;
}

function base32(bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((held >> bits) & 31);
    }
    held &= (1 << bits) - 1;
  }
  return text;
}

/**
 * Returns an id from a request unchanged. Returns "" if the id has control characters or lone surrogates,
 * because PostgreSQL refuses such texts. No row has the id "", so a search for "" finds no row.
 */
export function blankIdWithForbiddenCharacters(text: string): string {
  return isTextWithoutForbiddenCharacters(text) ? text : "";
}
