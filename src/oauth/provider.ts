/**
 * The authorization server: oidc-provider, with everything off that is not OAuth as the contract has it.
 * Codes with PKCE (S256), tokens bound to a key of the client (DPoP), refresh tokens that rotate. It goes
 * nowhere else to find something out, and all its addresses are made of PUBLIC_URL.
 */
import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Configuration, ErrorOut, interactionPolicy, KoaContextWithOIDC, Provider } from "oidc-provider";
import { findActiveStaff } from "#access/people/staff.ts";
import {
  accessTokenLifetimeSeconds,
  accessTokenAudience,
  clientAuthMethods,
  oauthPaths,
} from "#access/authorization.ts";
import { isScope, integratorScopes } from "#access/viewer.ts";
import type { PrivateJwk } from "#access/oauth/signing-keys.ts";
import { grantDays } from "#access/oauth/grants.ts";
import { pageHeaders, renderPage } from "#pages/shared/page.ts";
import { createAdapters } from "./adapter.ts";
import { loadOidcProvider, type OidcProviderModule } from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";
import { findSignedInStaff, oauthMessagePage } from "./pages.ts";

export interface ProviderRefusal {
  readonly request: IncomingMessage;
  /** RFC 6749's word for it. */
  readonly code: string;
  /** What was thrown, where the fault is ours. */
  readonly fault: unknown;
}

export interface ProviderHooks {
  readonly onRefused: (refused: ProviderRefusal) => void;
}

/**
 * One provider for as long as the signing keys stay what they are: it takes them once, and all else it knows
 * lies in the database.
 */
export function createProviderSource(services: OauthServices, hooks: ProviderHooks): () => Promise<Provider> {
  let held: { readonly keyIds: string; readonly provider: Provider } | undefined;
  return async () => {
    const [library, keys] = await Promise.all([loadOidcProvider(), services.signingKeys.signing()]);
    if (keys.length === 0) throw new Error("There is no key to sign tokens with.");
    const keyIds = keys.map(({ kid }) => kid).join(" ");
    if (held?.keyIds !== keyIds)
      held = { keyIds, provider: createProvider(library, { services, keys, hooks }) };
    return held.provider;
  };
}

interface ProviderParts {
  readonly services: OauthServices;
  readonly keys: readonly PrivateJwk[];
  readonly hooks: ProviderHooks;
}

function createProvider(library: OidcProviderModule, { services, keys, hooks }: ProviderParts): Provider {
  const provider = new (withoutForms(library))(
    services.publicUrl,
    configurationOf(library, { services, keys }),
  );
  const { protocol, host } = new URL(services.publicUrl);
  // Addresses, cookies and what a proof is for follow PUBLIC_URL: neither Host nor a proxy's headers are
  // believed.
  Object.defineProperties(provider.request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
  });
  provider.use(async (context, next) => {
    if (isResumed(context.path)) await forgetOtherPerson(provider, context);
    await next();
    if (context.status === 503) context.set("retry-after", "2");
  });
  const tell = (
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
    "server_error",
  ])
    events.on(event, tell);
  // Koa's own: what is thrown beside all of these.
  events.on("error", (error: Error, context?: KoaContextWithOIDC) => {
    if (context !== undefined) tell(context, error);
  });
  return provider;
}

/** Answers go back in the address alone: the page that posts them needs a script. */
function withoutForms({ Provider: Base }: OidcProviderModule): typeof Provider {
  return class extends Base {
    override registerResponseMode(...[name, handler]: Parameters<Provider["registerResponseMode"]>): void {
      if (name !== "form_post") super.registerResponseMode(name, handler);
    }
  };
}

const minute = 60;
const day = 86_400;
/** Unused for so long, a refresh token is over; each use gives a new one, until the grant ends. */
const refreshTokenDays = 30;

function configurationOf(
  library: OidcProviderModule,
  { services, keys }: Omit<ProviderParts, "hooks">,
): Configuration {
  const { publicUrl, keyring } = services;
  const basePath = new URL(publicUrl).pathname.replace(/\/$/, "");
  const cookie = { httpOnly: true, sameSite: "lax", signed: true } as const;
  return {
    adapter: createAdapters(services, library),
    jwks: { keys },
    clientDefaults: { id_token_signed_response_alg: "ES256", token_endpoint_auth_method: "none" },
    clientAuthMethods,
    clientBasedCORS: (_context, origin, client) => isOriginOf(client.redirectUris ?? [], origin),
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
    extraParams: { state: checkParameters(library), scope: requireScopes(library) },
    issueRefreshToken: () => Promise.resolve(true),
    rotateRefreshToken: true,
    expiresWithSession: () => Promise.resolve(false),
    extraTokenClaims: (_context, token) =>
      Promise.resolve("grantId" in token ? { grant_id: token.grantId } : {}),
    // The one that was given just now: nobody is taken at an earlier word.
    loadExistingGrant: ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? Promise.resolve(undefined) : oidc.provider.Grant.find(grantId);
    },
    findAccount: async ({ oidc: { session } }, id) => {
      // What a person granted outlasts that person's sessions.
      const staff = await (session === undefined
        ? findActiveStaff(services.db, id)
        : findSignedInStaff(services.db, { accountId: id, acr: session.acr }));
      return staff === undefined
        ? undefined
        : { accountId: staff.staffId, claims: () => ({ sub: staff.staffId }) };
    },
    interactions: {
      policy: createPrompts(library),
      url: (_context, { uid }) => `${publicUrl}/oauth/interaction/${uid}`,
    },
    renderError: showRefusal,
    ttl: {
      AccessToken: accessTokenLifetimeSeconds,
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
    },
    enabledJWA: { clientAuthSigningAlgValues: proofAlgorithms, dPoPSigningAlgValues: proofAlgorithms },
    features: featuresOf(library, services, keys),
    fetch: () => Promise.reject(new Error("The authorization server asks nobody.")),
  };
}

/** EdDSA under its new name too (RFC 9864): libraries write it, and it is the same signature. */
const proofAlgorithms = ["ES256", "EdDSA", "Ed25519"] as const;

function featuresOf(
  { errors }: OidcProviderModule,
  { publicUrl }: OauthServices,
  keys: readonly PrivateJwk[],
): NonNullable<Configuration["features"]> {
  const audience = accessTokenAudience(publicUrl);
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
      defaultResource: () => Promise.resolve(audience),
      useGrantedResource: () => Promise.resolve(true),
      getResourceServerInfo: (_context, resource) => {
        if (resource !== audience) throw new errors.InvalidTarget();
        const kid = keys.find(({ alg }) => alg === "ES256")?.kid;
        return {
          audience,
          scope: integratorScopes.join(" "),
          accessTokenFormat: "jwt",
          accessTokenTTL: accessTokenLifetimeSeconds,
          jwt: { sign: { alg: "ES256", kid } },
        };
      },
    },
  };
}

type CheckParameter = (context: KoaContextWithOIDC, value: string | undefined) => void;

/**
 * All that is kept of a request, however free a client is in what it says there: 2 kB of each parameter at
 * most.
 */
const parameterLengthMax = 2048;

const checkParameters =
  ({ errors }: OidcProviderModule): CheckParameter =>
  ({ oidc }, state) => {
    for (const [name, value] of Object.entries(oidc.params ?? {})) {
      const length = [value].flat().join(" ").length;
      if (length > parameterLengthMax)
        throw new errors.InvalidRequest(
          `parameter '${name}' is longer than ${parameterLengthMax} characters`,
        );
    }
    if (state === undefined || state === "")
      throw new errors.InvalidRequest("missing required parameter 'state'");
  };

/**
 * An app's own scheme has no origin, which is written as `null`: so does every page in a sandbox write
 * itself.
 */
const isOriginOf = (uris: readonly string[], origin: string): boolean =>
  origin !== "null" && uris.some((uri) => URL.parse(uri)?.origin === origin);

/**
 * Left out, all are asked for: the person who consents says which are given. `offline_access` is what every
 * client has.
 */
const requireScopes =
  ({ errors }: OidcProviderModule): CheckParameter =>
  ({ oidc }, value) => {
    const asked = value?.split(" ").filter((scope) => scope !== "offline_access") ?? [];
    const unknown = asked.filter((scope) => !isScope(scope));
    if (unknown.length > 0) throw new errors.InvalidScope("the scope is not known", unknown.join(" "));
    Object.assign(oidc.params ?? {}, { scope: (asked.length > 0 ? asked : integratorScopes).join(" ") });
  };

/**
 * When a person is asked: to sign in where nobody is who may, and to consent each time, so that every grant
 * was given by somebody who looked.
 */
function createPrompts({
  interactionPolicy: { Check, Prompt },
}: OidcProviderModule): interactionPolicy.Prompt[] {
  return [
    new Prompt(
      { name: "login", requestable: true },
      // An account that was disabled is not found any more, whatever its session says.
      new Check(
        "no_account",
        "sign-in is required",
        "login_required",
        ({ oidc }) => oidc.account === undefined,
      ),
    ),
    new Prompt(
      { name: "consent", requestable: true },
      new Check(
        "no_consent",
        "consent is required",
        "consent_required",
        ({ oidc }) => oidc.result?.consent?.grantId === undefined,
      ),
    ),
  ];
}

/** Routes that a browser opens; other routes are called by programs. */
const pages = new Set(["authorization", "resume"]);

/**
 * Answers a refusal that cannot be sent back to the app: with a page in a browser, with the JSON of RFC 6749
 * for a program.
 */
function showRefusal(context: KoaContextWithOIDC, out: ErrorOut): void {
  if (!pages.has(context.oidc.route)) {
    context.type = "application/json";
    context.body = JSON.stringify(out);
    return;
  }
  context.set(pageHeaders({}));
  context.body = renderPage(oauthMessagePage("This did not work", sentenceOf(context, out)));
}

function sentenceOf(
  { oidc, status }: KoaContextWithOIDC,
  { error, error_description: description }: ErrorOut,
): string {
  if (status >= 500) return "Something went wrong on our side. Go back to the app and try again.";
  if (oidc.route === "resume") return "This sign-in has ended. Go back to the app and start again.";
  return `The app sent a request that can’t be answered (${error}${description === undefined ? "" : `: ${description}`}). Tell whoever makes the app.`;
}

/**
 * One browser, two people: who signed in in one tab is not who the browser's session is of by the time that
 * the answer goes on its way, because somebody else did in another. oidc-provider would then ask, on a page
 * of its own, whether to sign that one out; who typed a password last is who is meant.
 */
type Context = Parameters<Provider["Session"]["get"]>[0];

/** Where an answered interaction goes on. */
const isResumed = (path: string): boolean => path.startsWith(`${oauthPaths.authorization}/`);

/** Forgets the session that the cookie names, where it is of somebody else than the sign-in that is resumed. */
async function forgetOtherPerson(provider: Provider, context: Context): Promise<void> {
  const uid = context.cookies.get(provider.cookieName("resume"), { signed: true });
  const interaction = uid === undefined ? undefined : await provider.Interaction.find(uid);
  const accountId = interaction?.result?.login?.accountId;
  if (accountId === undefined) return;
  const session = await provider.Session.get(context);
  // An interaction that began in another session than this one is at its end, and this one stays.
  const beganIn = interaction?.session?.uid;
  if (beganIn !== undefined && beganIn !== session.uid) return;
  if (session.accountId !== undefined && session.accountId !== accountId) await session.destroy();
}
