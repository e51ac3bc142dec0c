/**
 * Ids: a prefix that names the kind of object, `_`, and a ULID in lower-case Crockford base32 (48 bits of
 * time, 80 random bits). Ids sort by creation time, cannot be guessed, and can be searched in any log.
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
const drawn = new Uint8Array(1024 * bytesEach);
let used = drawn.length;

/** Returns 80 random bits from a pool that is refilled in bulk; no bits are used twice. */
function randomBits(): Uint8Array {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += bytesEach;
  return drawn.subarray(used - bytesEach, used);
}

let ordered = 0;

/**
 * Creates ids that sort in the order of their creation even within one process and millisecond. Such ids can
 * be guessed.
 */
export function createOrderedId(kind: IdKind, at: number): string {
  ordered += 1;
  return `${idPrefixes[kind]}_${timeOf(at)}${digitsOf(ordered, 8)}${base32(randomBits().subarray(0, 5))}`;
}

/** Returns a lower bound: ids of the kind that were created at that time or later sort after it. */
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

/** True if the text has the form of an id of the kind. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = `${idPrefixes[kind]}_`;
  return text.startsWith(prefix) && tail.test(text.slice(prefix.length));
}

const kinds = new Map(
  Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind as IdKind] as const),
) as ReadonlyMap<string, IdKind>;

/** Returns the kind of an id; undefined if the text is not an id. */
export function getIdKind(text: string): IdKind | undefined {
  const kind = kinds.get(text.slice(0, text.indexOf("_")));
  return kind !== undefined && isId(kind, text) ? kind : undefined;
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
 * Makes an id that a caller sent safe for PostgreSQL, which refuses NUL characters: returns "" if the text
 * has control characters or lone surrogates. No row has the id "", so such an id is not found.
 */
export function toSafeId(text: string): string {
  return isTextWithoutForbiddenCharacters(text) ? text : "";
}
