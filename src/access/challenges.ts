/** What a refusal says in WWW-Authenticate of the credentials that would do (RFC 9110 section 11.6.1): one challenge for each scheme. */
import type { Scheme } from "#access/oauth/authorization.ts";
import { resourceMetadataPath, signingAlgorithms } from "#access/oauth/oauth-terms.ts";
import { type Failure, type FailureCode, fail } from "#foundation/failure.ts";

/** What a door takes. */
export interface Door {
  readonly publicUrl: string;
  /** The first is answered with where nobody can tell what was meant. */
  readonly schemes: readonly [Scheme, ...Scheme[]];
  /** Where to turn to; a sentence. */
  readonly hint?: string;
}

/** RFC 6750 section 3: nothing is called wrong where nothing was sent. */
export function challenge(failure: Failure, { publicUrl, schemes, hint }: Door, used: Scheme = schemes[0]): Failure {
  const meant = isOfTokens(failure.code) ? "dpop" : used;
  const scheme = schemes.includes(meant) ? meant : schemes[0];
  const value =
    failure.code === "credentials_missing"
      ? schemes.map((open) => challengeOf(open, publicUrl)).join(", ")
      : challengeOf(scheme, publicUrl, { error: failure.code.startsWith("dpop_proof_") ? "invalid_dpop_proof" : "invalid_token" });
  const message = hint === undefined ? failure.message : `${failure.message} ${hint}`;
  return fail(failure.code, { ...failure.parts, message, headers: { ...failure.parts.headers, "www-authenticate": value } });
}

const isOfTokens = (code: FailureCode): boolean => code.startsWith("oauth_token_") || code.startsWith("dpop_proof_");

/** `Bearer` for API keys (RFC 6750), `DPoP` for access tokens (RFC 9449 section 7.1, with RFC 9728 section 5.1). */
export function challengeOf(scheme: Scheme, publicUrl: string, parameters: Readonly<Record<string, string>> = {}): string {
  const before = scheme === "bearer" ? { realm: publicUrl } : { algs: signingAlgorithms.join(" ") };
  const after = scheme === "bearer" ? {} : { resource_metadata: `${publicUrl}${resourceMetadataPath}` };
  const pairs = Object.entries({ ...before, ...parameters, ...after }).map(([name, value]) => `${name}="${value}"`);
  return `${scheme === "bearer" ? "Bearer" : "DPoP"} ${pairs.join(", ")}`;
}
