/** Access tokens in use: each request needs a new DPoP proof for the public URL of the service. */
import { randomUUID } from "node:crypto";
import {
  clockSkew,
  customFetch,
  type CustomFetchOptions,
  DPoP,
  protectedResourceRequest,
} from "oauth4webapi";
import { beforeAll, describe, expect, it } from "vitest";
import { cartsUrl, makeCart } from "#test/operations/cart-calls.ts";
import { manyConnections } from "#test/support/databases.ts";
import { challengeInvalid, dpopChallengeFor, expectError } from "#test/support/expect-error.ts";
import { portOf, request, sendRaw } from "#test/support/raw-http.ts";
import { type Algorithm, createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { type Answer, publicUrl } from "#test/support/world.ts";

const url = "/api/v1/open/identity";

describe.each(["postgres"] as const)("an access token on %s", (engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });
  let client: TokenClient;
  beforeAll(async () => {
    client = await createTokenClient(world());
  });

  interface Shown {
    readonly claims?: Readonly<Record<string, unknown>>;
    readonly scheme?: string;
  }
  const headersFor = async ({ claims = {}, scheme = "DPoP" }: Shown = {}): Promise<{
    authorization: string;
    dpop: string;
  }> => {
    const token = await client.token();
    return { authorization: `${scheme} ${token}`, dpop: await client.proof({ url }, token, { claims }) };
  };
  const seconds = (): number => world().clock.now().getTime() / 1000;
  const expectProofRefused = (answer: Answer): void =>
    expectError(answer, {
      status: 401,
      code: "dpop_proof_invalid",
      headers: { "www-authenticate": dpopChallengeFor("invalid_dpop_proof") },
    });

  it.each(["ES256", "EdDSA"] as const satisfies readonly Algorithm[])(
    "is accepted with a %s proof and a scheme in any case",
    async (algorithm) => {
      const holder = await createTokenClient(world(), { algorithm });
      expect((await holder.send({ url })).status).toBe(200);
      for (const scheme of ["dpop", "DPOP", "DPoP"])
        expect((await world().get(url, await headersFor({ scheme }))).status).toBe(200);
    },
  );

  it("requires a new proof for each request", async () => {
    const headers = await headersFor();
    expect((await world().get(url, headers)).status).toBe(200);
    expectProofRefused(await world().get(url, headers));
    world().clock.advance(59_000);
    expectProofRefused(await world().get(url, headers));
    expect((await world().get(url, await headersFor())).status).toBe(200);
  });

  it("is accepted once if ten equal proofs arrive at the same time", async () => {
    for (let round = 0; round < 10; round += 1) {
      const headers = await headersFor();
      const answers = await Promise.all(Array.from({ length: 10 }, () => world().get(url, headers)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200)) expectProofRefused(answer);
    }
  });

  it("accepts the proof id that another token's key used: ids are unique per key only", async () => {
    const other = await createTokenClient(world());
    const claims = { jti: randomUUID() };
    for (const holder of [client, other]) {
      const token = await holder.token();
      const headers = {
        authorization: `DPoP ${token}`,
        dpop: await holder.proof({ url }, token, { claims }),
      };
      expect((await world().get(url, headers)).status).toBe(200);
    }
    const token = await client.token();
    expectProofRefused(
      await world().get(url, {
        authorization: `DPoP ${token}`,
        dpop: await client.proof({ url }, token, { claims }),
      }),
    );
  });

  it.each([60, 59, 0, -59, -60])(
    "accepts a proof whose time differs by %d s, and refuses one beyond 60 s",
    async (away) => {
      expect((await world().get(url, await headersFor({ claims: { iat: seconds() + away } }))).status).toBe(
        200,
      );
      const further = away + (away < 0 ? -0.001 : 0.001);
      const isTaken = Math.abs(further) <= 60;
      expect(
        (await world().get(url, await headersFor({ claims: { iat: seconds() + further } }))).status,
      ).toBe(isTaken ? 200 : 401);
    },
  );

  it.each([
    ["in capitals", publicUrl.toUpperCase() + url],
    ["with its port", `${publicUrl}:443${url}`],
    ["with a query and a fragment", `${publicUrl}${url}?x=1#y`],
    ["with dot segments", `${publicUrl}/x/..${url}`],
    ["with letters encoded", publicUrl + url.replace("open", "%6Fpen")],
  ])("accepts equivalent URLs by RFC 3986 in the proof: %s", async (_name, htu) => {
    expect((await world().get(url, await headersFor({ claims: { htu } }))).status).toBe(200);
  });

  it("checks the proof against the public URL, whatever host the request names", async () => {
    expect((await world().get(url, { ...(await headersFor()), host: "evil.test" })).status).toBe(200);
    const toHost = await headersFor({ claims: { htu: `https://evil.test${url}` } });
    expectProofRefused(
      await world().get(url, { ...toHost, host: "evil.test", "x-forwarded-host": "evil.test" }),
    );
  });

  it("is refused with the Bearer scheme, with and without a proof", async () => {
    const headers = await headersFor({ scheme: "Bearer" });
    for (const sent of [{ authorization: headers.authorization }, headers])
      expectError(await world().get(url, sent), {
        status: 401,
        code: "oauth_token_invalid",
        headers: { "www-authenticate": dpopChallengeFor("invalid_token") },
      });
  });

  it("ignores a DPoP header beside an API key", async () => {
    expect(
      (await world().get(url, { authorization: `Bearer ${world().demo.keys.full}`, dpop: "x" })).body.data
        .credential,
    ).toBe("api_key");
  });

  it("runs no statement for a malformed token or proof", async () => {
    await client.send({ url });
    const good = await headersFor();
    for (const headers of [
      { ...good, dpop: "x" },
      { ...good, authorization: `${good.authorization}x` },
    ])
      expect(await statementsOf(world(), () => world().get(url, headers))).toEqual([]);
  });
});

describe("repeated header lines", () => {
  const world = useWorld();
  let client: TokenClient;
  beforeAll(async () => {
    await world().app.server.listen({ host: "127.0.0.1", port: 0 });
    client = await createTokenClient(world());
  });

  const send = (...lines: string[]): Promise<Answer> =>
    sendRaw(portOf(world()), request(`GET ${url} HTTP/1.1`, "Host: api.test", ...lines));

  it("are refused for Authorization and DPoP", async () => {
    const token = await client.token();
    const proofs = await Promise.all(Array.from({ length: 3 }, () => client.proof({ url }, token)));
    const authorization = `Authorization: DPoP ${token}`;
    expectError(await send(authorization, authorization, `DPoP: ${proofs[0]}`), {
      status: 401,
      code: "credentials_malformed",
      headers: { "www-authenticate": challengeInvalid },
    });
    expectError(await send(authorization, `DPoP: ${proofs[0]}`, `dpop: ${proofs[1]}`), {
      status: 401,
      code: "dpop_proof_invalid",
    });
    expectError(await send(authorization), { status: 401, code: "dpop_proof_missing" });
    // The refused requests did not use up their proofs.
    for (const proof of proofs) expect((await send(authorization, `DPOP: ${proof}`)).status).toBe(200);
  });
});

describe("the independent client oauth4webapi", () => {
  const world = useWorld();

  // The library signs with the algorithm name Ed25519 (RFC 9864); the metadata says EdDSA.
  it.each(["ES256", "EdDSA"] as const)("reads and writes with its own %s proofs", async (algorithm) => {
    const holder = await createTokenClient(world(), { algorithm });
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const skew = Math.round((world().clock.now().getTime() - Date.now()) / 1000);
    const handle = DPoP(
      { [clockSkew]: skew },
      { privateKey: holder.privateKey, publicKey: holder.publicKey },
    );
    const sendToService = async (
      address: string,
      { method, headers, body }: CustomFetchOptions<string, unknown>,
    ): Promise<Response> => {
      const answer = await world().send({
        method,
        url: address.slice(publicUrl.length),
        headers,
        body: body ?? undefined,
      });
      return new Response(answer.text, {
        status: answer.status,
        headers: Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
      });
    };
    const call = async (method: string, path: string, body?: unknown): Promise<Response> =>
      protectedResourceRequest(
        await holder.token(),
        method,
        new URL(publicUrl + path),
        new Headers({ "idempotency-key": randomUUID(), "content-type": "application/json" }),
        body === undefined ? null : JSON.stringify(body),
        { DPoP: handle, [customFetch]: sendToService },
      );
    expect((await call("GET", url)).status).toBe(200);
    expect(
      (await call("PUT", `${cartsUrl}/${id}/promotion`, { code: world().demo.promotionCodes.percentage }))
        .status,
    ).toBe(200);
  });

  it("reads the challenge of a refusal", async () => {
    const { headers, status } = await world().get("/api/v1/oauth/authorize");
    const response = new Response(null, {
      status,
      headers: { "www-authenticate": headers["www-authenticate"] ?? "" },
    });
    const refused = protectedResourceRequest("t", "GET", new URL(publicUrl), new Headers(), null, {
      [customFetch]: () => Promise.resolve(response),
    });
    await expect(refused).rejects.toMatchObject({
      code: "OAUTH_WWW_AUTHENTICATE_CHALLENGE",
      cause: [
        {
          scheme: "dpop",
          parameters: {
            algs: "ES256 EdDSA",
            resource_metadata: `${publicUrl}/.well-known/oauth-protected-resource`,
          },
        },
      ],
    });
  });
});
