/**
 * The demo's app as a developer would write it with openid-client: sends people to the service, receives
 * answers on loopback, and calls the API with its token.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as client from "openid-client";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";

export interface Asked {
  /** The authorization address to which the person is sent. */
  readonly url: string;
  readonly state: string;
  /** Resolves to the redirect address with which the person returned. */
  readonly answer: Promise<URL>;
  /** Checks the answer and redeems its code. */
  tokens(): Promise<Tokens>;
}

export interface Tokens {
  readonly scope: string | undefined;
  /** Calls the API; rejects with the challenge of a 401. */
  call(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
}

export interface OauthApp extends AsyncDisposable {
  readonly redirectUri: string;
  ask(scope: string): Promise<Asked>;
}

export async function startOauthApp(
  issuer: string,
  { clientId, redirectUri: registered }: DemoJsonFileContent["oauthClient"],
): Promise<OauthApp> {
  const waiting = new Map<string | null, (answer: URL) => void>();
  // RFC 8252: any port is allowed on loopback.
  const redirectUri = new URL(registered);
  const receiver = createServer((request, response): void => {
    const answer = new URL(request.url ?? "/", redirectUri);
    waiting.get(answer.searchParams.get("state"))?.(answer);
    // Redirects to another address, as many apps do to hide the code.
    if (answer.pathname === redirectUri.pathname)
      return void response.writeHead(303, { location: `http://localhost:${redirectUri.port}/done` }).end();
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      '<!doctype html><html lang="en"><title>The app</title><link rel="icon" href="data:,"><h1>Back in ' +
        "the app</h1></html>",
    );
  });
  await new Promise<void>((listening) => void receiver.listen(0, redirectUri.hostname, listening));
  redirectUri.port = String((receiver.address() as AddressInfo).port);

  const execute = [client.allowInsecureRequests];
  const config = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
    algorithm: "oauth2",
    execute,
  });
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256"));

  const toTokens = ({ access_token: token, scope }: client.TokenEndpointResponse): Tokens => ({
    scope,
    call: async (path) => {
      const { status, json } = await settle(
        client.fetchProtectedResource(config, token, new URL(path, issuer), "GET", null, undefined, { DPoP }),
      );
      return { status, body: json };
    },
  });
  return {
    redirectUri: redirectUri.href,
    ask: async (scope) => {
      const [pkceCodeVerifier, state] = [client.randomPKCECodeVerifier(), client.randomState()];
      const { promise: answer, resolve } = Promise.withResolvers<URL>();
      waiting.set(state, resolve);
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri.href,
        scope,
        state,
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: "S256",
      });
      const redeem = async (): Promise<Tokens> =>
        toTokens(
          await client.authorizationCodeGrant(
            config,
            await answer,
            { pkceCodeVerifier, expectedState: state },
            undefined,
            { DPoP },
          ),
        );
      return { url: url.href, state, answer, tokens: redeem };
    },
    async [Symbol.asyncDispose]() {
      receiver.closeAllConnections();
      await new Promise((closed) => receiver.close(closed));
    },
  };
}

async function settle(asking: Promise<Response>): Promise<{ status: number; json: unknown }> {
  const response = await asking;
  return { status: response.status, json: await response.json() };
}
