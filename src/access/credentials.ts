/**
 * Verifies the credentials of requests. The database rows of credentials are cached for up to 30 seconds, so
 * that most requests need no SQL statement to verify their credential. The expiry of a credential is checked
 * on every request. If a credential changes, a database notice (NOTIFY) makes every process remove it from
 * its cache. While a process cannot be sure that it receives these notices, it does not use its cache.
 */
import { LRUCache } from "lru-cache";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { limitGrowingCache } from "#foundation/growing-cache.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import {
  findOauthGrantVerificationData,
  type OauthGrantVerificationData,
  type AccessTokenVerifier,
} from "./oauth/access-tokens.ts";
import {
  authenticateApiKey,
  findApiKeyVerificationData,
  type ApiKeyVerificationData,
} from "./keys/verify-keys.ts";
import { buyerSessionPrefix, authenticateBuyerSession } from "./buyer-sessions.ts";
import {
  parseCredentialInvalidationNotice,
  addCredentialInvalidationListener,
} from "./credential-changes.ts";
import {
  authenticateInternalToken,
  findInternalTokenVerificationData,
  findInternalTokenVerificationDataById,
  findPublishableTokenAllowedForOrigin,
  type InternalTokenVerificationData,
} from "./keys/internal-tokens.ts";
import type { ApiKeyViewer, InternalTokenViewer } from "./viewer.ts";

export interface CredentialVerifier {
  apiKey(value: string): Promise<ApiKeyViewer>;
  /** Verifies an internal token or the token of a buyer session. */
  internalToken(value: string): Promise<InternalTokenViewer>;
  /**
   * Returns whether a valid publishable token (an internal token for use in web pages) is allowed for this
   * web origin.
   */
  isBrowserOrigin(origin: string): Promise<boolean>;
  readonly accessToken: AccessTokenVerifier;
}

export interface ClosableCredentialVerifier extends CredentialVerifier {
  readonly close: () => void;
}

export type OauthGrantVerificationDataFinder = (
  grantId: string,
) => Promise<OauthGrantVerificationData | undefined>;

export interface CredentialVerifierOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: EncryptionKeyring;
  /**
   * Returns whether cached credentials can be used: this process has received all recent notices (NOTIFY) of
   * changed credentials.
   */
  readonly isCurrent: () => boolean;
  readonly events: InProcessEventEmitter;
  /** Creates the verifier of access tokens. The verifier reads grants with the given function. */
  readonly createVerifier: (findGrant: OauthGrantVerificationDataFinder) => AccessTokenVerifier;
}

export function createCredentialVerifier({
  db,
  clock,
  keyring,
  isCurrent,
  events,
  createVerifier,
}: CredentialVerifierOptions): ClosableCredentialVerifier {
  const parts = { clock, isCurrent };
  const keys = createCredentialCache<ApiKeyVerificationData>({
    ...parts,
    ownersOf: ({ id, installationId, merchantId }) => [id, installationId, merchantId],
  });
  const tokens = createCredentialCache<InternalTokenVerificationData>({
    ...parts,
    ownersOf: ({ id, merchantId }) => [id, merchantId],
  });
  /**
   * The cache of the internal tokens that created buyer sessions. The key of a cache entry is the id of the
   * internal token.
   */
  const sessionTokens = createCredentialCache<InternalTokenVerificationData>({
    ...parts,
    ownersOf: ({ id, merchantId }) => [id, merchantId],
  });
  const origins = createCredentialCache<Pick<InternalTokenVerificationData, "id" | "merchantId">>({
    ...parts,
    ownersOf: ({ id, merchantId }) => [id, merchantId],
  });
  const grants = createCredentialCache<OauthGrantVerificationData>({
    ...parts,
    ownersOf: ({ grantId, installationId, merchantId, clientId, staffId }) => [
      grantId,
      installationId,
      merchantId,
      clientId,
      staffId,
    ],
  });
  const caches = [keys, tokens, sessionTokens, origins, grants];
  const stop = addCredentialInvalidationListener((ownerId) => {
    for (const cache of caches) cache.invalidate(ownerId);
  });
  events.on("noticeReceived", (text) => {
    const ownerId = parseCredentialInvalidationNotice(text);
    for (const cache of caches) {
      if (text === "") cache.clear();
      else if (ownerId !== undefined) cache.invalidate(ownerId);
    }
  });
  return {
    apiKey: (value) =>
      authenticateApiKey(value, clock.now(), ({ keyId, digest }) =>
        keys.find(digest, () => findApiKeyVerificationData(db, keyId, value)),
      ),
    internalToken: (value) =>
      value.startsWith(buyerSessionPrefix)
        ? authenticateBuyerSession(value, { keyring, now: clock.now() }, (tokenId) =>
            sessionTokens.find(tokenId, () => findInternalTokenVerificationDataById(db, tokenId)),
          )
        : authenticateInternalToken(value, clock.now(), ({ tokenId, digest }) =>
            tokens.find(digest, () => findInternalTokenVerificationData(db, tokenId, value)),
          ),
    isBrowserOrigin: async (origin) =>
      (await origins.find(origin, () => findPublishableTokenAllowedForOrigin(db, origin, clock.now()))) !==
      undefined,
    accessToken: createVerifier((grantId) =>
      grants.find(grantId, () => findOauthGrantVerificationData(db, grantId)),
    ),
    close: stop,
  };
}

interface CacheParts<Row> {
  readonly clock: Clock;
  /**
   * Returns whether this process has received all recent notices of changed rows (NOTIFY). If not, the cache
   * is neither read nor written.
   */
  readonly isCurrent: () => boolean;
  /**
   * Returns the ids of the records on which a cached row depends, for example the credential itself, its
   * installation and its merchant. If one of these records changes, the row is removed from the cache.
   */
  readonly ownersOf: (row: Row) => readonly (string | null)[];
  /**
   * Limits the total size of the cached rows. Given only for caches whose rows differ much in size; all other
   * caches are limited by the number of rows alone.
   */
  readonly sizes?: { readonly max: number; readonly sizeOf: (row: Row) => number };
}

export interface CredentialCache<Row> {
  /**
   * Returns the database row that is cached under this name. If there is none, calls `lookUp` and caches the
   * row.
   */
  readonly find: (name: string, lookUp: () => Promise<Row | undefined>) => Promise<Row | undefined>;
  /** Removes all rows that depend on the given record from the cache (see `ownersOf`). */
  readonly invalidate: (ownerId: string) => void;
  /**
   * Empties this cache of database rows. Called when the process may have missed notices of changed rows
   * (NOTIFY).
   */
  readonly clear: () => void;
}

/**
 * Maximum number of cached database rows. A second cache, which remembers the names without a row, has the
 * same maximum.
 */
const rowsMax = 10_000;
/** Milliseconds for which a database row stays in the cache. */
const rowMsMax = 30_000;
/** Milliseconds for which the cache remembers that no database row exists for a name. */
const missingMsMax = 5_000;
/**
 * Milliseconds for which a running look-up may be shared. Requests for the same row wait for its result if it
 * began at most this long ago. Otherwise they start a new look-up, because the row may have changed since.
 */
const sharedMsMax = 250;

interface LookUp<Row> {
  readonly startedAtMs: number;
  readonly row: Promise<Row | undefined>;
}

export function createCredentialCache<Row extends object>({
  clock,
  isCurrent,
  ownersOf,
  sizes,
}: CacheParts<Row>): CredentialCache<Row> {
  const time = { perf: { now: () => clock.now().getTime() }, ttlResolution: 0 };
  const rows = new LRUCache<string, Row>({
    ...time,
    ttl: rowMsMax,
    ...(sizes === undefined
      ? limitGrowingCache(rowsMax)
      : { max: rowsMax, maxSize: sizes.max, sizeCalculation: sizes.sizeOf }),
  });
  // Names without a database row have a separate cache, so requests with invented keys never evict the rows
  // of real keys.
  const missing = new LRUCache<string, true>({ ...time, ...limitGrowingCache(rowsMax), ttl: missingMsMax });
  const running = new Map<string, LookUp<Row>>();
  /**
   * A number that increases with every notice of a changed row. The result of a look-up is cached only if no
   * notice has arrived since the look-up began.
   */
  let generation = 0;

  const store = (name: string, row: Row | undefined): void => {
    if (row === undefined) missing.set(name, true);
    else rows.set(name, row);
  };
  const start = (name: string, lookUp: () => Promise<Row | undefined>): Promise<Row | undefined> => {
    const startedIn = generation;
    const found = lookUp().then((row) => {
      if (generation === startedIn && isCurrent()) store(name, row);
      return row;
    });
    const started = { startedAtMs: performance.now(), row: found };
    running.set(name, started);
    const end = (): void => {
      if (running.get(name) === started) running.delete(name);
    };
    found.then(end, end);
    return found;
  };
  const discardLookUps = (): void => {
    generation += 1;
    running.clear();
  };

  return {
    find: (name, lookUp) => {
      if (isCurrent()) {
        const row = rows.get(name);
        if (row !== undefined || missing.has(name)) return Promise.resolve(row);
      }
      const shared = running.get(name);
      return shared !== undefined && performance.now() - shared.startedAtMs <= sharedMsMax
        ? shared.row
        : start(name, lookUp);
    },
    invalidate: (ownerId) => {
      discardLookUps();
      for (const [name, row] of rows.entries()) if (ownersOf(row).includes(ownerId)) rows.delete(name);
    },
    clear: () => {
      discardLookUps();
      rows.clear();
      missing.clear();
    },
  };
}
