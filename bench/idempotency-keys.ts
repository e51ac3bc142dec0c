/** A request is bytes made once; where it carries an idempotency key, each sending of it has one of its own. */
import { randomUUID } from "node:crypto";

/** As long as the keys that take its place. */
export const keyPlaceholder = "00000000-0000-0000-0000-000000000000";

/** A request without the placeholder stays as it is. */
export function withFreshKey(request: Buffer): Buffer {
  const start = request.indexOf(keyPlaceholder);
  if (start === -1) return request;
  const copy = Buffer.from(request);
  copy.write(randomUUID(), start, "latin1");
  return copy;
}
