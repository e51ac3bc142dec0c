/** The part of the OpenAPI document that says what callers show: an API key, or an access token that is bound to a key of the client. */
import { oauthPaths, serverMetadataPath, signingAlgorithms } from "#access/authorization.ts";
import { scopeDescriptions } from "#access/viewer.ts";
import type { Security } from "#mesh/operation-security.ts";

type Requirement = Readonly<Record<string, readonly string[]>>;

const scopeList = Object.entries(scopeDescriptions)
  .map(([scope, meaning]) => `\`${scope}\`: ${meaning}`)
  .join(" ");

export const securitySchemes = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "cpk_{live|test}_{id}_{secret}",
    description: `An API key of an installation. Scopes: ${scopeList}`,
  },
  oauth: {
    type: "oauth2",
    description: `An access token of the authorization server, which \`${serverMetadataPath}\` describes (RFC 8414): authorization code with PKCE S256. Tokens are bound to a key of the client: they are sent as \`Authorization: DPoP {token}\` beside a \`DPoP\` proof of ${signingAlgorithms.join(" or ")}, a new one for each request (RFC 9449).`,
    flows: {
      authorizationCode: {
        authorizationUrl: oauthPaths.authorization,
        tokenUrl: oauthPaths.token,
        refreshUrl: oauthPaths.token,
        scopes: scopeDescriptions,
      },
    },
  },
} as const;

export const requiredScope = (security: Security): string => (security.kind === "anonymous" ? "none" : (security.scope ?? "none"));

/** One of them will do. */
export const eitherCredential: readonly Requirement[] = [{ apiKey: [] }, { oauth: [] }];

export function securityOf(security: Security): readonly Requirement[] {
  if (security.kind === "anonymous") return [{}];
  const oauth = { oauth: security.scope === null ? [] : [security.scope] };
  return security.kind === "oauth" ? [oauth] : [{ apiKey: [] }, oauth];
}
