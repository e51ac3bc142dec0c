/** Reads the value of an `Authorization` header (RFC 9110 section 11.6.2): exactly one, a scheme that is known and one token68. */
import { fail } from "#foundation/failure.ts";

const form = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) +([0-9A-Za-z._~+/-]+=*)$/;

const schemes = ["bearer", "dpop"] as const;
export type Scheme = (typeof schemes)[number];

export interface Authorization {
  readonly scheme: Scheme;
  readonly token: string;
}

/** Undefined when there is no credential at all. */
export function readAuthorization(values: readonly string[]): Authorization | undefined {
  const [value, second] = values;
  if (value === undefined) return undefined;
  if (second !== undefined) throw fail("credentials_malformed", { message: "There is more than one Authorization header." });
  const [, name, token] = form.exec(value.trim()) ?? [];
  const scheme = schemes.find((known) => known === name?.toLowerCase());
  if (scheme === undefined || token === undefined) {
    throw fail("credentials_malformed", { message: "The Authorization header must be `Bearer` and the key, or `DPoP` and the access token." });
  }
  return { scheme, token };
}
