/**
 * A credential revoked in one process is refused by another, which has it cached, within a second of the
 * commit. Two processes on one PostgreSQL, one of them a gateway.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey } from "#access/keys/manage-keys.ts";
import { createInternalToken } from "#access/keys/internal-tokens.ts";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { type Service, startService } from "#soak/service.ts";
import { type CuttingProxy, startCuttingProxy } from "#test/database/cutting-proxy.ts";
import { createDatabase } from "#test/support/create-database.ts";

/** Two cold starts on a busy machine. */
const startsMsMax = 240_000;
const lateMsMax = 1_000;

describe("two processes on one database", () => {
  let database: OpenedDatabase;
  let here: Service;
  let there: Service;
  /** The proxy on the connection on which `there` receives notices. */
  let proxy: CuttingProxy;
  beforeAll(async () => {
    const databaseUrl = await createDatabase();
    here = await startService({ databaseUrl });
    proxy = await startCuttingProxy(Number(new URL(databaseUrl).port));
    const through = new URL(databaseUrl);
    through.port = String(proxy.port);
    const environment = { DATABASE_DIRECT_URL: String(through) };
    there = await startService({ databaseUrl, command: "gateway", folder: here.folder, environment });
    database = await openDatabase({ url: databaseUrl });
  }, startsMsMax);
  afterAll(async () => {
    await there?.[Symbol.asyncDispose]();
    await here?.[Symbol.asyncDispose]();
    await proxy?.stop();
    await database?.close();
  });

  const getWith = async (service: Service, url: string, key: string): Promise<number> =>
    (await service.ask({ method: "GET", url, headers: { authorization: `Bearer ${key}` }, body: undefined }))
      .status;
  const identify = (service: Service, key: string): Promise<number> =>
    getWith(service, "/api/v1/open/identity", key);
  const graphql = (service: Service, query: string, token: string) =>
    service.ask({
      method: "POST",
      url: "/graphql",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
  const operate = async (mutation: string) => {
    const { text } = await graphql(here, `mutation { ${mutation} }`, here.access.tokens.operator);
    const body = JSON.parse(text);
    expect(body.errors).toBeUndefined();
    return body.data[Object.keys(body.data)[0] ?? ""];
  };
  const makeInstallation = async (): Promise<{ merchantId: string; installationId: string }> => {
    const name = crypto.randomUUID();
    const merchant = await operate(
      `merchantCreate(input: { slug: "${name}", name: "M", mode: TEST, defaultLocale: "en", ` +
        `defaultMarket: "DE" }) { id }`,
    );
    const app = await operate(`appCreate(input: { name: "App" }) { id }`);
    const input = `{ merchantId: "${merchant.id}", appId: "${app.id}", scopes: [CATALOG_READ, WEBHOOKS_READ]
      }`;
    return {
      merchantId: merchant.id,
      installationId: (await operate(`installationCreate(input: ${input}) { id }`)).id,
    };
  };
  const makeKey = (installationId: string): Promise<{ apiKeyId: string; value: string }> =>
    runInTransaction(database.db, (transaction) => {
      const input = {
        installationId,
        name: "Key",
        scopes: ["catalog:read", "webhooks:read"],
        expiresAt: null,
      } as const;
      return createApiKey(transaction, { merchantId: null, now: new Date() }, input);
    });
  /** Returns whether a key that is revoked by SQL, without a notice, is still accepted. */
  const isKept = async (installationId: string): Promise<boolean> => {
    const { apiKeyId, value } = await makeKey(installationId);
    expect(await identify(there, value)).toBe(200);
    await database.db
      .updateTable("apiKey")
      .set({ revokedAt: new Date() })
      .where("id", "=", apiKeyId)
      .execute();
    return (await identify(there, value)) === 200;
  };

  /**
   * The milliseconds from the commit to the start of the last accepted request; negative if there was none
   * after the commit.
   */
  async function lateness(isLetIn: () => Promise<boolean>, cut: () => Promise<unknown>): Promise<number> {
    // The second call is answered from the cache.
    for (const _ of [1, 2]) expect(await isLetIn()).toBe(true);
    await cut();
    const committedByMs = performance.now();
    let lastMs = Number.NEGATIVE_INFINITY;
    for (;;) {
      const begunAtMs = performance.now();
      if (!(await isLetIn())) return lastMs - committedByMs;
      lastMs = begunAtMs;
      if (lastMs - committedByMs > lateMsMax) return lastMs - committedByMs;
    }
  }

  it("cache credentials: a change without a notice takes effect later", async () => {
    const { installationId } = await makeInstallation();
    await expect.poll(() => isKept(installationId)).toBe(true);
  });

  it("refuse 200 keys that were in use at both after each was revoked at one", async () => {
    const { installationId } = await makeInstallation();
    const waiting: { apiKeyId: string; value: string }[] = [];
    // One after the other, because the last of 200 at once would wait too long for a connection of the pool.
    while (waiting.length < 200) waiting.push(await makeKey(installationId));
    const all = [...waiting];
    const late: number[] = [];
    const workOff = async (): Promise<void> => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        const { apiKeyId, value } = key;
        expect(await identify(here, value)).toBe(200);
        const revoke = () => operate(`apiKeyRevoke(input: { apiKeyId: "${apiKeyId}" }) { id }`);
        late.push(await lateness(async () => (await identify(there, value)) === 200, revoke));
      }
    };
    await Promise.all(Array.from({ length: 4 }, workOff));
    expect(late).toHaveLength(200);
    expect(late.filter((ms) => ms > lateMsMax)).toEqual([]);
    for (const { value } of all)
      expect([await identify(here, value), await identify(there, value)]).toEqual([401, 401]);
  }, 240_000);

  it("refuse a key whose installation or merchant is suspended, and a revoked internal token", async () => {
    for (let time = 0; time < 3; time += 1) {
      const { merchantId, installationId } = await makeInstallation();
      const { value } = await makeKey(installationId);
      const lists = async (): Promise<boolean> =>
        (await getWith(there, "/api/v1/open/webhooks/endpoints", value)) === 200;
      const cuts = [
        [
          `installationScopesSet(input: { installationId: "${installationId}", scopes: ` +
            "[CATALOG_READ] }) { id }",
          403,
        ],
        [
          `installationScopesSet(input: { installationId: "${installationId}", scopes: ` +
            "[CATALOG_READ, WEBHOOKS_READ] }) { id }",
          200,
        ],
        [`installationSuspend(input: { installationId: "${installationId}" }) { id }`, 401],
        [`installationResume(input: { installationId: "${installationId}" }) { id }`, 200],
        [`merchantSuspend(input: { merchantId: "${merchantId}" }) { id }`, 401],
      ] as const;
      for (const [mutation, status] of cuts) {
        if (status === 200) {
          await operate(mutation);
          await expect.poll(lists).toBe(true);
        } else {
          expect(await lateness(lists, () => operate(mutation))).toBeLessThanOrEqual(lateMsMax);
          expect(await getWith(there, "/api/v1/open/webhooks/endpoints", value)).toBe(status);
        }
      }
      const token = await runInTransaction(database.db, (transaction) => {
        const input = { name: "Token", role: "operator", merchantId: null, expiresAt: null } as const;
        return createInternalToken(transaction, { merchantId: null, now: new Date() }, input);
      });
      const isKnown = async (): Promise<boolean> =>
        (await graphql(there, "{ viewer { role } }", token.value)).status === 200;
      const revoke = () =>
        operate(`internalTokenRevoke(input: { internalTokenId: "${token.internalTokenId}" }) { id }`);
      expect(await lateness(isKnown, revoke)).toBeLessThanOrEqual(lateMsMax);
    }
  });

  it.each(["cut", "silent"])(
    "refuse a key that is revoked while the notice connection is %s, and receive notices afterwards",
    async (state) => {
      const { installationId } = await makeInstallation();
      for (let time = 0; time < 3; time += 1) {
        const { apiKeyId, value } = await makeKey(installationId);
        const loseAndRevoke = async (): Promise<void> => {
          // While the connection is held, no new connection gets through either.
          proxy.hold();
          if (state === "cut") proxy.cutAll();
          await operate(`apiKeyRevoke(input: { apiKeyId: "${apiKeyId}" }) { id }`);
        };
        expect(
          await lateness(async () => (await identify(there, value)) === 200, loseAndRevoke),
        ).toBeLessThanOrEqual(lateMsMax);
        proxy.goOn();
        // Credentials are cached again, and the outdated verdicts are gone.
        await expect.poll(() => isKept(installationId)).toBe(true);
        expect(await identify(there, value)).toBe(401);
      }
      expect([...here.faults, ...there.faults]).toEqual([]);
    },
    120_000,
  );
});
