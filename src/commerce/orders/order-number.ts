/** What a buyer reads out on the telephone: random, so that it counts nothing, and without letters that look like digits. */
import { randomBytes } from "node:crypto";

/** Crockford's: without I, L, O and U. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const groupLength = 5;

/** `XXXXX-XXXXX`: 50 random bits. */
export function createOrderNumber(): string {
  const characters = Array.from(randomBytes(2 * groupLength), (byte) => alphabet.charAt(byte % alphabet.length)).join("");
  return `${characters.slice(0, groupLength)}-${characters.slice(groupLength)}`;
}
