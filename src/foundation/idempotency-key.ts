/** The form of an idempotency key, and the digest of what it was sent with (draft-ietf-httpapi-idempotency-key-header). */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/** Printable ASCII but `"`, `\`, `,` and `;`, which would be structure in a header. */
const characters = String.raw`[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,255}`;
const keyPattern = new RegExp(`^${characters}$`);

/** What the header may be, for whoever makes one: the key, or the key in quotes. */
export const idempotencyHeaderPattern = `^(?:${characters}|"${characters}")$`;

/** `"abc"` (a structured field's string) and `abc` are the same key; undefined when it is none. */
export function parseIdempotencyKey(text: string): string | undefined {
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1) : text;
  return keyPattern.test(key) ? key : undefined;
}

/** SHA-256 over the canonical JSON (RFC 8785): two requests that mean the same have the same. */
export function fingerprintOf(asked: Readonly<Record<string, unknown>>): Buffer {
  return createHash("sha256")
    .update(canonicalize(asked) ?? "")
    .digest();
}
