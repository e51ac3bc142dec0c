/** Builds API keys by hand from the documented format, independently of the service's implementation. */
import { crc32 } from "node:zlib";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Computes the checksum at the end of a key: CRC-32 in six base62 digits. */
export function checksumOf(text: string): string {
  let rest = crc32(text);
  let checksum = "";
  for (let position = 0; position < 6; position += 1) {
    checksum = digits.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}

/** Returns a key with the same key id, another secret and a valid checksum. */
export function withOtherSecret(key: string): string {
  const prefix = key.slice(0, key.lastIndexOf("_"));
  const forged = `${prefix}_${"A".repeat(43)}`;
  return forged + checksumOf(forged);
}

/** Returns a well-formed key that was never issued. */
export function unknownKey(): string {
  const made = `cpk_test_${"Z".repeat(12)}_${"B".repeat(43)}`;
  return made + checksumOf(made);
}

/** Returns the key with its last character changed, as a typo would. */
export function withTypo(key: string): string {
  return key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
}
