/**
 * The configuration of oidc-provider: authorization codes with PKCE (S256), DPoP-bound tokens, rotating
 * refresh tokens, and registration of agents, whose tokens for the MCP server need not be bound. All other
 * features are off. The server builds all URLs from PUBLIC_URL. The only requests that it sends to other
 * hosts fetch the metadata documents of agents.
 */
import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Configuration, ErrorOut, KoaContextWithOIDC, Provider } from "oidc-provider";
import { findActiveStaffAccount } from "#access/people/staff-sign-in.ts";
import {
  accessTokenLifetimeSeconds,
  getAccessTokenAudience,
  clientAuthMethods,
  mcpTokenLifetimeSeconds,
  oauthPaths,
} from "#access/authorization.ts";
import { integratorScopes } from "#access/viewer.ts";
import type { PrivateJwk } from "#access/oauth/signing-keys.ts";
import { grantDays } from "#access/oauth/grants.ts";
import { getPageHttpHeaders, renderHtmlPage } from "#pages/shared/page.ts";
import { createOidcStorageAdapterFactory } from "./adapter.ts";
import {
  type OauthAgentRegistrationOptions,
  configureOauthAgentRegistration,
  createOauthAgentMetadataRules,
  isAgentOauthClient,
} from "./agent-registration.ts";
import { loadOidcProviderModule, type OidcProviderModule } from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";
import { findSignedInStaff, renderOauthMessagePage } from "./pages.ts";
import { overrideRefreshTokenIdGeneration } from "./refresh-rotation.ts";
import {
  createClientAssertionAudienceCheck,
  createOauthAuthorizationParameterCheck,
  createSignInAndConsentPrompts,
  isOriginOfAnyRedirectUri,
  createRequestedScopeCheck,
} from "./request-rules.ts";

export interface RefusedOauthRequest {
  readonly request: IncomingMessage;
  /** The OAuth error code (RFC 6749), for example `invalid_request`. */
  readonly code: string;
  /**
   * The error of this server because of which the request was refused; null if the request itself was
   * invalid.
   */
  readonly fault: unknown;
}

export interface OauthProviderHooks extends Pick<OauthAgentRegistrationOptions, "mayFetchMetadata"> {
  readonly onRefused: (refused: RefusedOauthRequest) => void;
}

/**
 * Returns a function that returns the current provider. A new provider is created when the signing keys
 * change, because oidc-provider reads them only once. All other state is in the database.
 */
export function createCurrentOidcProviderGetter(
  services: OauthServices,
  hooks: OauthProviderHooks,
): () => Promise<Provider> {
  let current: { readonly keyIds: string; readonly provider: Provider } | undefined;
  return async () => {
    const [library, keys] = await Promise.all([loadOidcProviderModule(), services.signingKeys.signing()]);
    if (keys.length === 0)
      throw new Error("There is no signing key that can be decrypted with ENCRYPTION_KEYS.");
    const keyIds = keys.map(({ kid }) => kid).join(" ");
    if (current?.keyIds !== keyIds)
      current = { keyIds, provider: createProvider(library, { services, keys, hooks }) };
    return current.provider;
  };
}

interface ProviderParts {
  readonly services: OauthServices;
  readonly keys: readonly PrivateJwk[];
  readonly hooks: OauthProviderHooks;
}

function createProvider(library: OidcProviderModule, { services, keys, hooks }: ProviderParts): Provider {
  const provider = new (withoutFormPost(library))(
    services.publicUrl,
    createConfiguration(library, { services, keys, hooks }),
  );
  overrideRefreshTokenIdGeneration(provider, library, services);
  const { protocol, host } = new URL(services.publicUrl);
  // oidc-provider derives its URLs, cookies and DPoP checks from the protocol and host of PUBLIC_URL. The
  // Host header and proxy headers are ignored.
  Object.defineProperties(provider.request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
  });
  provider.use(async (context, next) => {
    if (isResumed(context.path)) await deleteSessionOfOtherAccount(provider, context);
    await next();
    if (context.status === 503) context.set("retry-after", "2");
  });
  const reportRefusal = (
    context: KoaContextWithOIDC,
    error: Error & { readonly error?: string; readonly expose?: boolean },
  ): void =>
    hooks.onRefused({
      request: context.req,
      code: error.error ?? "server_error",
      fault: error.expose === true ? null : error,
    });
  const events: EventEmitter = provider;
  for (const event of [
    "authorization.error",
    "grant.error",
    "revocation.error",
    "pushed_authorization_request.error",
    "registration_create.error",
    "server_error",
  ])
    events.on(event, reportRefusal);
  // oidc-provider (built on Koa) has no event of its own for some errors. Koa's event `error` reports these.
  events.on("error", (error: Error, context?: KoaContextWithOIDC) => {
    if (context !== undefined) reportRefusal(context, error);
  });
  return provider;
}

/**
 * Removes the response mode `form_post`, because its page needs a script. Answers are sent in the redirect
 * URL only.
 */
function withoutFormPost({ Provider: Base }: OidcProviderModule): typeof Provider {
  return class extends Base {
    override registerResponseMode(...[name, handler]: Parameters<Provider["registerResponseMode"]>): void {
      if (name !== "form_post") super.registerResponseMode(name, handler);
    }
  };
}

const minute = 60;
const day = 86_400;
/**
 * Days after which a refresh token expires if it is not used. Every use replaces the token by a new one,
 * until the grant ends.
 */
const refreshTokenDays = 30;

function createConfiguration(
  library: OidcProviderModule,
  { services, keys, hooks }: ProviderParts,
): Configuration {
  const { publicUrl, keyring } = services;
  const basePath = new URL(publicUrl).pathname.replace(/\/$/, "");
  const cookie = { httpOnly: true, sameSite: "lax", signed: true } as const;
  return {
    adapter: createOidcStorageAdapterFactory(services, library),
    jwks: { keys },
    clientDefaults: { id_token_signed_response_alg: "ES256", token_endpoint_auth_method: "none" },
    clientAuthMethods,
    assertJwtClientAuthClaimsAndHeader: createClientAssertionAudienceCheck(library),
    extraClientMetadata: createOauthAgentMetadataRules(library),
    clientBasedCORS: (_context, origin, client) =>
      isOriginOfAnyRedirectUri(client.redirectUris ?? [], origin),
    allowOmittingSingleRegisteredRedirectUri: false,
    cookies: {
      names: { session: "oauth_session", interaction: "oauth_interaction", resume: "oauth_resume" },
      long: { ...cookie, path: `${basePath}/oauth` },
      short: cookie,
      keys: [...keyring.derive("oauth cookies")],
    },
    scopes: integratorScopes,
    responseTypes: ["code"],
    pkce: { required: () => true },
    extraParams: {
      state: createOauthAuthorizationParameterCheck(library),
      scope: createRequestedScopeCheck(library),
    },
    issueRefreshToken: () => Promise.resolve(true),
    rotateRefreshToken: true,
    expiresWithSession: () => Promise.resolve(false),
    extraTokenClaims: (_context, token) =>
      Promise.resolve("grantId" in token ? { grant_id: token.grantId } : {}),
    ...createLookups(services),
    interactions: {
      policy: createSignInAndConsentPrompts(library),
      url: (_context, { uid }) => `${publicUrl}/oauth/interaction/${uid}`,
    },
    renderError: sendRefusal,
    ttl: {
      AccessToken: (_context, { resourceServer }) =>
        resourceServer?.accessTokenTTL ?? accessTokenLifetimeSeconds,
      AuthorizationCode: minute,
      Grant: grantDays * day,
      Interaction: 30 * minute,
      RefreshToken: refreshTokenDays * day,
      Session: 8 * 60 * minute,
    },
    routes: {
      authorization: oauthPaths.authorization,
      token: oauthPaths.token,
      revocation: oauthPaths.revocation,
      pushed_authorization_request: oauthPaths.pushedAuthorizationRequest,
      jwks: oauthPaths.jwks,
      registration: oauthPaths.registration,
    },
    enabledJWA: {
      clientAuthSigningAlgValues: signatureAlgorithms,
      dPoPSigningAlgValues: signatureAlgorithms,
    },
    features: {
      ...createFeatures(library, services, keys),
      ...configureOauthAgentRegistration({ services, mayFetchMetadata: hooks.mayFetchMetadata }),
    },
    fetch: (url, init) => services.fetchDocument(url instanceof Request ? url.url : url.toString(), init),
  };
}

/**
 * The functions with which oidc-provider finds the grant of an interaction, and the account of a session or
 * token.
 */
function createLookups({ db }: OauthServices): Pick<Configuration, "loadExistingGrant" | "findAccount"> {
  return {
    // Returns a grant only if the staff member has given it in this interaction. Earlier grants of the app
    // never replace the consent.
    loadExistingGrant: ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? Promise.resolve(undefined) : oidc.provider.Grant.find(grantId);
    },
    findAccount: async ({ oidc: { session } }, id) => {
      // A request to the token endpoint comes from the app and has no browser session; a grant lasts longer
      // than the browser session in which it was given. For such a request, only the staff account is
      // checked, which must be enabled.
      const staff = await (session === undefined
        ? findActiveStaffAccount(db, id)
        : findSignedInStaff(db, { accountId: id, acr: session.acr }));
      return staff === undefined
        ? undefined
        : { accountId: staff.staffId, claims: () => ({ sub: staff.staffId }) };
    },
  };
}

/**
 * Signature algorithms that the server accepts for DPoP proofs and for client authentication. `Ed25519` is
 * RFC 9864's name for EdDSA with the curve Ed25519.
 */
const signatureAlgorithms = ["ES256", "EdDSA", "Ed25519"] as const;

function createFeatures(
  { errors }: OidcProviderModule,
  { publicUrl }: OauthServices,
  keys: readonly PrivateJwk[],
): NonNullable<Configuration["features"]> {
  const audiences = {
    api: getAccessTokenAudience(publicUrl, "api"),
    mcp: getAccessTokenAudience(publicUrl, "mcp"),
  };
  const kid = keys.find(({ alg }) => alg === "ES256")?.kid;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    revocation: {
      enabled: true,
      allowedPolicy: (_context, client, token) => Promise.resolve(client.clientId === token.clientId),
    },
    pushedAuthorizationRequests: { enabled: true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_context, client) =>
        Promise.resolve(isAgentOauthClient(client) ? audiences.mcp : audiences.api),
      useGrantedResource: () => Promise.resolve(true),
      getResourceServerInfo: (_context, resource, client) => {
        // Agents get no tokens for the REST API, because their tokens are not bound to a key.
        const isAllowed =
          resource === audiences.mcp || (resource === audiences.api && !isAgentOauthClient(client));
        if (!isAllowed) throw new errors.InvalidTarget();
        return {
          audience: resource,
          scope: integratorScopes.join(" "),
          accessTokenFormat: "jwt",
          accessTokenTTL: resource === audiences.mcp ? mcpTokenLifetimeSeconds : accessTokenLifetimeSeconds,
          jwt: { sign: { alg: "ES256", kid } },
        };
      },
    },
  };
}

/** The names of the routes that a browser opens as pages. All other routes are called by programs. */
const pages = new Set(["authorization", "resume"]);

/**
 * Answers a refused request whose error cannot be sent back to the app by a redirect. A browser gets a page,
 * a program gets the JSON of RFC 6749.
 */
function sendRefusal(context: KoaContextWithOIDC, out: ErrorOut): void {
  if (!pages.has(context.oidc.route)) {
    context.type = "application/json";
    context.body = JSON.stringify(out);
    return;
  }
  context.set(getPageHttpHeaders({}));
  context.body = renderHtmlPage(
    renderOauthMessagePage("Your request could not be processed", refusalMessage(context, out)),
  );
}

function refusalMessage(
  { oidc, status }: KoaContextWithOIDC,
  { error, error_description: description }: ErrorOut,
): string {
  if (status >= 500) return "An internal error occurred. Go back to the app and try again.";
  if (oidc.route === "resume") return "This sign-in has ended. Go back to the app and start again.";
  const reason = description === undefined ? error : `${error}: ${description}`;
  return (
    `The app sent a request that can’t be processed (${reason}). ` +
    "Report this message to the publisher of the app."
  );
}

type Context = Parameters<Provider["Session"]["get"]>[0];

/**
 * Returns whether a path is the one to which the browser returns after it has answered a form of the
 * interaction (sign-in or consent).
 */
const isResumed = (path: string): boolean => path.startsWith(`${oauthPaths.authorization}/`);

/**
 * Deletes the browser's session of the authorization server if it belongs to another account than the one
 * that has just signed in. Otherwise, oidc-provider would ask on a page of its own whether to sign the other
 * staff member out.
 */
async function deleteSessionOfOtherAccount(provider: Provider, context: Context): Promise<void> {
  const uid = context.cookies.get(provider.cookieName("resume"), { signed: true });
  const interaction = uid === undefined ? undefined : await provider.Interaction.find(uid);
  const accountId = interaction?.result?.login?.accountId;
  if (accountId === undefined) return;
  const session = await provider.Session.get(context);
  // The browser's session is deleted only if the interaction began in this session. Otherwise, oidc-provider
  // will refuse the interaction later.
  const beganIn = interaction?.session?.uid;
  if (beganIn !== undefined && beganIn !== session.uid) return;
  if (session.accountId !== undefined && session.accountId !== accountId) await session.destroy();
}
