/** How an API key stands. */
import type { ApiKey } from "./key-documents.ts";

export type KeyState = "ACTIVE" | "EXPIRING" | "EXPIRED" | "REVOKED";

const soonMs = 14 * 24 * 3600 * 1000;

export function stateOf({ revokedAt, expiresAt }: Pick<ApiKey, "revokedAt" | "expiresAt">, nowMs: number): KeyState {
  if (revokedAt !== null) return "REVOKED";
  if (expiresAt === null) return "ACTIVE";
  const restMs = Date.parse(expiresAt) - nowMs;
  if (restMs <= 0) return "EXPIRED";
  return restMs < soonMs ? "EXPIRING" : "ACTIVE";
}

export const isInForce = (state: KeyState): boolean => state === "ACTIVE" || state === "EXPIRING";
