/** What clients find out before they ask: RFC 8414 of the authorization server, RFC 9728 of the API, and the public keys. Only what works stands here. */
import type { FastifyInstance } from "fastify";
import { audienceOf, authMethods, oauthPaths, resourceMetadataPath, serverMetadataPath, signingAlgorithms } from "#access/authorization.ts";
import { scopes } from "#access/viewer.ts";
import type { OauthServices } from "./oauth-services.ts";

export function serverMetadata(publicUrl: string): Readonly<Record<string, unknown>> {
  return {
    issuer: publicUrl,
    authorization_endpoint: publicUrl + oauthPaths.authorization,
    token_endpoint: publicUrl + oauthPaths.token,
    pushed_authorization_request_endpoint: publicUrl + oauthPaths.pushedAuthorizationRequest,
    revocation_endpoint: publicUrl + oauthPaths.revocation,
    jwks_uri: publicUrl + oauthPaths.jwks,
    scopes_supported: scopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: authMethods,
    token_endpoint_auth_signing_alg_values_supported: signingAlgorithms,
    revocation_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_signing_alg_values_supported: signingAlgorithms,
    dpop_signing_alg_values_supported: signingAlgorithms,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${publicUrl}/docs`,
  };
}

export function resourceMetadata(publicUrl: string): Readonly<Record<string, unknown>> {
  return {
    resource: audienceOf(publicUrl),
    authorization_servers: [publicUrl],
    scopes_supported: scopes,
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: signingAlgorithms,
    dpop_bound_access_tokens_required: true,
    resource_documentation: `${publicUrl}/docs`,
  };
}

/** RFC 9728 section 3.1 puts the resource's own path behind the well-known one. */
const resourceMetadataPaths = [resourceMetadataPath, `${resourceMetadataPath}${new URL(audienceOf("http://any.example")).pathname}`] as const;

export const metadataPaths: readonly string[] = [serverMetadataPath, ...resourceMetadataPaths, oauthPaths.jwks];

const documentSeconds = 300;
/** Less than the time between a new key and its first token. */
const keysSeconds = 30;

export function mountMetadata(server: FastifyInstance, { publicUrl, signingKeys }: OauthServices): void {
  const documents: readonly (readonly [string, unknown])[] = [
    [serverMetadataPath, serverMetadata(publicUrl)],
    ...resourceMetadataPaths.map((path) => [path, resourceMetadata(publicUrl)] as const),
  ];
  for (const [path, document] of documents) {
    const body = JSON.stringify(document);
    server.get(path, (_request, reply) => reply.headers(headersFor(documentSeconds)).type("application/json").send(body));
  }
  server.get(oauthPaths.jwks, async (_request, reply) =>
    reply
      .headers(headersFor(keysSeconds))
      .type("application/jwk-set+json")
      .send(JSON.stringify(await signingKeys.publicJwks())),
  );
}

const headersFor = (seconds: number): Record<string, string> => ({
  "access-control-allow-origin": "*",
  "cache-control": `public, max-age=${seconds}`,
});
