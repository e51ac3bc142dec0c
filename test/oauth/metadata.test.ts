/** The metadata documents describe exactly what works. */
import * as oauth from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { webapiFetch } from "./people.ts";

const world = useWorld();
const allScopes = ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"];

it("the OAuth metadata describes the authorization server (RFC 8414)", async () => {
  const { status, headers, body } = await world().get("/.well-known/oauth-authorization-server");
  expect([
    status,
    headers["content-type"],
    headers["access-control-allow-origin"],
    headers["cache-control"],
  ]).toEqual([200, "application/json; charset=utf-8", "*", "public, max-age=300"]);
  expect(body).toEqual({
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    registration_endpoint: `${publicUrl}/oauth/register`,
    client_id_metadata_document_supported: true,
    token_endpoint: `${publicUrl}/oauth/token`,
    pushed_authorization_request_endpoint: `${publicUrl}/oauth/par`,
    revocation_endpoint: `${publicUrl}/oauth/revoke`,
    jwks_uri: `${publicUrl}/oauth/jwks`,
    scopes_supported: allScopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    token_endpoint_auth_signing_alg_values_supported: ["ES256", "EdDSA"],
    revocation_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    revocation_endpoint_auth_signing_alg_values_supported: ["ES256", "EdDSA"],
    dpop_signing_alg_values_supported: ["ES256", "EdDSA"],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${publicUrl}/docs`,
  });
});

it.each(["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/api"])(
  "describes the API at %s (RFC 9728)",
  async (path) => {
    const { status, headers, body } = await world().get(path);
    expect([status, headers["access-control-allow-origin"]]).toEqual([200, "*"]);
    expect(body).toEqual({
      resource: `${publicUrl}/api`,
      authorization_servers: [publicUrl],
      scopes_supported: allScopes,
      bearer_methods_supported: ["header"],
      dpop_signing_alg_values_supported: ["ES256", "EdDSA"],
      dpop_bound_access_tokens_required: true,
      resource_documentation: `${publicUrl}/docs`,
    });
  },
);

it("the OAuth metadata is found from the API by oauth4webapi", async () => {
  const resource = new URL(`${publicUrl}/api`);
  const response = await oauth.resourceDiscoveryRequest(resource, {
    [oauth.customFetch]: webapiFetch(world()),
  });
  expect(await oauth.processResourceDiscoveryResponse(resource, response)).toMatchObject({
    authorization_servers: [publicUrl],
  });
});

it("the key set shows public keys alone, with nothing of the private ones", async () => {
  const { headers, body } = await world().get("/oauth/jwks");
  expect([headers["content-type"], headers["access-control-allow-origin"]]).toEqual([
    "application/jwk-set+json; charset=utf-8",
    "*",
  ]);
  expect(body.keys.map((key: Record<string, string>) => [key["alg"], Object.keys(key).toSorted()])).toEqual([
    ["ES256", ["alg", "crv", "kid", "kty", "use", "x", "y"]],
    ["EdDSA", ["alg", "crv", "kid", "kty", "use", "x"]],
  ]);
});

describe("allows only GET", () => {
  it.each([
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/oauth/jwks",
    "/oauth/authorize",
  ])("%s", async (url) => {
    const { status, body, headers } = await world().send({ method: "POST", url, body: {} });
    expect([status, body.error.code, headers["allow"]]).toEqual([405, "method_not_allowed", "GET, HEAD"]);
    if (url !== "/oauth/authorize")
      expect(await world().send({ method: "HEAD", url })).toMatchObject({ status: 200, text: "" });
  });
});
