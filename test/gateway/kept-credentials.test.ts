/**
 * A service that listens caches verified credentials, over REST and GraphQL. After a change the next request
 * is checked with the new state.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { revokeOauthGrant } from "#access/oauth/grants.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";

const identity = "/api/v1/open/identity";
const lookUp = /"digest".* from "(?:api_key|internal_token)"|"client_disabled_at".* from "oauth_grant"/;

describe.each(["pglite", "postgres"] as const)(
  "the credential cache of a listening service on %s",
  (engine) => {
    const world = useWorld(engine, { environment: { PORT: "0" } });
    beforeAll(async () => {
      await world().app.listen();
    });

    /** Counts the statements that look up a credential. Background work runs other statements meanwhile. */
    const lookUpsOf = async (work: () => Promise<unknown>): Promise<number> => {
      world().statements.length = 0;
      await work();
      return world().statements.filter((text) => lookUp.test(text)).length;
    };
    const operate = async (mutation: string) => {
      const { body } = await world().graphql(`mutation { ${mutation} }`, { token: "operator" });
      expect(body.errors).toBeUndefined();
      return body.data[Object.keys(body.data)[0] ?? ""];
    };

    it("looks up a key and a token once", async () => {
      // On PostgreSQL the service caches credentials once it receives notices of changes.
      await expect.poll(() => lookUpsOf(() => world().getWithKey(identity))).toBe(0);
      await expect.poll(() => lookUpsOf(() => world().graphql("{ viewer { role } }"))).toBe(0);
      // Each try sends a request that has never been sent, so that its answer comes from no cache.
      let pageSize = 0;
      const readPage = () => world().getWithKey(`/api/v1/open/catalog/products?pageSize=${(pageSize += 1)}`);
      await expect.poll(() => lookUpsOf(readPage)).toBe(0);
      expect((await world().getWithKey(identity)).body.data.apiKey.name).toBe("Demo: full");
    });

    it("refuses a changed credential from the first request after the change", async () => {
      const { body } = await world().getWithKey(identity);
      const installationId = body.data.installation.id;
      for (let time = 0; time < 20; time += 1) {
        const { value, apiKey } = await operate(
          `apiKeyCreate(input: { installationId: "${installationId}", name: "Key", scopes: [] }) { ` +
            "value apiKey { id } }",
        );
        const ask = () => world().get(identity, { authorization: `Bearer ${value}` });
        expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
        await operate(`apiKeyRevoke(input: { apiKeyId: "${apiKey.id}" }) { id }`);
        expect((await ask()).body.error?.code).toBe("api_key_revoked");
        const token = await operate(
          `internalTokenCreate(input: { name: "Token", role: OPERATOR }) { value internalToken { id } }`,
        );
        const view = () => world().graphql("{ viewer { role } }", { token: token.value });
        expect([(await view()).status, (await view()).status]).toEqual([200, 200]);
        await operate(`internalTokenRevoke(input: { internalTokenId: "${token.internalToken.id}" }) { id }`);
        expect((await view()).status).toBe(401);
      }
    });

    it("looks up a grant once, and refuses its tokens right after the revocation", async () => {
      /** Revokes one of two cached grants, and counts how often the other one is then looked up. */
      const countLookUpsAfterRevocation = async (): Promise<number> => {
        const [client, other] = [await createTokenClient(world()), await createTokenClient(world())];
        const ask = () => client.send({ url: identity });
        await expect.poll(() => lookUpsOf(ask)).toBe(0);
        expect((await ask()).body.data.credential).toBe("oauth");
        await expect.poll(() => lookUpsOf(() => other.send({ url: identity }))).toBe(0);
        await runInTransaction(world().database.db, (transaction) =>
          revokeOauthGrant(transaction, { merchantId: null, now: world().clock.now() }, client.grantId),
        );
        expect((await ask()).body.error?.code).toBe("oauth_token_invalid");
        return lookUpsOf(() => other.send({ url: identity }));
      };
      // The service looks up also a cached grant while PostgreSQL has not confirmed for 700 ms that notices
      // of changes arrive, for example when this process was paused.
      const counts: number[] = [];
      while (counts.length < 5 && !counts.includes(0)) counts.push(await countLookUpsAfterRevocation());
      expect(counts).toContain(0);
    });

    it("applies changes of scopes, installation and merchant between two requests", async () => {
      const { body } = await world().getWithKey(identity);
      const installation = `installationId: "${body.data.installation.id}"`;
      const merchant = `merchantId: "${body.data.merchant.id}"`;
      const status = async (): Promise<number> =>
        (await world().getWithKey("/api/v1/open/webhooks/endpoints")).status;
      const changes = [
        [`installationScopesSet(input: { ${installation}, scopes: [CATALOG_READ] }) { id }`, 403],
        [
          `installationScopesSet(input: { ${installation}, scopes: [CATALOG_READ, CHECKOUT_QUOTE, ` +
            "WEBHOOKS_READ, WEBHOOKS_WRITE] }) { id }",
          200,
        ],
        [`installationSuspend(input: { ${installation} }) { id }`, 401],
        [`installationResume(input: { ${installation} }) { id }`, 200],
        [`merchantSuspend(input: { ${merchant} }) { id }`, 401],
        [`merchantResume(input: { ${merchant} }) { id }`, 200],
      ] as const;
      expect(await status()).toBe(200);
      for (const [mutation, next] of changes) {
        await operate(mutation);
        expect(await status()).toBe(next);
      }
    });
  },
);
