/** Verifies what callers show, with what the database says of it kept for a moment (credential-cache.ts). */
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { findGrantState, type GrantState, type VerifyAccessToken } from "#access/oauth/access-tokens.ts";
import { checkApiKey, findKey, type KeyRow } from "#access/keys/api-keys.ts";
import { createCredentialCache } from "./credential-cache.ts";
import { droppedOwner, onDropped } from "./credential-notices.ts";
import { checkInternalToken, findToken, type TokenRow } from "#access/keys/internal-tokens.ts";
import type { ApiKeyViewer, TokenViewer } from "./viewer.ts";

export interface Credentials {
  apiKey(value: string): Promise<ApiKeyViewer>;
  internalToken(value: string): Promise<TokenViewer>;
  readonly accessToken: VerifyAccessToken;
}

export interface CredentialDesk extends Credentials {
  /** A notice of another process; an empty one says that some may have been missed. */
  readonly hear: (payload: string) => void;
  readonly close: () => void;
}

export type FindGrant = (grantId: string) => Promise<GrantState | undefined>;

export interface DeskParts {
  readonly db: Database;
  readonly clock: Clock;
  /** Whether all notices up to a moment ago have been heard. */
  readonly isCurrent: () => boolean;
  /** Makes what verifies access tokens, given what reads their grants. */
  readonly createVerifier: (findGrant: FindGrant) => VerifyAccessToken;
}

export function createCredentials({ db, clock, isCurrent, createVerifier }: DeskParts): CredentialDesk {
  const parts = { clock, isCurrent };
  const keys = createCredentialCache<KeyRow>({ ...parts, ownersOf: ({ id, installationId, merchantId }) => [id, installationId, merchantId] });
  const tokens = createCredentialCache<TokenRow>({ ...parts, ownersOf: ({ id, merchantId }) => [id, merchantId] });
  const grants = createCredentialCache<GrantState>({
    ...parts,
    ownersOf: ({ grantId, installationId, merchantId, clientId, staffId }) => [grantId, installationId, merchantId, clientId, staffId],
  });
  const caches = [keys, tokens, grants];
  const stop = onDropped((ownerId) => {
    for (const cache of caches) cache.drop(ownerId);
  });
  return {
    apiKey: (value) => checkApiKey(value, clock.now(), ({ keyId, digest }) => keys.find(digest, () => findKey(db, keyId, value))),
    internalToken: (value) =>
      checkInternalToken(value, clock.now(), ({ tokenId, digest }) => tokens.find(digest, () => findToken(db, tokenId, value))),
    accessToken: createVerifier((grantId) => grants.find(grantId, () => findGrantState(db, grantId))),
    hear: (payload) => {
      const ownerId = droppedOwner(payload);
      for (const cache of caches) {
        if (payload === "") cache.clear();
        else if (ownerId !== undefined) cache.drop(ownerId);
      }
    },
    close: stop,
  };
}
