/** Shows the permissions of an API key or other credential, and whether the credential is still valid. */
import type { JSX } from "preact";
import { grantableScopes } from "./permissions.ts";

interface PermissionListProps {
  readonly scopes: readonly string[];
  /**
   * True if the list shows permissions only in words. The name of the scope, for example `catalog:read`, then
   * appears while the mouse pointer is on the words.
   */
  readonly isShort?: boolean;
}

export const PermissionList = ({ scopes, isShort = false }: PermissionListProps): JSX.Element =>
  scopes.length === 0 ? (
    <span class="soft">none</span>
  ) : (
    <ul class="permissions">
      {scopes.map((scope) => (
        <li key={scope} title={isShort ? scope : undefined}>
          {grantableScopes.find(({ name }) => name === scope)?.title ?? scope}
          {isShort ? null : (
            <>
              {" "}
              <code>{scope}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  );

type KeyState = "ACTIVE" | "EXPIRING" | "EXPIRED" | "REVOKED";

const soonMs = 14 * 24 * 3600 * 1000;

interface Credential {
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
}

export function getCredentialState({ revokedAt, expiresAt }: Credential, nowMs: number): KeyState {
  if (revokedAt !== null) return "REVOKED";
  if (expiresAt === null) return "ACTIVE";
  const restMs = Date.parse(expiresAt) - nowMs;
  if (restMs <= 0) return "EXPIRED";
  return restMs < soonMs ? "EXPIRING" : "ACTIVE";
}

export const isUsableCredentialState = (state: KeyState): boolean =>
  state === "ACTIVE" || state === "EXPIRING";
