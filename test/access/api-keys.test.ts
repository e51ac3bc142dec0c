/**
 * Creating and revoking API keys: a key never has more scopes than its installation, and belongs to one
 * merchant.
 */
import { beforeAll, expect, it } from "vitest";
import { recordApiKeyUse, verifyApiKey } from "#access/keys/verify-keys.ts";
import { type AccessManagementCommandContext, createApiKey, revokeApiKey } from "#access/keys/manage-keys.ts";
import { updateInstallation, registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { Failure } from "#foundation/failure.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const now = new Date("2026-06-01T00:00:00.000Z");
const later = (ms: number): Date => new Date(now.getTime() + ms);
const platform = { merchantId: null, now };

describeOnBoth("API keys", (open) => {
  let db: Database;
  let merchantId = "";
  let installationId = "";
  beforeAll(async () => {
    ({ db } = await open());
    await runInTransaction(db, async (transaction) => {
      const input = {
        slug: "one",
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
        scopes: ["webhooks:read", "catalog:read", "catalog:read"],
      });
    });
  });

  const create = (
    change: Partial<Parameters<typeof createApiKey>[2]> = {},
    access: AccessManagementCommandContext = platform,
  ): ReturnType<typeof createApiKey> =>
    runInTransaction(db, (transaction) =>
      createApiKey(transaction, access, {
        installationId,
        name: "Key",
        scopes: [],
        expiresAt: null,
        ...change,
      }),
    );
  const countOf = async (): Promise<number> => (await db.selectFrom("apiKey").select("id").execute()).length;
  const codeOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error instanceof Failure ? error.code : String(error);
  };

  it("have their merchant's mode, each requested scope once, and belong to their installation", async () => {
    const { apiKeyId, value } = await create({ scopes: ["webhooks:read", "catalog:read", "webhooks:read"] });
    expect(value).toMatch(/^cpk_live_/);
    const viewer = await verifyApiKey(db, value, now);
    expect(viewer).toMatchObject({
      kind: "api_key",
      apiKeyId,
      installationId,
      merchantId,
      suspended: null,
      keyPrefix: value.slice(0, 21),
    });
    expect([...viewer.scopes]).toEqual(["catalog:read", "webhooks:read"]);
  });

  it("are refused with a scope that the installation lacks, or for a foreign installation", async () => {
    const before = await countOf();
    expect(await codeOf(create({ scopes: ["checkout:quote"] }))).toBe("invalid_field");
    expect(await codeOf(create({ installationId: "ins_none" }))).toBe("resource_not_found");
    expect(await codeOf(create({}, { merchantId: "mer_other", now }))).toBe("resource_not_found");
    expect(await countOf()).toBe(before);
  });

  it("lose a scope that their installation loses, and regain it with the installation", async () => {
    const { value } = await create({ scopes: ["catalog:read", "webhooks:read"] });
    const setScopes = (scopes: ("catalog:read" | "webhooks:read")[]): Promise<unknown> =>
      runInTransaction(db, (transaction) =>
        updateInstallation(transaction, platform, { installationId, scopes }),
      );
    await setScopes(["webhooks:read"]);
    expect([...(await verifyApiKey(db, value, now)).scopes]).toEqual(["webhooks:read"]);
    await setScopes(["catalog:read", "webhooks:read"]);
    expect([...(await verifyApiKey(db, value, now)).scopes]).toEqual(["catalog:read", "webhooks:read"]);
  });

  it("are revoked for good: the first time counts, and a foreign merchant cannot revoke", async () => {
    const { apiKeyId, value } = await create();
    const revoke = (access: AccessManagementCommandContext): ReturnType<typeof revokeApiKey> =>
      runInTransaction(db, (transaction) => revokeApiKey(transaction, access, apiKeyId));
    expect(await codeOf(revoke({ merchantId: "mer_other", now }))).toBe("resource_not_found");
    expect((await verifyApiKey(db, value, now)).apiKeyId).toBe(apiKeyId);
    await revoke(platform);
    await revoke({ merchantId, now: later(1000) });
    expect(await codeOf(verifyApiKey(db, value, now))).toBe("api_key_revoked");
    expect(
      await db.selectFrom("apiKey").select("revokedAt").where("id", "=", apiKeyId).executeTakeFirst(),
    ).toEqual({ revokedAt: now });
  });

  it("are refused at once if a process with a fast clock revoked them", async () => {
    const { apiKeyId, value } = await create();
    await runInTransaction(db, (transaction) =>
      revokeApiKey(transaction, { merchantId, now: later(60_000) }, apiKeyId),
    );
    expect(await codeOf(verifyApiKey(db, value, now))).toBe("api_key_revoked");
  });

  it("record their last use at most once a minute", async () => {
    const { apiKeyId } = await create();
    const lastUsedAt = async (): Promise<unknown> =>
      (await db.selectFrom("apiKey").select("lastUsedAt").where("id", "=", apiKeyId).executeTakeFirst())
        ?.lastUsedAt;
    await recordApiKeyUse(db, apiKeyId, now);
    await recordApiKeyUse(db, apiKeyId, later(59_999));
    expect(await lastUsedAt()).toEqual(now);
    await recordApiKeyUse(db, apiKeyId, later(60_000));
    expect(await lastUsedAt()).toEqual(later(60_000));
    // Another process recorded the use: this process keeps to the same minute.
    await db
      .updateTable("apiKey")
      .set({ lastUsedAt: later(120_000) })
      .where("id", "=", apiKeyId)
      .execute();
    await recordApiKeyUse(db, apiKeyId, later(130_000));
    expect(await lastUsedAt()).toEqual(later(120_000));
  });

  it("end with their installation, for which no new ones can be created", async () => {
    const { value } = await create({ expiresAt: later(1) });
    expect(await codeOf(verifyApiKey(db, value, later(1)))).toBe("api_key_expired");
    await runInTransaction(db, (transaction) =>
      updateInstallation(transaction, platform, { installationId, status: "uninstalled" }),
    );
    expect(await codeOf(verifyApiKey(db, value, now))).toBe("api_key_revoked");
    expect(await codeOf(create())).toBe("invalid_state");
    const valid = await db.selectFrom("apiKey").select("id").where("revokedAt", "is", null).execute();
    expect(valid).toEqual([]);
  });
});
