/**
 * The rules of authorization requests: which parameters, scopes and origins are accepted, and when the user
 * is asked to sign in or to consent. Also the rule about the audience of client assertions.
 */
import type { Configuration, interactionPolicy, KoaContextWithOIDC } from "oidc-provider";
import { integratorScopes, isPermissionScope } from "#access/viewer.ts";
import type { OidcProviderModule } from "./interaction-request.ts";

type CheckParameter = (context: KoaContextWithOIDC, value: string | undefined) => void;

/**
 * Maximum number of characters of one parameter of an authorization request. Authorization requests are
 * stored, so their size is limited.
 */
const parameterLengthMax = 2048;

export const createOauthAuthorizationParameterCheck =
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
 * Returns whether one of the redirect URIs has the given origin. Never accepts the origin `null`: URIs with
 * private schemes have this origin, but browsers also send it for sandboxed pages of any site.
 */
export const isOriginOfAnyRedirectUri = (uris: readonly string[], origin: string): boolean =>
  origin !== "null" && uris.some((uri) => URL.parse(uri)?.origin === origin);

/**
 * Creates the check of the scopes that an app requests. Without the parameter `scope`, the app requests all
 * scopes and the staff member chooses. `offline_access` is ignored, because every client gets refresh
 * tokens.
 */
export const createRequestedScopeCheck =
  ({ errors }: OidcProviderModule): CheckParameter =>
  ({ oidc }, value) => {
    const requested = value?.split(" ").filter((scope) => scope !== "offline_access") ?? [];
    const unknown = requested.filter((scope) => !isPermissionScope(scope));
    if (unknown.length > 0) throw new errors.InvalidScope("the scope is not known", unknown.join(" "));
    Object.assign(oidc.params ?? {}, {
      scope: (requested.length > 0 ? requested : integratorScopes).join(" "),
    });
  };

/**
 * Creates the check of the client assertions with which clients authenticate (`private_key_jwt`). Their `aud`
 * must be the issuer as a single string (FAPI 2.0 Security Profile section 5.3.2.1). An assertion for the URL
 * of an endpoint, or for several servers, could come from a client that another server has misled.
 */
export const createClientAssertionAudienceCheck =
  ({ errors }: OidcProviderModule): NonNullable<Configuration["assertJwtClientAuthClaimsAndHeader"]> =>
  ({ oidc }, { aud }) => {
    if (aud === oidc.issuer) return;
    // oidc-provider describes every failed authentication with the same text; this rule names its claim.
    const reason = `'aud' of the client_assertion must be the string '${oidc.issuer}'`;
    throw Object.assign(new errors.InvalidClientAuth(reason), { error_description: reason });
  };

/**
 * Creates the prompts of the authorization endpoint. The user must sign in if no enabled account is signed
 * in, and must consent in every authorization request.
 */
export function createSignInAndConsentPrompts({
  interactionPolicy: { Check, Prompt },
}: OidcProviderModule): interactionPolicy.Prompt[] {
  return [
    new Prompt(
      { name: "login", requestable: true },
      // `oidc.account` is undefined if no staff account is signed in, or if the signed-in account is
      // disabled.
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
