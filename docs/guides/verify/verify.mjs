import { createHmac, timingSafeEqual } from "node:crypto";

const toleranceSeconds = 300;

/** `body`: a Buffer of the bytes as they came. `now`: in Unix seconds. */
export function verify(headers, body, { secret, now = Math.floor(Date.now() / 1000) }) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const signatures = headers["webhook-signature"];
  if (!id || !/^\d+$/.test(timestamp ?? "") || !signatures) return false;
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds) return false;

  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((entry) => {
    const [version, signature] = entry.split(",", 2);
    if (version !== "v1" || signature === undefined) return false;
    const given = Buffer.from(signature, "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
