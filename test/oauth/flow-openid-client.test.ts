/** The same flow with the library openid-client, which handles some steps differently. */
import * as client from "openid-client";
import { expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { createBrowser, createClient, createPerson, fetchIn, redirectUri, signInAndAllow } from "./people.ts";

const world = useWorld();

it.each([
  { authMethod: "none", pushed: false },
  { authMethod: "none", pushed: true },
  { authMethod: "private_key_jwt", pushed: false },
  { authMethod: "private_key_jwt", pushed: true },
] as const)(
  "an app on openid-client gets, renews and revokes tokens: $authMethod, pushed: $pushed",
  async ({ authMethod, pushed }) => {
    const { email } = await createPerson(world());
    const { clientId, privateKey } = await createClient(world(), { authMethod });
    const clientAuth =
      privateKey === null ? client.None() : client.PrivateKeyJwt({ key: privateKey, kid: "one" });
    const config = await client.discovery(new URL(publicUrl), clientId, undefined, clientAuth, {
      algorithm: "oauth2",
      [client.customFetch]: fetchIn(world()) as client.CustomFetch,
    });
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair("Ed25519"));
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const expectedState = client.randomState();
    const parameters = {
      redirect_uri: redirectUri,
      scope: "catalog:read checkout:quote webhooks:write offline_access",
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: expectedState,
    };
    const url = pushed
      ? await client.buildAuthorizationUrlWithPAR(config, parameters, { DPoP })
      : client.buildAuthorizationUrl(config, parameters);
    const answer = await signInAndAllow(createBrowser(world()), url.href, {
      email,
      scopes: ["catalog:read", "checkout:quote"],
    });

    const tokens = await client.authorizationCodeGrant(
      config,
      answer,
      { pkceCodeVerifier, expectedState },
      undefined,
      { DPoP },
    );
    expect([tokens.token_type, tokens.scope]).toEqual(["dpop", "catalog:read checkout:quote"]);
    // The library counts from the token's arrival, by its own clock.
    expect(tokens.expiresIn()).toBeLessThanOrEqual(600);
    expect(tokens.expiresIn()).toBeGreaterThan(540);
    const renewed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "", undefined, { DPoP });
    expect([renewed.scope, renewed.refresh_token === tokens.refresh_token]).toEqual([
      "catalog:read checkout:quote",
      false,
    ]);
    await client.tokenRevocation(config, renewed.refresh_token ?? "");
    await expect(
      client.refreshTokenGrant(config, renewed.refresh_token ?? "", undefined, { DPoP }),
    ).rejects.toMatchObject({ error: "invalid_grant" });
  },
);
