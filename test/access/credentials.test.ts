/**
 * Every change that reduces a credential's rights drops its cached verdict at commit: not earlier, and not on
 * rollback.
 */
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { type CreatedApiKey, createApiKey, revokeApiKey, rotateApiKey } from "#access/keys/manage-keys.ts";
import { type ClosableCredentialVerifier, createCredentialVerifier } from "#access/credentials.ts";
import { createBuyerSessionToken } from "#access/buyer-sessions.ts";
import { createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { updateInstallation, registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant, updateMerchant } from "#access/merchants.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { unknownKey, withOtherSecret } from "#test/support/keys.ts";
import { describeOnPostgres, manyConnections } from "#test/support/databases.ts";
import { TestClock } from "#test/support/test-clock.ts";

describeOnPostgres("the cached verdict of a credential", (open) => {
  const keyring = createEncryptionKeyring([{ id: "k1", key: new Uint8Array(32).fill(1) }]);
  const clock = new TestClock(new Date("2026-06-01T00:00:00.000Z"));
  const platform = { merchantId: null, now: clock.now() };
  const statements: string[] = [];
  let db: Database;
  let desk: ClosableCredentialVerifier;
  const events = createInProcessEventEmitter();
  let merchantId = "";
  let installationId = "";
  let key: CreatedApiKey;
  let other: CreatedApiKey;

  const write = <Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> =>
    runInTransaction(db, work);
  const makeKey = (expiresAt: Date | null = null): Promise<CreatedApiKey> =>
    write((transaction) =>
      createApiKey(transaction, platform, {
        installationId,
        name: "Key",
        scopes: ["catalog:read"],
        expiresAt,
      }),
    );
  const statementsOf = async (work: () => Promise<unknown>): Promise<number> => {
    statements.length = 0;
    await work();
    return statements.length;
  };
  /** Returns whether the verdict must be read from the database. */
  const isGone = async ({ value }: CreatedApiKey): Promise<boolean> =>
    (await statementsOf(() => desk.apiKey(value).catch(() => undefined))) === 1;

  beforeAll(async () => {
    ({ db } = await open({
      poolSize: manyConnections,
      onStatement: ({ query }) => statements.push(query.sql),
    }));
    const createVerifier = () => () => Promise.reject(new Error("There are no access tokens here."));
    desk = createCredentialVerifier({ db, clock, keyring, isCurrent: () => true, events, createVerifier });
  });
  beforeEach(async () => {
    await write(async (transaction) => {
      const input = {
        slug: crypto.randomUUID(),
        name: "One",
        mode: "live",
        defaultLocale: "en",
        defaultMarket: "DE",
      } as const;
      merchantId = await createMerchant(transaction, platform, input);
      const appId = await registerApp(transaction, platform, { name: "App", publisher: null });
      installationId = await createInstallation(transaction, platform, {
        merchantId,
        appId,
        scopes: ["catalog:read"],
      });
    });
    key = await makeKey();
    const own = { merchantId, installationId };
    // Changes a credential of an unrelated merchant.
    await write(async (transaction) => {
      const input = {
        slug: crypto.randomUUID(),
        name: "Two",
        mode: "live",
        defaultLocale: "en",
        defaultMarket: "DE",
      } as const;
      merchantId = await createMerchant(transaction, platform, input);
      const appId = await registerApp(transaction, platform, { name: "App", publisher: null });
      installationId = await createInstallation(transaction, platform, {
        merchantId,
        appId,
        scopes: ["catalog:read"],
      });
    });
    other = await makeKey();
    ({ merchantId, installationId } = own);
    await desk.apiKey(key.value);
    await desk.apiKey(other.value);
  });

  it("saves the statement", async () => {
    expect([await isGone(key), await isGone(other)]).toEqual([false, false]);
    expect(await desk.apiKey(key.value)).toMatchObject({
      apiKeyId: key.apiKeyId,
      installationId,
      suspended: null,
    });
  });

  const cuts: Readonly<Record<string, (transaction: Transaction) => Promise<unknown>>> = {
    "revoking the key": (transaction) => revokeApiKey(transaction, platform, key.apiKeyId),
    "rotating the key": (transaction) =>
      rotateApiKey(transaction, platform, { apiKeyId: key.apiKeyId, overlapHours: 0 }),
    "taking a scope": (transaction) =>
      updateInstallation(transaction, platform, { installationId, scopes: [] }),
    "suspending the installation": (transaction) =>
      updateInstallation(transaction, platform, { installationId, status: "suspended" }),
    "uninstalling the app": (transaction) =>
      updateInstallation(transaction, platform, { installationId, status: "uninstalled" }),
    "suspending the merchant": (transaction) =>
      updateMerchant(transaction, platform, { merchantId, status: "suspended" }),
  };

  it.each(Object.keys(cuts))("is dropped by %s once committed, and no other verdict is", async (name) => {
    const cut = cuts[name];
    if (cut === undefined) throw new Error("There is no such change.");
    const undone = write(async (transaction) => {
      await cut(transaction);
      throw new Error("undo");
    });
    await expect(undone).rejects.toThrow("undo");
    expect(await isGone(key)).toBe(false);
    await write(cut);
    expect([await isGone(key), await isGone(other)]).toEqual([true, false]);
    const viewer = await desk.apiKey(key.value).catch(({ code }: { code: string }) => code);
    const isCut = typeof viewer === "string" || viewer.suspended !== null || viewer.scopes.size === 0;
    expect(isCut).toBe(true);
  });

  it("is dropped when a suspension is lifted or a lost scope is restored", async () => {
    const suspended = async (): Promise<string | null> => (await desk.apiKey(key.value)).suspended;
    const setInstallation = (status: "suspended" | "active") =>
      write((transaction) => updateInstallation(transaction, platform, { installationId, status }));
    const setMerchant = (status: "suspended" | "active") =>
      write((transaction) => updateMerchant(transaction, platform, { merchantId, status }));
    await setInstallation("suspended");
    expect(await suspended()).toBe("installation_suspended");
    await setMerchant("suspended");
    expect(await suspended()).toBe("merchant_suspended");
    await setMerchant("active");
    expect(await suspended()).toBe("installation_suspended");
    await setInstallation("active");
    expect(await suspended()).toBeNull();
  });

  it("is dropped if an internal token is revoked or its merchant suspended", async () => {
    const make = () =>
      write((transaction) =>
        createInternalToken(transaction, platform, {
          name: "Token",
          role: "admin",
          merchantId,
          expiresAt: null,
        }),
      );
    const [one, two] = [await make(), await make()];
    for (const { value } of [one, two])
      expect(await desk.internalToken(value)).toMatchObject({ kind: "internal", role: "admin", merchantId });
    expect(await statementsOf(() => desk.internalToken(one.value))).toBe(0);
    await write((transaction) => revokeInternalToken(transaction, platform, one.internalTokenId));
    await expect(desk.internalToken(one.value)).rejects.toMatchObject({ code: "api_key_revoked" });
    expect(await statementsOf(() => desk.internalToken(two.value))).toBe(0);
    await write((transaction) => updateMerchant(transaction, platform, { merchantId, status: "suspended" }));
    await expect(desk.internalToken(two.value)).rejects.toMatchObject({ code: "merchant_suspended" });
  });

  it("of a buyer session is that of its internal token", async () => {
    const { internalTokenId } = await write((transaction) =>
      createInternalToken(transaction, platform, {
        name: "Token",
        role: "admin",
        merchantId,
        expiresAt: null,
      }),
    );
    const { token, id } = await createBuyerSessionToken(
      { keyring, internalTokenId, now: clock.now() },
      { buyerReference: "buyer-1", continued: null, minutes: 5 },
    );
    expect(await desk.internalToken(token)).toEqual({
      kind: "internal",
      tokenId: internalTokenId,
      role: "storefront",
      merchantId,
      documents: "any",
      buyerSession: { id, buyerReference: "buyer-1" },
    });
    expect(await statementsOf(() => desk.internalToken(token))).toBe(0);
    events.emit("noticeReceived", `merchant:${merchantId}`);
    expect(await statementsOf(() => desk.internalToken(token))).toBe(1);
    await write((transaction) => revokeInternalToken(transaction, platform, internalTokenId));
    await expect(desk.internalToken(token)).rejects.toMatchObject({ code: "api_key_revoked" });
  });

  it("of an origin is dropped when its publishable token is revoked", async () => {
    const origin = `https://${crypto.randomUUID()}.example`;
    const make = () =>
      write((transaction) =>
        createInternalToken(transaction, platform, {
          name: "Token",
          role: "browser",
          merchantId,
          expiresAt: null,
          allowedOrigins: [origin],
        }),
      );
    const { internalTokenId } = await make();
    expect(await desk.isBrowserOrigin(origin)).toBe(true);
    expect(await desk.isBrowserOrigin("https://unknown.example")).toBe(false);
    expect(await statementsOf(() => desk.isBrowserOrigin(origin))).toBe(0);
    events.emit("noticeReceived", `merchant:${merchantId}`);
    expect(await statementsOf(() => desk.isBrowserOrigin(origin))).toBe(1);
    await write((transaction) => revokeInternalToken(transaction, platform, internalTokenId));
    expect(await desk.isBrowserOrigin(origin)).toBe(false);
  });

  it("does not extend a key's life: the key expires on time, cached or not", async () => {
    const started = clock.now();
    const { value } = await makeKey(new Date(started.getTime() + 5_000));
    await desk.apiKey(value);
    clock.advance(4_999);
    await desk.apiKey(value);
    clock.advance(1);
    expect(
      await statementsOf(() => expect(desk.apiKey(value)).rejects.toMatchObject({ code: "api_key_expired" })),
    ).toBe(0);
    clock.at = started;
  });

  it("requires the whole key, and refused keys are cached for a moment too", async () => {
    for (const wrong of [withOtherSecret(key.value), unknownKey()]) {
      for (const asked of [1, 0]) {
        const rejected = (): Promise<void> =>
          expect(desk.apiKey(wrong)).rejects.toMatchObject({ code: "api_key_invalid" });
        expect(await statementsOf(rejected)).toBe(asked);
      }
    }
    expect(await isGone(key)).toBe(false);
  });

  it("is read by one statement for any number of simultaneous requests with the same key", async () => {
    const { value, apiKeyId } = await makeKey();
    const statementCount = await statementsOf(async () => {
      const viewers = await Promise.all(Array.from({ length: 50 }, () => desk.apiKey(value)));
      expect(new Set(viewers.map((viewer) => viewer.apiKeyId))).toEqual(new Set([apiKeyId]));
    });
    expect(statementCount).toBe(1);
  });

  it("is dropped by notices of other processes for that credential, or by an empty notice", async () => {
    events.emit("noticeReceived", "payments");
    events.emit("noticeReceived", `credential:${other.apiKeyId}`);
    expect([await isGone(key), await isGone(other)]).toEqual([false, true]);
    for (const notice of [
      `credential:${key.apiKeyId}`,
      `installation:${installationId}`,
      `merchant:${merchantId}`,
      "",
    ]) {
      events.emit("noticeReceived", notice);
      expect(await isGone(key)).toBe(true);
    }
    expect(await isGone(other)).toBe(true);
  });
});
