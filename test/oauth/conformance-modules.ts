/**
 * The server modules of two test plans of the OpenID Foundation's conformance suite (release of August 2026):
 * the FAPI 2.0 Security Profile Final with its baseline variant (unsigned requests, plain responses), and
 * OpenID Connect (the modules of the plans for basic, implicit, hybrid, dynamic and config). The list has
 * facts of the suite, not its code. conformance.test.ts runs each module, or this list says why the module
 * does not apply. `npm run soak -- --only conformance` counts the results.
 */
export interface ConformanceModule {
  /** The module's name in the suite, without the plan's prefix. */
  readonly name: string;
  /** What the module demands of the server. */
  readonly expected: string;
  /** Why the module cannot be run against this server; undefined for modules that are run. */
  readonly doesNotApply?: string;
  /** Why the server deliberately answers otherwise; the module's check then expects that answer. */
  readonly departs?: string;
}

export interface ConformancePlan {
  readonly title: string;
  readonly prefix: string;
  readonly modules: readonly ConformanceModule[];
}

type Module = readonly [name: string, expected: string];

const depart = (departs: string, modules: readonly Module[]): ConformanceModule[] =>
  modules.map(([name, expected]) => ({ name, expected, departs }));

const run = (modules: readonly Module[]): ConformanceModule[] =>
  modules.map(([name, expected]) => ({ name, expected }));

const skip = (doesNotApply: string, modules: readonly Module[]): ConformanceModule[] =>
  modules.map(([name, expected]) => ({ name, expected, doesNotApply }));

const noIdTokens =
  "The server issues no ID tokens and has no scope openid, so this part of the plan is absent.";
const ofCountry = "The module belongs to the profile of a country.";

const fapiModules: readonly ConformanceModule[] = [
  ...run([
    [
      "discovery-end-point-verification",
      "The metadata names the endpoints, methods and permitted algorithms.",
    ],
    ["happy-flow", "Two clients get tokens, each bound to the client's key."],
    ["user-rejects-authentication", "The browser returns with access_denied, state and iss."],
    ["ensure-other-scope-order-succeeds", "The order of the scopes does not matter."],
    ["access-token-type-header-case-sensitivity", "The scheme DPoP is accepted in upper and lower case."],
    ["check-dpop-proof-nbf-exp", "A proof may have nbf and exp."],
    ["ensure-dpopproof-with-iat-10seconds-before-succeeds", "A proof that is 10 seconds old is accepted."],
    ["ensure-dpopproof-with-iat-10seconds-after-succeeds", "A proof 10 seconds in the future is accepted."],
    ["ensure-mismatched-dpop-jkt-fails", "PAR: invalid_request or invalid_dpop_proof."],
    [
      "ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt",
      "Token: invalid_request, invalid_grant or invalid_dpop_proof.",
    ],
    [
      "ensure-token-endpoint-fails-with-mismatched-dpop-jkt",
      "Token: invalid_request, invalid_grant or invalid_dpop_proof.",
    ],
    ["ensure-dpopproof-at-par-endpoint-binding-success", "The code is bound to the key of PAR's proof."],
    ["ensure-dpop-auth-code-binding-success", "The code is bound to dpop_jkt."],
    [
      "ensure-different-state-inside-and-outside-request-object",
      "The pushed state is returned, or the request is refused with invalid_request.",
    ],
    ["ensure-authorization-request-with-long-state", "A state of 1000 characters is returned unchanged."],
    [
      "state-only-outside-request-object-not-used",
      "A state beside a pushed request is not used; invalid_request is also allowed.",
    ],
    ["ensure-request-object-without-redirect-uri-fails", "PAR: invalid_request."],
    [
      "plain-fapi-tolerate-unregistered-redirect-uri",
      "PAR accepts the address (RFC 9126 section 2.4), or refuses it with invalid_request.",
    ],
    [
      "ensure-redirect-uri-in-authorization-request",
      "PAR: invalid_request, or the registered address is used.",
    ],
    [
      "ensure-response-type-code-idtoken-fails",
      "PAR: unsupported_response_type, invalid_request or unauthorized_client.",
    ],
    [
      "ensure-response-type-token-fails",
      "PAR: unsupported_response_type, invalid_request or unauthorized_client.",
    ],
    ["ensure-client-id-in-token-endpoint", "Token: invalid_client or invalid_grant for another client's id."],
    ["ensure-holder-of-key-required", "Token: no token without a proof."],
    ["ensure-authorization-code-is-bound-to-client", "Token: invalid_grant for another client."],
    [
      "attempt-reuse-authorization-code-after-one-second",
      "Token: invalid_grant; the access token of the first use ends.",
    ],
    ["ensure-token-endpoint-fails-with-expired-auth-code", "Token: invalid_grant after 60 seconds."],
    ["ensure-signed-client-assertion-with-RS256-fails", "Token: invalid_client."],
    ["ensure-client-assertion-in-token-endpoint", "Token: invalid_client or invalid_request."],
    [
      "ensure-client-assertion-with-exp-is-5-minutes-in-past-fails",
      "Token: invalid_client or invalid_request.",
    ],
    ["ensure-client-assertion-with-wrong-aud-fails", "Token: invalid_client or invalid_request."],
    ["ensure-client-assertion-with-no-sub-fails", "Token: invalid_client or invalid_request."],
    [
      "dpop-negative-tests",
      "The resource refuses 23 kinds of wrong proofs and accepts 6 kinds of right ones.",
    ],
    [
      "refresh-token",
      "Works with another key of the authenticated client, and once more after 30 seconds; is refused without " +
        "authentication, without a proof and for another client.",
    ],
    [
      "par-ensure-reused-request-uri-prior-to-auth-completion-succeeds",
      "A request_uri can be opened again before the person has answered.",
    ],
    ["par-attempt-reuse-request_uri", "invalid_request_uri after the person has answered."],
    ["par-attempt-to-use-expired-request_uri", "invalid_request_uri after the lifetime of the request."],
    [
      "par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted",
      "The clocks may differ by 8 seconds.",
    ],
    [
      "par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails",
      "PAR: invalid_client or invalid_request.",
    ],
    ["par-attempt-to-use-request_uri-for-different-client", "invalid_request or invalid_request_uri."],
    [
      "par-authorization-request-containing-request_uri-form-param",
      "PAR: invalid_request, invalid_request_object or request_uri_not_supported.",
    ],
    ["par-attempt-invalid-http-method", "PAR: a status from 400 for PUT."],
    ["par-ensure-pkce-required", "PAR: invalid_request."],
    ["ensure-pkce-code-verifier-required", "Token: invalid_grant."],
    ["incorrect-pkce-code-verifier-rejected", "Token: invalid_grant."],
    ["par-plain-pkce-rejected", "PAR: invalid_request."],
    ["par-without-duplicate-parameters", "client_id and request_uri are enough for a pushed request."],
    ["par-test-array-as-audience-fails", "PAR: invalid_client; aud must be the issuer as a string."],
    ["par-test-par-endpoint-url-as-audience-fails", "PAR: invalid_client; aud must be the issuer."],
    ["par-test-token-endpoint-url-as-audience-fails", "PAR: invalid_client; aud must be the issuer."],
  ]),
  {
    name: "ensure-authorization-request-without-state-success",
    expected: "A request without state succeeds, and the answer has no state.",
    departs: "The contract lists state among the required parameters; its absence is refused by name.",
  },
  {
    name: "ensure-unsigned-authorization-request-without-using-par-fails",
    expected: "The authorization endpoint refuses a request that was not pushed.",
    departs: "PAR is offered, not required: apps without a server of their own use the same endpoint.",
  },
  ...skip(noIdTokens, [
    ["ensure-authorization-request-without-nonce-success", "No nonce in the ID token."],
    ["ensure-authorization-request-with-64-char-nonce-success", "The ID token has the nonce."],
    ["test-claims-parameter-identity-claims", "The requested claims are in the ID token."],
    ["ensure-different-nonce-inside-and-outside-request-object", "The ID token has the pushed nonce."],
    ["ensure-authorization-request-with-long-nonce", "The ID token has the whole nonce."],
  ]),
  ...skip(ofCountry, [
    ["ensure-registered-redirect-uri", "The redirect address is refused (tolerated by the plain profile)."],
    ["australia-connectid-ensure-invalid-purpose-fails", "A long purpose is refused."],
    ["australia-connectid-test-claims-parameter-idtoken-identity-claims", "The ID token has the claims."],
    ["ensure-server-handles-non-matching-intent-id", "An intent of another client is refused."],
    ["test-essential-acr-sca-claim", "The person is authenticated strongly."],
    ["brazil-ensure-bad-payment-signature-fails", "A consent with a wrong signature is refused."],
  ]),
];

const noRegistration =
  "Only AI agents register themselves, as public clients; the server drops this part of their metadata.";

const openidModules: readonly ConformanceModule[] = [
  ...run([
    ["refresh-token", "A refresh token works, and is refused for another client."],
    ["ensure-request-without-nonce-succeeds-for-code-flow", "A code without a nonce in the request."],
    ["alternate-happy-flow", "The order of scopes and parameters does not matter."],
    ["prompt-login", "The person must sign in again."],
    ["prompt-none-not-logged-in", "login_required or interaction_required."],
    ["redirect-uri-query-OK", "The query of a registered redirect address is kept."],
    ["login-hint", "The parameter causes no error."],
    ["ensure-request-with-unknown-parameter-succeeds", "Unknown parameters are ignored."],
    ["ui-locales", "The parameter causes no error."],
    ["display-page", "The parameter causes no error."],
    ["display-popup", "The parameter causes no error."],
    [
      "unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
      "The request object is used, or refused with request_not_supported.",
    ],
    [
      "request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
      "The request object is used, or refused with request_uri_not_supported.",
    ],
    ["server-rotate-keys", "After a rotation, the key set has the new and the old keys."],
    ["ensure-request-with-valid-pkce-succeeds", "A request with PKCE succeeds."],
    ["ensure-client-assertion-with-iss-aud-succeeds", "The issuer is a valid audience of an assertion."],
    ["codereuse", "invalid_grant."],
    ["codereuse-30seconds", "invalid_grant; the access token of the first use ends."],
    ["ensure-redirect-uri-in-authorization-request", "A page names the missing redirect address."],
    ["ensure-registered-redirect-uri", "A page names the wrong redirect address."],
    ["redirect-uri-query-added", "A page names the wrong redirect address."],
    ["redirect-uri-query-mismatch", "A page names the wrong redirect address."],
    ["redirect-uri-regfrag", "Registration: invalid_redirect_uri or invalid_client_metadata for a fragment."],
    ["response-type-missing", "unsupported_response_type or invalid_request."],
  ]),
  {
    name: "prompt-none-logged-in",
    expected: "A signed-in person need not act.",
    departs:
      "Each authorization asks the staff member for the scopes again, so the answer is consent_required.",
  },
  {
    name: "ensure-post-request-succeeds",
    expected: "The authorization endpoint accepts POST.",
    departs: "RFC 6749 section 3.1 leaves POST to the server; the endpoint answers 405 with Allow.",
  },
  ...depart(
    "Without the scope openid, the parameter is refused by name (invalid_request) instead of being ignored: " +
      "otherwise the person would be authenticated less strictly than the client asks.",
    [
      ["claims-locales", "The parameter causes no error."],
      ["max-age-1", "After more than a second, the person must sign in again."],
      ["max-age-10000", "The person need not sign in again."],
      ["ensure-request-with-acr-values-succeeds", "The parameter causes no error."],
    ],
  ),
  ...skip(noIdTokens, [
    ["discovery-endpoint-verification", "OpenID metadata; the plan for FAPI checks the OAuth metadata."],
    ["server", "The ID token of a happy flow is right."],
    ["idtoken-rs256", "The ID token is signed with RS256."],
    ["idtoken-signature", "The ID token is signed with RS256 by default."],
    ["idtoken-unsigned", "The ID token is not signed on request."],
    ["claims-essential", "The claim name is returned."],
    ["scope-address", "The claim address is returned."],
    ["scope-all", "All claims of the person are returned."],
    ["scope-email", "The claim email is returned."],
    ["scope-phone", "The claim phone_number is returned."],
    ["scope-profile", "The claims of the profile are returned."],
    ["id-token-hint", "An ID token as a hint avoids the sign-in."],
    ["userinfo-get", "The UserInfo endpoint answers GET."],
    ["userinfo-post-body", "The UserInfo endpoint accepts the token in the body."],
    ["userinfo-post-header", "The UserInfo endpoint accepts the token in a header."],
    ["userinfo-rs256", "The answer of the UserInfo endpoint is signed with RS256."],
    ["ensure-request-without-nonce-fails", "Response types with an ID token need a nonce."],
    ["registration-sector-uri", "Pairwise subjects of ID tokens."],
    ["registration-sector-bad", "Pairwise subjects of ID tokens."],
  ]),
  ...skip(noRegistration, [
    ["registration-jwks-uri", "A registered client authenticates with keys from its jwks_uri."],
    ["refresh-token-rp-key-rotation", "A registered client changes the keys of its jwks_uri."],
    ["server-client-secret-post", "A client authenticates with a secret; the server gives out no secrets."],
  ]),
  ...skip("A person must compare the sign-in page with the registered metadata.", [
    ["registration-logo-uri", "The sign-in page shows the logo."],
    ["registration-policy-uri", "The sign-in page links to the policy."],
    ["registration-tos-uri", "The sign-in page links to the terms of service."],
  ]),
  ...skip("The server supports no request objects; the suite skips the module for such servers.", [
    ["request-uri-unsigned", "An unsigned request object at a URL is used."],
    ["request-uri-signed-rs256", "A signed request object at a URL is used."],
    ["ensure-request-object-with-redirect-uri", "The redirect address of the request object is used."],
  ]),
];

export const conformancePlans: Readonly<Record<"fapi" | "openid", ConformancePlan>> = {
  fapi: {
    title: "FAPI 2.0 Security Profile Final",
    prefix: "fapi2-security-profile-final-",
    modules: fapiModules,
  },
  openid: { title: "OpenID Connect", prefix: "oidcc-", modules: openidModules },
};
