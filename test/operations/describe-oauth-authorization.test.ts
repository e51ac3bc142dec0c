/**
 * describeOAuthAuthorization: returns to holders of an access token how clients get tokens. Refusals name the
 * metadata where clients begin.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { dpopChallenge, dpopChallengeFor, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { type Answer, publicUrl } from "#test/support/world.ts";

const url = "/api/v1/oauth/authorize";

/** The values of the contract, field by field. */
const described = {
  issuer: publicUrl,
  authorizationEndpoint: `${publicUrl}/oauth/authorize`,
  tokenEndpoint: `${publicUrl}/oauth/token`,
  revocationEndpoint: `${publicUrl}/oauth/revoke`,
  introspectionEndpoint: null,
  pushedAuthorizationRequestEndpoint: `${publicUrl}/oauth/par`,
  jwksUri: `${publicUrl}/oauth/jwks`,
  responseTypesSupported: ["code"],
  grantTypesSupported: ["authorization_code", "refresh_token"],
  codeChallengeMethodsSupported: ["S256"],
  dpopSigningAlgValuesSupported: ["ES256", "EdDSA"],
  dpopNonceRequired: false,
  scopesSupported: ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"].map((name) => ({
    name,
    description: expect.stringMatching(/\S\.$/),
  })),
  tokenEndpointAuthMethodsSupported: ["none", "private_key_jwt"],
  authorizationResponseIssParameterSupported: true,
  requiredParameters: [
    "response_type",
    "client_id",
    "redirect_uri",
    "code_challenge",
    "code_challenge_method",
    "state",
  ],
  accessTokenLifetimeSeconds: 600,
  refreshTokenRotation: true,
  documentationUrl: `${publicUrl}/docs`,
};

describe.each(["pglite", "postgres"] as const)("describeOAuthAuthorization on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  let client: TokenClient;
  beforeAll(async () => {
    contract = await readContract(world());
    client = await createTokenClient(world());
  });

  it.each(["ES256", "EdDSA"] as const)(
    "answers the holder of a token that is bound to a key for %s",
    async (algorithm) => {
      const answer = await (await createTokenClient(world(), { algorithm })).send({ url });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ data: described });
      expect(contract.faultsOf("describeOAuthAuthorization", 200, answer.body)).toEqual([]);
      expect(answer.headers).toMatchObject({
        "cache-control": "no-store",
        vary: "Authorization",
        "x-api-stability": "candidate",
      });
    },
  );

  it("requires no scope", async () => {
    expect((await (await createTokenClient(world(), { scopes: [] })).send({ url })).body).toEqual({
      data: described,
    });
  });

  it("returns the same values as the authorization server's metadata", async () => {
    const { body } = await world().get("/.well-known/oauth-authorization-server");
    const { data } = (await client.send({ url })).body;
    expect(body).toMatchObject({
      issuer: data.issuer,
      authorization_endpoint: data.authorizationEndpoint,
      token_endpoint: data.tokenEndpoint,
      revocation_endpoint: data.revocationEndpoint,
      pushed_authorization_request_endpoint: data.pushedAuthorizationRequestEndpoint,
      jwks_uri: data.jwksUri,
      response_types_supported: data.responseTypesSupported,
      grant_types_supported: data.grantTypesSupported,
      code_challenge_methods_supported: data.codeChallengeMethodsSupported,
      dpop_signing_alg_values_supported: data.dpopSigningAlgValuesSupported,
      scopes_supported: data.scopesSupported.map(({ name }: { name: string }) => name),
      token_endpoint_auth_methods_supported: data.tokenEndpointAuthMethodsSupported,
      authorization_response_iss_parameter_supported: data.authorizationResponseIssParameterSupported,
    });
    expect(body.introspection_endpoint).toBeUndefined();
  });

  it("runs two statements once the signing keys are cached: the grant and the proof's use", async () => {
    await client.send({ url });
    const token = await client.token();
    const headers = { authorization: `DPoP ${token}`, dpop: await client.proof({ url }, token) };
    expect(await statementsOf(world(), () => client.send({ url, headers }))).toEqual([
      expect.stringMatching(/^select .* from "oauth_grant"/),
      expect.stringMatching(/^insert into "dpop_proof"/),
    ]);
  });

  const expectRefused = (
    answer: Answer,
    { code, challenge }: { code: Parameters<typeof expectError>[1]["code"]; challenge: string },
  ): void => {
    expectError(answer, {
      status: 401,
      code,
      headers: { "www-authenticate": challenge, "x-api-stability": "candidate" },
    });
    expect(answer.body.error.message).toContain(`${publicUrl}/.well-known/oauth-authorization-server`);
  };

  it("asks for a token if none was sent, and names the metadata in the challenge", async () => {
    expectRefused(await world().get(url), { code: "credentials_missing", challenge: dpopChallenge });
    const proof = await client.proof({ url }, "");
    expectRefused(await world().get(url, { dpop: proof }), {
      code: "credentials_missing",
      challenge: dpopChallenge,
    });
  });

  it.each(["full", "noScope", "expired", "revoked"] as const)("refuses the API key: %s", async (key) => {
    expectRefused(await world().getWithKey(url, key), {
      code: "oauth_token_invalid",
      challenge: dpopChallengeFor("invalid_token"),
    });
  });

  it.each(["Basic eA==", "DPoP", "DPoP a b", ""])(
    "refuses %j as malformed credentials",
    async (authorization) => {
      expectRefused(await world().get(url, { authorization }), {
        code: "credentials_malformed",
        challenge: dpopChallengeFor("invalid_token"),
      });
    },
  );

  it("refuses an unknown key and an internal token", async () => {
    for (const value of [unknownKey(), world().demo.tokens.operator])
      for (const scheme of ["Bearer", "DPoP"]) {
        const answer = await world().get(url, {
          authorization: `${scheme} ${value}`,
          dpop: await client.proof({ url }, value),
        });
        expectRefused(answer, { code: "oauth_token_invalid", challenge: dpopChallengeFor("invalid_token") });
      }
  });

  it("refuses a parameter and a body, and answers HEAD like GET", async () => {
    expectError(await client.send({ url: `${url}?client_id=x` }), {
      status: 400,
      code: "unknown_parameter",
      details: [{ in: "query", field: "client_id", code: "unknown" }],
    });
    expectError(await client.send({ url, body: "{}" }), {
      status: 400,
      code: "unexpected_body",
      details: [{ in: "body", field: "", code: "body_not_allowed" }],
    });
    expect(await client.send({ method: "HEAD", url })).toMatchObject({ status: 200, text: "" });
    expectError(await client.send({ method: "POST", url, body: {} }), {
      status: 405,
      code: "method_not_allowed",
      headers: { allow: "GET, HEAD" },
    });
  });

  it("logs the installation and the grant, and no part of the token", async () => {
    world().logged.length = 0;
    const token = await client.token();
    const proof = await client.proof({ url }, token);
    await client.send({ url, headers: { authorization: `DPoP ${token}`, dpop: proof } });
    const { installationId, grantId } = client;
    expect(world().logged).toEqual([
      expect.objectContaining({ route: url, status: 200, installationId, grantId }),
    ]);
    for (const secret of [token, proof, client.thumbprint])
      expect(JSON.stringify(world().logged)).not.toContain(secret);
  });

  it.each([
    ["installation", "installation_suspended"],
    ["merchant", "merchant_suspended"],
  ] as const)("refuses while the %s is suspended", async (table, code) => {
    const column = table === "merchant" ? "id" : "merchantId";
    const { id } = world().demo.merchants.second;
    const ofSecond = await createTokenClient(world(), { merchant: "second" });
    const setStatus = (status: "active" | "suspended"): Promise<unknown> =>
      world().database.db.updateTable(table).set({ status }).where(column, "=", id).execute();
    await setStatus("suspended");
    try {
      expectRefused(await ofSecond.send({ url }), { code, challenge: dpopChallengeFor("invalid_token") });
      expect((await client.send({ url })).status).toBe(200);
    } finally {
      await setStatus("active");
    }
    expect((await ofSecond.send({ url })).status).toBe(200);
  });

  it("is documented in OpenAPI with the authorization code flow and without API keys", () => {
    const operation = contract.operations.find(
      ({ operationId }) => operationId === "describeOAuthAuthorization",
    );
    expect(operation?.security).toEqual([{ oauth: [] }]);
  });
});
