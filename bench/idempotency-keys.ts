/** Puts a new idempotency key into a prepared request each time the request is sent. */
import { randomUUID } from "node:crypto";

/** The placeholder for the idempotency key. A key must have the same length. */
export const keyPlaceholder = "00000000-0000-0000-0000-000000000000";

/** Returns a copy of the request with a new key; returns a request without the placeholder itself. */
export function withNewIdempotencyKey(request: Buffer): Buffer {
  const start = request.indexOf(keyPlaceholder);
  if (start === -1) return request;
  const copy = Buffer.from(request);
  copy.write(randomUUID(), start, "latin1");
  return copy;
}
