/**
 * What oidc-provider keeps, on our tables. Grants and clients are rows of their own, which others change too;
 * the rest are sealed items. Of several who use one code or one refresh token up at once, one alone goes on,
 * and for the others the grant is over: somebody has it who should not.
 */
import type { Adapter, AdapterPayload } from "oidc-provider";
import { revokeGrants } from "#access/credential-changes.ts";
import { findGrants } from "#access/oauth/grants.ts";
import { findOauthClient, type OauthClientWithApp } from "#access/oauth/oauth-clients.ts";
import {
  consumeOauthItem,
  deleteOauthItem,
  findOauthItem,
  type ConsumeOauthItemInput,
  type OauthItemInput,
  saveOauthItem,
  saveOauthItemOnce,
  type OauthItem,
} from "#access/oauth/oauth-items.ts";
import { accessTokenAudience } from "#access/authorization.ts";
import { integratorScopes } from "#access/viewer.ts";
import { inTransaction } from "#database/transaction.ts";
import { orUnavailable } from "#database/database-errors.ts";
import { toFailure } from "#foundation/failure.ts";
import type { OidcProviderModule } from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";

type AdapterServices = Pick<
  OauthServices,
  "db" | "clock" | "keyring" | "publicUrl" | "limitGrant" | "onRevoked"
>;

export function createAdapters(
  services: AdapterServices,
  library: OidcProviderModule,
): (kind: string) => Adapter {
  /** A database that is away is told as what it is. */
  const translated = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      const { code, status, message } = orUnavailable(toFailure(error));
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
          ? clientAdapter(services)
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

/** What no kind of ours is asked for. */
const never = (): Promise<never> => Promise.reject(new Error("The authorization server does not do this."));
const nothing: Adapter = {
  upsert: never,
  find: never,
  findByUid: never,
  findByUserCode: never,
  consume: never,
  destroy: never,
  revokeByGrantId: never,
};

/** Written by the consent page; here it is read, and revoked for good. */
function grantAdapter(services: AdapterServices, library: OidcProviderModule): Adapter {
  const { db, clock, publicUrl } = services;
  return {
    ...nothing,
    find: async (id) => {
      const [grant] = await findGrants(db, [id]);
      if (grant === undefined || grant.revokedAt !== null || grant.expiresAt <= clock.now()) return undefined;
      const refused = integratorScopes.filter((scope) => !grant.scopes.includes(scope));
      const audience = accessTokenAudience(publicUrl);
      return {
        kind: "Grant",
        jti: grant.id,
        accountId: grant.staffId,
        clientId: grant.clientId,
        resources: { [audience]: grant.scopes.join(" ") },
        rejected: { resources: { [audience]: refused.join(" ") } },
        iat: seconds(grant.issuedAt),
        exp: seconds(grant.expiresAt),
      };
    },
    destroy: (id) => endGrant(services, library, id),
  };
}

function endGrant(
  { db, clock, onRevoked }: AdapterServices,
  { Provider }: OidcProviderModule,
  grantId: string,
): Promise<void> {
  const now = clock.now();
  // The request that this is part of.
  const requestId = Provider.ctx?.response.get("x-request-id") ?? null;
  const why = Provider.ctx?.oidc.route === "revocation" ? "given_back" : "used_twice";
  return inTransaction(db, async (transaction) => {
    const revoked = await revokeGrants(transaction, { now }, { column: "id", value: grantId });
    for (const ended of revoked) await onRevoked(transaction, { ...ended, why, now, requestId });
  });
}

function clientAdapter({ db }: AdapterServices): Adapter {
  return {
    ...nothing,
    find: async (id) => {
      const client = await findOauthClient(db, id);
      return client === undefined ? undefined : toMetadata(client);
    },
  };
}

/**
 * As RFC 7591 names it. Whoever may be sent back to an address of the machine itself is a native app (RFC
 * 8252), whatever port it got.
 */
function toMetadata({ id, appName, authMethod, jwks, redirectUris }: OauthClientWithApp): AdapterPayload {
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
    dpop_bound_access_tokens: true,
    ...(jwks === null ? {} : { jwks: jwks as NonNullable<AdapterPayload["jwks"]> }),
  };
}

const usedCodeMs = 600_000;
/** By which oidc-provider knows a used refresh token and whose it was. */
const remainingFields = [
  "kind",
  "jti",
  "iat",
  "exp",
  "clientId",
  "accountId",
  "grantId",
  "scope",
  "jkt",
  "expiresWithSession",
] as const;

/**
 * A used code is known for ten minutes more, so that the grant ends for whoever comes late with it too. Used
 * refresh tokens lie about by the thousand, one for each ten minutes of an app's: of them stays what tells
 * that they were used.
 */
const remainsOf: Readonly<
  Record<string, (now: Date) => NonNullable<ConsumeOauthItemInput["toConsumedRecord"]>>
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
  const keep = kind === "ReplayDetection" ? keepUsed : saveOauthItem;
  async function keepUsed(store: AdapterServices, item: OauthItemInput): Promise<void> {
    // Whoever looked beside others and found nothing learns it here.
    if (!(await saveOauthItemOnce(store, item, clock.now()))) throw new InvalidGrant("it was used before");
  }
  return {
    ...nothing,
    upsert: (id, payload, expiresIn = 0) =>
      keep(services, {
        kind,
        id,
        payload,
        grantId: payload.grantId ?? null,
        uid: payload.uid ?? null,
        expiresAt: new Date(clock.now().getTime() + expiresIn * 1000),
      }),
    find: async (id) => {
      const item = await findOauthItem(services, { kind, by: "id", value: id, now: clock.now() });
      if (kind === "RefreshToken" && item !== undefined && item.grantId !== null)
        await limitRefreshes(item.grantId, services, library);
      return toPayload(item);
    },
    findByUid: async (uid) =>
      toPayload(await findOauthItem(services, { kind, by: "uid", value: uid, now: clock.now() })),
    consume: async (id) => {
      const now = clock.now();
      const { isTaken, grantId } = await consumeOauthItem(
        { db, keyring },
        { kind, id, now, toConsumedRecord: remainsOf[kind]?.(now) },
      );
      if (isTaken) return;
      if (kind === "PushedAuthorizationRequest")
        throw new InvalidRequestUri("request_uri is invalid, expired, or was already used");
      // Gone where somebody has revoked the grant meanwhile.
      if (grantId !== null) await endGrant(services, library, grantId);
      throw new InvalidGrant("it was used before");
    },
    destroy: (id) => deleteOauthItem(db, { kind, id }),
    // A grant's end takes all of its own along.
    revokeByGrantId: () => Promise.resolve(),
  };
}

/** Each use keeps a row for as long as the token would have lived. */
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

const toPayload = (item: OauthItem | undefined): AdapterPayload | undefined =>
  item === undefined
    ? undefined
    : { ...item.payload, ...(item.consumedAt === null ? {} : { consumed: seconds(item.consumedAt) }) };

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);
