/** Reads the value of an `Authorization` header (RFC 9110 section 11.6.2): exactly one, `Bearer` and one token68. */
import { fail } from "#foundation/failure.ts";

const form = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) +([0-9A-Za-z._~+/-]+=*)$/;

/** The bearer token; undefined when there is no credential at all. */
export function bearerToken(values: readonly string[]): string | undefined {
  const [value, second] = values;
  if (value === undefined) return undefined;
  if (second !== undefined) throw fail("credentials_malformed", { message: "There is more than one Authorization header." });
  const [, scheme, token] = form.exec(value.trim()) ?? [];
  if (scheme?.toLowerCase() !== "bearer" || token === undefined) {
    throw fail("credentials_malformed", { message: "The Authorization header must be `Bearer` and the key." });
  }
  return token;
}
