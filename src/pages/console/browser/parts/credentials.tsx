/** The scopes of API keys and OAuth grants, and whether a credential is still valid. */
import type { JSX } from "preact";

export const grantableScopes: readonly { readonly name: string; readonly hint: string }[] = [
  { name: "catalog:read", hint: "Read carts and orders, revoke carts and cancel hosted checkout sessions." },
  { name: "checkout:quote", hint: "Set a cart's address and change its promotion." },
  { name: "webhooks:read", hint: "Read webhook endpoints, events and signature fixtures." },
  { name: "webhooks:write", hint: "Create webhook endpoints and replay deliveries." },
];

/** Converts a scope into its GraphQL enum value: `catalog:read` → `CATALOG_READ`. */
export const scopeEnumValue = (scope: string): string => scope.replace(":", "_").toUpperCase();

export const ScopeList = ({ scopes: listed }: { readonly scopes: readonly string[] }): JSX.Element =>
  listed.length === 0 ? (
    <span class="soft">none</span>
  ) : (
    <span class="scopes">
      {listed.map((scope) => (
        <code key={scope}>{scope}</code>
      ))}
    </span>
  );

type KeyState = "ACTIVE" | "EXPIRING" | "EXPIRED" | "REVOKED";

const soonMs = 14 * 24 * 3600 * 1000;

interface Credential {
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
}

export function credentialState({ revokedAt, expiresAt }: Credential, nowMs: number): KeyState {
  if (revokedAt !== null) return "REVOKED";
  if (expiresAt === null) return "ACTIVE";
  const restMs = Date.parse(expiresAt) - nowMs;
  if (restMs <= 0) return "EXPIRED";
  return restMs < soonMs ? "EXPIRING" : "ACTIVE";
}

export const isUsableCredential = (state: KeyState): boolean => state === "ACTIVE" || state === "EXPIRING";
