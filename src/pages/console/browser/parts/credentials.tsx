/** What a key or an app may do. */
import type { JSX } from "preact";
import type { ApiKey } from "#pages/console/browser/keys/key-documents.ts";

export const scopes: readonly { readonly name: string; readonly hint: string }[] = [
  { name: "catalog:read", hint: "Read carts and orders, revoke carts and cancel hosted checkout sessions." },
  { name: "checkout:quote", hint: "Set a cart's address and change its promotion." },
  { name: "webhooks:read", hint: "Read webhook endpoints, events and signature fixtures." },
  { name: "webhooks:write", hint: "Create webhook endpoints and replay deliveries." },
];

/** As the graph takes them: `catalog:read` → `CATALOG_READ`. */
export const asInput = (scope: string): string => scope.replace(":", "_").toUpperCase();

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

/** How an API key stands. */
type KeyState = "ACTIVE" | "EXPIRING" | "EXPIRED" | "REVOKED";

const soonMs = 14 * 24 * 3600 * 1000;

export function stateOf({ revokedAt, expiresAt }: Pick<ApiKey, "revokedAt" | "expiresAt">, nowMs: number): KeyState {
  if (revokedAt !== null) return "REVOKED";
  if (expiresAt === null) return "ACTIVE";
  const restMs = Date.parse(expiresAt) - nowMs;
  if (restMs <= 0) return "EXPIRED";
  return restMs < soonMs ? "EXPIRING" : "ACTIVE";
}

export const isInForce = (state: KeyState): boolean => state === "ACTIVE" || state === "EXPIRING";
