/** What a session is found by from its page's address: who reads the database can open none. */
import { createHash } from "node:crypto";

export function secretDigest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
