/** What a credential has to be able to do for its installation, what it is able to do, and what it lacks. All sorted. */
import type { ReadinessFacts } from "./readiness-facts.ts";

export interface ScopeLists {
  readonly requiredScopes: readonly string[];
  readonly grantedScopes: readonly string[];
  readonly missingScopes: readonly string[];
}

/**
 * Required is what the merchant let the installation do, and what its credential was made for: a scope that only one of the two has is missing.
 * Without a credential of the call all of the installation's together are looked at.
 */
export function requiredAndGranted({ installation, credential }: Pick<ReadinessFacts, "installation" | "credential">): ScopeLists {
  const madeFor = new Set(credentialsOf(installation, credential).flatMap(({ scopes }) => scopes));
  const requiredScopes = [...new Set([...installation.scopes, ...madeFor])].toSorted();
  const isGranted = (scope: string): boolean => madeFor.has(scope) && installation.scopes.includes(scope);
  return {
    requiredScopes,
    grantedScopes: requiredScopes.filter(isGranted),
    missingScopes: requiredScopes.filter((scope) => !isGranted(scope)),
  };
}

type Installation = ReadinessFacts["installation"];

function credentialsOf({ keys, grants }: Installation, credential: ReadinessFacts["credential"]): readonly { readonly scopes: readonly string[] }[] {
  if (credential === null) return [...keys, ...grants];
  return credential.kind === "api_key" ? keys.filter(({ id }) => id === credential.apiKeyId) : grants.filter(({ id }) => id === credential.grantId);
}
