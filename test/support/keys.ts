/**
 * API keys put together by hand, after the documented form: an implementation of its own beside the
 * service's.
 */
import { crc32 } from "node:zlib";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The checksum that ends a key: CRC-32 in six base62 digits. */
export function checksumOf(text: string): string {
  let rest = crc32(text);
  let checksum = "";
  for (let position = 0; position < 6; position += 1) {
    checksum = digits.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}

/** Another secret under the same key id, with a checksum that is right. */
export function withOtherSecret(key: string): string {
  const prefix = key.slice(0, key.lastIndexOf("_"));
  const forged = `${prefix}_${"A".repeat(43)}`;
  return forged + checksumOf(forged);
}

/** A well-formed key that was never issued. */
export function unknownKey(): string {
  const made = `cpk_test_${"Z".repeat(12)}_${"B".repeat(43)}`;
  return made + checksumOf(made);
}

/** The last character changed: a typo. */
export function withTypo(key: string): string {
  return key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
}
