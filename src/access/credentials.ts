/**
 * Verifies the credentials of requests. Rows are cached for a moment, so that most requests need no
 * statement. Verdicts about time are never cached, and rows only while every notice arrives, so that a
 * changed credential is dropped when its notice comes.
 */
import { LRUCache } from "lru-cache";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { ServiceEvents } from "#foundation/events.ts";
import { findGrantState, type GrantState, type VerifyAccessToken } from "./oauth/access-tokens.ts";
import { checkApiKey, findApiKeyState, type ApiKeyState } from "./keys/verify-keys.ts";
import { parseInvalidationNotice, onCredentialsInvalidated } from "./credential-changes.ts";
import {
  checkInternalToken,
  findInternalTokenState,
  type InternalTokenState,
} from "./keys/internal-tokens.ts";
import type { ApiKeyViewer, TokenViewer } from "./viewer.ts";

export interface CredentialVerifier {
  apiKey(value: string): Promise<ApiKeyViewer>;
  internalToken(value: string): Promise<TokenViewer>;
  readonly accessToken: VerifyAccessToken;
}

export interface ClosableCredentialVerifier extends CredentialVerifier {
  readonly close: () => void;
}

export type FindGrantState = (grantId: string) => Promise<GrantState | undefined>;

export interface CredentialVerifierParts {
  readonly db: Database;
  readonly clock: Clock;
  /** Whether all notices up to a moment ago have been heard. */
  readonly isCurrent: () => boolean;
  readonly events: ServiceEvents;
  /** Makes what verifies access tokens, given what reads their grants. */
  readonly createVerifier: (findGrant: FindGrantState) => VerifyAccessToken;
}

export function createCredentialVerifier({
  db,
  clock,
  isCurrent,
  events,
  createVerifier,
}: CredentialVerifierParts): ClosableCredentialVerifier {
  const parts = { clock, isCurrent };
  const keys = createCredentialCache<ApiKeyState>({
    ...parts,
    ownersOf: ({ id, installationId, merchantId }) => [id, installationId, merchantId],
  });
  const tokens = createCredentialCache<InternalTokenState>({
    ...parts,
    ownersOf: ({ id, merchantId }) => [id, merchantId],
  });
  const grants = createCredentialCache<GrantState>({
    ...parts,
    ownersOf: ({ grantId, installationId, merchantId, clientId, staffId }) => [
      grantId,
      installationId,
      merchantId,
      clientId,
      staffId,
    ],
  });
  const caches = [keys, tokens, grants];
  const stop = onCredentialsInvalidated((ownerId) => {
    for (const cache of caches) cache.drop(ownerId);
  });
  events.on("noticeReceived", (text) => {
    const ownerId = parseInvalidationNotice(text);
    for (const cache of caches) {
      if (text === "") cache.clear();
      else if (ownerId !== undefined) cache.drop(ownerId);
    }
  });
  return {
    apiKey: (value) =>
      checkApiKey(value, clock.now(), ({ keyId, digest }) =>
        keys.find(digest, () => findApiKeyState(db, keyId, value)),
      ),
    internalToken: (value) =>
      checkInternalToken(value, clock.now(), ({ tokenId, digest }) =>
        tokens.find(digest, () => findInternalTokenState(db, tokenId, value)),
      ),
    accessToken: createVerifier((grantId) => grants.find(grantId, () => findGrantState(db, grantId))),
    close: stop,
  };
}

interface CacheParts<Row> {
  readonly clock: Clock;
  /** Whether all notices up to a moment ago have arrived; otherwise the cache is neither written nor read. */
  readonly isCurrent: () => boolean;
  /** The ids of all whose change changes the row: the credential, its installation, its merchant. */
  readonly ownersOf: (row: Row) => readonly (string | null)[];
}

export interface CredentialCache<Row> {
  /** What is kept under that name, or what the look-up finds. */
  readonly find: (name: string, lookUp: () => Promise<Row | undefined>) => Promise<Row | undefined>;
  /** Forgets what belongs to the owner. */
  readonly drop: (ownerId: string) => void;
  /** Forgets everything: something may have been missed. */
  readonly clear: () => void;
}

const rowsMax = 10_000;
const rowMsMax = 30_000;
const missingMsMax = 5_000;
/** A look-up that began longer ago may have read what was changed since. */
const sharedMsMax = 250;

interface LookUp<Row> {
  readonly begunAtMs: number;
  readonly row: Promise<Row | undefined>;
}

export function createCredentialCache<Row extends object>({
  clock,
  isCurrent,
  ownersOf,
}: CacheParts<Row>): CredentialCache<Row> {
  const time = { perf: { now: () => clock.now().getTime() }, ttlResolution: 0 };
  const rows = new LRUCache<string, Row>({ ...time, max: rowsMax, ttl: rowMsMax });
  // Unknown names have a cache of their own, so that requests with invented keys never evict the rows of real
  // ones.
  const missing = new LRUCache<string, true>({ ...time, max: rowsMax, ttl: missingMsMax });
  const underWay = new Map<string, LookUp<Row>>();
  /** Rises with every notice: what was asked for before it is not kept after it. */
  let generation = 0;

  const keep = (name: string, row: Row | undefined): void => {
    if (row === undefined) missing.set(name, true);
    else rows.set(name, row);
  };
  const begin = (name: string, lookUp: () => Promise<Row | undefined>): Promise<Row | undefined> => {
    const begunIn = generation;
    const found = lookUp().then((row) => {
      if (generation === begunIn && isCurrent()) keep(name, row);
      return row;
    });
    const begun = { begunAtMs: performance.now(), row: found };
    underWay.set(name, begun);
    const end = (): void => {
      if (underWay.get(name) === begun) underWay.delete(name);
    };
    found.then(end, end);
    return found;
  };
  const forget = (): void => {
    generation += 1;
    underWay.clear();
  };

  return {
    find: (name, lookUp) => {
      if (isCurrent()) {
        const row = rows.get(name);
        if (row !== undefined || missing.has(name)) return Promise.resolve(row);
      }
      const shared = underWay.get(name);
      return shared !== undefined && performance.now() - shared.begunAtMs <= sharedMsMax
        ? shared.row
        : begin(name, lookUp);
    },
    drop: (ownerId) => {
      forget();
      for (const [name, row] of rows.entries()) if (ownersOf(row).includes(ownerId)) rows.delete(name);
    },
    clear: () => {
      forget();
      rows.clear();
      missing.clear();
    },
  };
}
