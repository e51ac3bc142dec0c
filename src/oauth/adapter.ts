/**
 * The storage adapter of oidc-provider, the library of the authorization server. Grants and clients are rows
 * of their own tables, which other code changes too. All other records are stored encrypted in one table of
 * the authorization server. If a code or refresh token is used twice, the grant is revoked, because the code
 * or token has probably been stolen.
 */
import type { Adapter, AdapterPayload } from "oidc-provider";
import { revokeOauthGrants } from "#access/credential-changes.ts";
import { findOauthGrants } from "#access/oauth/grants.ts";
import { findOauthClient, type OauthClientWithApp } from "#access/oauth/oauth-clients.ts";
import {
  markOauthServerRecordConsumed,
  deleteOauthServerRecord,
  findOauthServerRecord,
  type ConsumeOauthServerRecordInput,
  type NewOauthServerRecord,
  saveOauthServerRecord,
  insertOauthServerRecordIfNew,
  type OauthServerRecord,
} from "#access/oauth/oauth-items.ts";
import { getAccessTokenAudience, protectedResources } from "#access/authorization.ts";
import {
  findOauthAgentClientRow,
  findMetadataUrlOfOauthClient,
  isClientIdMetadataUrl,
} from "#access/oauth/agent-clients.ts";
import { integratorScopes } from "#access/viewer.ts";
import { runInTransaction } from "#database/transaction.ts";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { toFailure } from "#foundation/failure.ts";
import type { OidcProviderModule } from "./interaction-request.ts";
import { registrationLifetimeMs, registrationMetadata } from "./agent-registration.ts";
import type { OauthServices } from "./oauth-services.ts";
import { isRefreshTokenRetryAllowed, refreshTokenKind } from "./refresh-rotation.ts";

type AdapterServices = Pick<
  OauthServices,
  "db" | "clock" | "keyring" | "publicUrl" | "limitGrant" | "onRevoked"
>;

export function createOidcStorageAdapterFactory(
  services: AdapterServices,
  library: OidcProviderModule,
): (kind: string) => Adapter {
  /**
   * If the database is unreachable, a call of the adapter fails with the OAuth error
   * `temporarily_unavailable`, which oidc-provider sends to the client.
   */
  const translated = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      const { code, status, message } = toServiceUnavailableIfTemporary(toFailure(error));
      throw code === "service_unavailable"
        ? Object.assign(new library.errors.TemporarilyUnavailable(message), { status, statusCode: status })
        : error;
    }
  };
  return (kind) => {
    const adapter =
      kind === "Grant"
        ? grantAdapter(services, library)
        : kind === "Client"
          ? clientAdapter(services, library)
          : itemAdapter(kind, services, library);
    return {
      upsert: (id, payload, expiresIn) => translated(adapter.upsert(id, payload, expiresIn)),
      find: (id) => translated(adapter.find(id)),
      findByUid: (uid) => translated(adapter.findByUid(uid)),
      findByUserCode: (code) => translated(adapter.findByUserCode(code)),
      consume: (id) => translated(adapter.consume(id)),
      destroy: (id) => translated(adapter.destroy(id)),
      revokeByGrantId: (grantId) => translated(adapter.revokeByGrantId(grantId)),
    };
  };
}

/** Rejects a call of a storage function that oidc-provider never calls for this kind of record. */
const rejectOperation = (): Promise<never> =>
  Promise.reject(new Error("The authorization server does not do this."));
const unsupported: Adapter = {
  upsert: rejectOperation,
  find: rejectOperation,
  findByUid: rejectOperation,
  findByUserCode: rejectOperation,
  consume: rejectOperation,
  destroy: rejectOperation,
  revokeByGrantId: rejectOperation,
};

/** The storage adapter for grants, which the consent page creates. oidc-provider only reads and revokes them. */
function grantAdapter(services: AdapterServices, library: OidcProviderModule): Adapter {
  const { db, clock, publicUrl } = services;
  return {
    ...unsupported,
    find: async (id) => {
      const [grant] = await findOauthGrants(db, [id]);
      if (grant === undefined || grant.revokedAt !== null || grant.expiresAt <= clock.now()) return undefined;
      const refused = integratorScopes.filter((scope) => !grant.scopes.includes(scope));
      return {
        kind: "Grant",
        jti: grant.id,
        accountId: grant.staffId,
        clientId: (await findMetadataUrlOfOauthClient(db, grant.clientId)) ?? grant.clientId,
        resources: toScopesByAudience(publicUrl, grant.scopes),
        rejected: { resources: toScopesByAudience(publicUrl, refused) },
        iat: seconds(grant.issuedAt),
        exp: seconds(grant.expiresAt),
      };
    },
    destroy: (id) => endGrant(services, library, id),
  };
}

/**
 * Returns the given scopes for every protected resource. The feature `resourceIndicators` of oidc-provider
 * decides for which of these resources a client gets tokens.
 */
const toScopesByAudience = (publicUrl: string, scopes: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    protectedResources.map((resource) => [getAccessTokenAudience(publicUrl, resource), scopes.join(" ")]),
  );

function endGrant(
  { db, clock, onRevoked }: AdapterServices,
  { Provider }: OidcProviderModule,
  grantId: string,
): Promise<void> {
  const now = clock.now();
  // The id of the HTTP request during which oidc-provider called this function.
  const requestId = Provider.ctx?.response.get("x-request-id") ?? null;
  const reason = Provider.ctx?.oidc.route === "revocation" ? "given_back" : "used_twice";
  return runInTransaction(db, async (transaction) => {
    const revoked = await revokeOauthGrants(transaction, { now }, { column: "id", value: grantId });
    for (const ended of revoked) await onRevoked(transaction, { ...ended, reason, now, requestId });
  });
}

/**
 * The storage adapter for OAuth clients. A client that registered itself is at first a record that expires.
 * Once a staff member grants it access, it is a row of the table of clients, like the clients that operators
 * created. A client whose id is a URL is not read here: oidc-provider fetches its metadata document.
 */
function clientAdapter(services: AdapterServices, library: OidcProviderModule): Adapter {
  const registrations = itemAdapter("Client", services, library);
  return {
    ...unsupported,
    upsert: (id, payload) => registrations.upsert(id, payload, registrationLifetimeMs / 1000),
    find: async (id) => {
      if (isClientIdMetadataUrl(id)) return undefined;
      const client = await findOauthClient(services.db, id);
      if (client !== undefined) return toMetadata(client);
      const row = await findOauthAgentClientRow(services.db, id);
      // A stored registration is used only if the client has no database row. A disabled client has a row;
      // its registration may still be stored, but must not be used.
      return row === undefined ? registrations.find(id) : undefined;
    },
  };
}

/**
 * Returns the client's metadata with the names of RFC 7591. A client with a redirect URI that is not https is
 * a native app (RFC 8252), so any port of a loopback address is accepted.
 */
function toMetadata({
  id,
  appName,
  authMethod,
  jwks,
  redirectUris,
  registration,
}: OauthClientWithApp): AdapterPayload {
  return {
    client_id: id,
    client_name: appName,
    application_type: redirectUris.some((uri) => !uri.startsWith("https://")) ? "native" : "web",
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    response_modes: ["query"],
    scope: integratorScopes.join(" "),
    token_endpoint_auth_method: authMethod,
    dpop_bound_access_tokens: registration === "operator",
    [registrationMetadata]: registration,
    ...(jwks === null ? {} : { jwks: jwks as NonNullable<AdapterPayload["jwks"]> }),
  };
}

const usedCodeMs = 600_000;
/**
 * The fields of a refresh token that stay stored after its use. If the token is used again, oidc-provider
 * recognizes the token and its grant by these fields.
 */
const remainingFields = [
  "kind",
  "jti",
  "iat",
  "exp",
  "clientId",
  "accountId",
  "grantId",
  "scope",
  "resource",
  "jkt",
  "expiresWithSession",
] as const;

/**
 * Functions that return which data of a record stays stored after its use, by the kind of the record. Only
 * kinds that can be used once are listed. A used authorization code is kept for ten more minutes, so that a
 * second use within this time revokes the grant. A used refresh token keeps only a few fields, because an app
 * uses one every ten minutes and whole records would need much space. These fields are enough to answer a
 * repeated request.
 */
const consumedRecordsByKind: Readonly<
  Record<string, (now: Date) => NonNullable<ConsumeOauthServerRecordInput["toConsumedRecord"]>>
> = {
  AuthorizationCode: (now) => (payload) => ({
    payload: { ...payload, exp: Number(payload["exp"]) + usedCodeMs / 1000 },
    expiresAt: new Date(now.getTime() + usedCodeMs),
  }),
  RefreshToken: () => (payload) => ({
    payload: Object.fromEntries(
      remainingFields.filter((field) => field in payload).map((field) => [field, payload[field]]),
    ),
  }),
};

function itemAdapter(kind: string, services: AdapterServices, library: OidcProviderModule): Adapter {
  const { InvalidGrant, InvalidRequestUri } = library.errors;
  const { db, keyring, clock } = services;
  const save =
    kind === "ReplayDetection"
      ? saveUsedOnce
      : kind === refreshTokenKind
        ? saveNewItem
        : saveOauthServerRecord;
  async function saveUsedOnce(store: AdapterServices, item: NewOauthServerRecord): Promise<void> {
    // A concurrent request may insert the same record after oidc-provider has checked that it does not exist.
    // Only the insert shows whether the record is new.
    if (!(await insertOauthServerRecordIfNew(store, item, clock.now())))
      throw new InvalidGrant("it was used before");
  }
  // A repeated request gets the same new refresh token as the first request, which has already stored the new
  // token. In this case, nothing is inserted.
  async function saveNewItem(store: AdapterServices, item: NewOauthServerRecord): Promise<void> {
    await insertOauthServerRecordIfNew(store, item, clock.now());
  }
  return {
    ...unsupported,
    upsert: (id, payload, expiresIn = 0) =>
      save(services, {
        kind,
        id,
        payload,
        grantId: payload.grantId ?? null,
        uid: payload.uid ?? null,
        expiresAt: new Date(clock.now().getTime() + expiresIn * 1000),
      }),
    find: async (id) => {
      const item = await findOauthServerRecord(services, { kind, by: "id", value: id, now: clock.now() });
      if (kind !== refreshTokenKind || item === undefined) return toPayload(item);
      if (item.grantId !== null) await limitRefreshes(item.grantId, services, library);
      return (await isRefreshTokenRetryAllowed(services, id, item.consumedAt))
        ? item.payload
        : toPayload(item);
    },
    findByUid: async (uid) =>
      toPayload(await findOauthServerRecord(services, { kind, by: "uid", value: uid, now: clock.now() })),
    consume: async (id) => {
      const now = clock.now();
      const { isFirstUse, grantId, consumedAt } = await markOauthServerRecordConsumed(
        { db, keyring },
        { kind, id, now, toConsumedRecord: consumedRecordsByKind[kind]?.(now) },
      );
      if (isFirstUse) return;
      if (kind === refreshTokenKind && (await isRefreshTokenRetryAllowed(services, id, consumedAt))) return;
      if (kind === "PushedAuthorizationRequest")
        throw new InvalidRequestUri("request_uri is invalid, expired, or was already used");
      // A record without a grant id belonged to a grant that has already been revoked, so there is no grant
      // to revoke here.
      if (grantId !== null) await endGrant(services, library, grantId);
      throw new InvalidGrant("it was used before");
    },
    destroy: (id) => deleteOauthServerRecord(db, { kind, id }),
    // The records of a revoked grant need not be deleted here, because revoking the grant has already deleted
    // them.
    revokeByGrantId: () => Promise.resolve(),
  };
}

/** Limits how often a grant's refresh tokens are used, because every use stores a row until the token expires. */
async function limitRefreshes(
  grantId: string,
  { limitGrant }: AdapterServices,
  { errors, Provider }: OidcProviderModule,
): Promise<void> {
  const secondsLeft = await limitGrant(grantId);
  if (secondsLeft === undefined) return;
  Provider.ctx?.set("retry-after", String(secondsLeft));
  const refusal = new errors.TemporarilyUnavailable(
    `the grant's tokens were renewed too often: try again in ${secondsLeft} s`,
  );
  throw Object.assign(refusal, { status: 429, statusCode: 429 });
}

const toPayload = (item: OauthServerRecord | undefined): AdapterPayload | undefined =>
  item === undefined
    ? undefined
    : { ...item.payload, ...(item.consumedAt === null ? {} : { consumed: seconds(item.consumedAt) }) };

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);
