/**
 * The whole flow of an app with the library oauth4webapi: discovery, authorization, tokens, renewal,
 * revocation.
 */
import { decodeJwt, decodeProtectedHeader } from "jose";
import * as oauth from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import {
  createBrowser,
  createClient,
  createPerson,
  webapiFetch,
  redirectUri,
  signInAndAllow,
} from "./people.ts";

describe.each(["pglite", "postgres"] as const)("an app on oauth4webapi, %s", (engine) => {
  const world = useWorld(engine);

  it.each([
    { authMethod: "none", alg: "ES256", pushed: false },
    { authMethod: "none", alg: "Ed25519", pushed: true },
    { authMethod: "private_key_jwt", alg: "ES256", pushed: true },
    { authMethod: "private_key_jwt", alg: "Ed25519", pushed: false },
  ] as const)(
    "gets and renews tokens: $authMethod, $alg, pushed: $pushed",
    async ({ authMethod, alg, pushed }) => {
      const options = { [oauth.customFetch]: webapiFetch(world()) } as const;
      const { email, staffId } = await createPerson(world());
      const { clientId, privateKey } = await createClient(world(), { authMethod });
      const issuer = new URL(publicUrl);
      const server = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, {
          algorithm: "oauth2",
          [oauth.customFetch]: webapiFetch(world()),
        }),
      );
      const client: oauth.Client = { client_id: clientId };
      const clientAuth =
        privateKey === null ? oauth.None() : oauth.PrivateKeyJwt({ key: privateKey, kid: "one" });
      const DPoP = oauth.DPoP(client, await oauth.generateKeyPair(alg));
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const parameters = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: "code",
        scope: "catalog:read webhooks:read",
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
      };
      const url = new URL(server.authorization_endpoint ?? "");
      if (pushed) {
        const response = await oauth.pushedAuthorizationRequest(server, client, clientAuth, parameters, {
          DPoP,
          ...options,
        });
        const { request_uri: requestUri } = await oauth.processPushedAuthorizationResponse(
          server,
          client,
          response,
        );
        url.search = new URLSearchParams({ client_id: clientId, request_uri: requestUri }).toString();
      } else url.search = new URLSearchParams(parameters).toString();

      const answer = await signInAndAllow(createBrowser(world()), url.href, {
        email,
        scopes: ["catalog:read", "webhooks:read"],
      });
      const callback = oauth.validateAuthResponse(server, client, answer, state);
      const redeemed = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        clientAuth,
        callback,
        redirectUri,
        verifier,
        { DPoP, ...options },
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, redeemed);
      expect(tokens).toMatchObject({
        token_type: "dpop",
        expires_in: 600,
        scope: "catalog:read webhooks:read",
      });
      expect(Object.keys(tokens).toSorted()).toEqual([
        "access_token",
        "expires_in",
        "refresh_token",
        "scope",
        "token_type",
      ]);
      expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ typ: "at+jwt", alg: "ES256" });
      const claims = decodeJwt(tokens.access_token);
      expect(claims).toMatchObject({
        iss: publicUrl,
        aud: `${publicUrl}/api`,
        client_id: clientId,
        sub: staffId,
        scope: "catalog:read webhooks:read",
      });
      expect(claims["grant_id"]).toMatch(/^grt_/);
      expect(claims.exp).toBe((claims.iat ?? 0) + 600);

      const renewed = await oauth.processRefreshTokenResponse(
        server,
        client,
        await oauth.refreshTokenGrantRequest(server, client, clientAuth, tokens.refresh_token ?? "", {
          DPoP,
          additionalParameters: { scope: "catalog:read" },
          ...options,
        }),
      );
      expect(renewed.scope).toBe("catalog:read");
      expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
      expect(decodeJwt(renewed.access_token)["grant_id"]).toBe(claims["grant_id"]);

      await oauth.processRevocationResponse(
        await oauth.revocationRequest(server, client, clientAuth, renewed.refresh_token ?? "", options),
      );
      const refused = await oauth.refreshTokenGrantRequest(
        server,
        client,
        clientAuth,
        renewed.refresh_token ?? "",
        { DPoP, ...options },
      );
      expect([refused.status, await refused.json()]).toEqual([
        400,
        expect.objectContaining({ error: "invalid_grant" }),
      ]);
      const grant = await world()
        .database.db.selectFrom("oauthGrant")
        .selectAll()
        .where("id", "=", String(claims["grant_id"]))
        .executeTakeFirstOrThrow();
      expect(grant).toMatchObject({
        clientId,
        staffId,
        scopes: ["catalog:read", "webhooks:read"],
        revokedAt: world().clock.now(),
      });
    },
  );
});
