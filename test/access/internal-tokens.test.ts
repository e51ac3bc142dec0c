/**
 * Internal tokens: which owner, documents and origins a token may have, how tokens are found and listed, and
 * when API keys get expiry notices.
 */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import { createInstallation, registerApp, updateInstallation } from "#access/installations.ts";
import {
  expiryNoticeCountAfterRotationSql,
  findExpiringApiKeys,
  recordApiKeyExpiryNotice,
} from "#access/keys/expiry-notices.ts";
import {
  authenticateInternalToken,
  createInternalToken,
  findInternalTokenVerificationData,
  findInternalTokenVerificationDataById,
  findPublishableTokenAllowedForOrigin,
  type NewInternalToken,
  recordInternalTokenUse,
  revokeInternalToken,
} from "#access/keys/internal-tokens.ts";
import {
  type AccessManagementCommandContext,
  createApiKey,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
} from "#access/keys/manage-keys.ts";
import {
  buildApiKeySqlQuery,
  buildInternalTokenSqlQuery,
  findApiKeys,
  findInternalTokens,
} from "#access/keys/read-credentials.ts";
import { createMerchant } from "#access/merchants.ts";
import type { InternalTokenViewer } from "#access/viewer.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { Failure } from "#foundation/failure.ts";
import { describeOnPostgres } from "#test/support/databases.ts";

const now = new Date("2026-06-01T00:00:00.000Z");
const hourMs = 3_600_000;
const after = (ms: number): Date => new Date(now.getTime() + ms);
const platform = { merchantId: null, now };

describeOnPostgres("internal tokens and API keys", (open) => {
  let db: Database;
  let merchantId = "";
  let otherMerchantId = "";
  let installationId = "";
  const write = <Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> =>
    runInTransaction(db, work);
  beforeAll(async () => {
    ({ db } = await open());
    const create = (slug: string): Promise<string> =>
      write((transaction) =>
        createMerchant(transaction, platform, {
          slug,
          name: slug,
          mode: "live",
          defaultLocale: "en",
          defaultMarket: "DE",
        }),
      );
    merchantId = await create("one");
    otherMerchantId = await create("two");
    installationId = await write(async (transaction) => {
      const appId = await registerApp(transaction, platform, { name: "App", publisher: null });
      return createInstallation(transaction, platform, { merchantId, appId, scopes: ["catalog:read"] });
    });
  });

  const create = (
    given: Partial<NewInternalToken> = {},
    access: AccessManagementCommandContext = platform,
  ): Promise<{ internalTokenId: string; value: string }> =>
    write((transaction) =>
      createInternalToken(transaction, access, {
        name: "Token",
        role: "storefront",
        merchantId,
        expiresAt: null,
        ...given,
      }),
    );
  const failureOf = async (work: Promise<unknown>): Promise<Failure | undefined> =>
    work.then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof Failure) return error;
        throw error;
      },
    );
  const viewerOf = (value: string, at = now): Promise<InternalTokenViewer> =>
    authenticateInternalToken(value, at, ({ tokenId }) =>
      findInternalTokenVerificationData(db, tokenId, value),
    );

  it("have their role, merchant, documents and origins", async () => {
    const { internalTokenId, value } = await create({ documents: "trusted_only" });
    expect(internalTokenId).toMatch(/^tok_/);
    expect(value).toMatch(/^cit_storefront_/);
    expect(await viewerOf(value)).toEqual({
      kind: "internal",
      tokenId: internalTokenId,
      role: "storefront",
      merchantId,
      documents: "trusted_only",
    });
    const browser = await create({ role: "browser", allowedOrigins: ["https://shop.example"] });
    expect(await viewerOf(browser.value)).toMatchObject({
      role: "browser",
      documents: "any",
      allowedOrigins: ["https://shop.example"],
    });
  });

  const needsMerchant = (role: string) => `A token of the role ${role} needs a merchant: give its id.`;
  it.each<[given: Partial<NewInternalToken>, field?: string, message?: string]>([
    [{ role: "operator", merchantId: null }],
    [{ role: "analyst", merchantId: null }],
    [{ role: "analyst" }],
    [{ role: "admin" }],
    [{ documents: "trusted_only" }],
    [{ role: "analyst", merchantId: null, documents: "any" }],
    [{ role: "operator" }, "/merchantId", "A token of the role operator must have no merchant."],
    [{ role: "admin", merchantId: null }, "/merchantId", needsMerchant("admin")],
    [{ role: "storefront", merchantId: null }, "/merchantId", needsMerchant("storefront")],
    [
      { role: "analyst", merchantId: null, documents: "trusted_only" },
      "/documents",
      "A token of the platform must have the documents ANY, because trusted documents belong to merchants.",
    ],
  ])("created by the platform with %o are allowed, or refused at %s", async (given, field, message) => {
    const failure = await failureOf(create(given));
    expect(failure?.code).toBe(field && "invalid_field");
    expect(failure?.message).toBe(message);
    expect(failure?.parts.details).toEqual(field && [{ in: "body", field, code: "not_allowed", message }]);
  });

  it("created by a merchant belong to this merchant, and are never those of operators", async () => {
    const access = { merchantId, now };
    expect(await failureOf(create({ role: "admin" }, access))).toBeUndefined();
    const counted = async () => (await db.selectFrom("internalToken").select("id").execute()).length;
    const before = await counted();
    for (const foreign of [otherMerchantId, null])
      expect(await failureOf(create({ merchantId: foreign }, access))).toMatchObject({
        code: "merchant_not_found",
      });
    const message = "Only a token of the platform can create tokens of the role OPERATOR.";
    expect(await failureOf(create({ role: "operator" }, access))).toMatchObject({
      code: "invalid_field",
      parts: { details: [{ in: "body", field: "/role", code: "not_allowed", message }] },
    });
    expect(await failureOf(create({ merchantId: "mer_unknown" }))).toMatchObject({
      code: "merchant_not_found",
    });
    expect(await counted()).toBe(before);
  });

  const many = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `https://shop${index}.example`);
  const malformed =
    "An origin must have the form https://shop.example, with a port if it is not 443, and without a path. Only " +
    "the hosts localhost and 127.0.0.1 may use http.";
  const required = '"allowedOrigins" must have 1 to 20 origins for the role browser.';
  it.each<[origins: readonly string[] | null | undefined, path?: string, code?: string, message?: string]>([
    [["https://shop.example", "https://shop.example:8443"]],
    [["http://localhost:3000"]],
    [["http://127.0.0.1"]],
    [many(20)],
    [many(21), "", "required", required],
    [[], "", "required", required],
    [null, "", "required", required],
    [undefined, "", "required", required],
    [["https://shop.example", "shop.example"], "/1", "pattern_mismatch", malformed],
    [["https://shop.example/"], "/0", "pattern_mismatch", malformed],
    [["https://shop.example/path"], "/0", "pattern_mismatch", malformed],
    [["https://shop.example:443"], "/0", "pattern_mismatch", malformed],
    [["HTTPS://shop.example"], "/0", "pattern_mismatch", malformed],
    [["http://shop.example"], "/0", "pattern_mismatch", malformed],
    [["ftp://localhost"], "/0", "pattern_mismatch", malformed],
  ])("of the role browser with the origins %o", async (allowedOrigins, path, code, message) => {
    const given = allowedOrigins === undefined ? {} : { allowedOrigins };
    const failure = await failureOf(create({ role: "browser", ...given }));
    expect(failure?.parts.details).toEqual(
      code && [{ in: "body", field: `/allowedOrigins${path}`, code, message }],
    );
    expect(failure?.code).toBe(code && "invalid_field");
  });

  it("of other roles have no origins", async () => {
    expect(await failureOf(create({ allowedOrigins: ["https://shop.example"] }))).toMatchObject({
      code: "invalid_field",
      parts: {
        details: [
          {
            field: "/allowedOrigins",
            code: "not_allowed",
            message: '"allowedOrigins" is allowed only for the role browser.',
          },
        ],
      },
    });
    expect(await failureOf(create({ allowedOrigins: null }))).toBeUndefined();
  });

  it("are refused if they are unknown, expired or revoked", async () => {
    const { internalTokenId, value } = await create({ expiresAt: after(1_000) });
    expect((await viewerOf(value, after(999))).tokenId).toBe(internalTokenId);
    expect(await failureOf(viewerOf(value, after(1_000)))).toMatchObject({
      code: "api_key_expired",
      message: "The internal token has expired.",
    });
    const other = await create();
    expect(
      await failureOf(
        authenticateInternalToken(value, now, () =>
          findInternalTokenVerificationData(db, value.split("_")[2] ?? "", other.value),
        ),
      ),
    ).toMatchObject({ code: "api_key_invalid", message: "This service has no such internal token." });
    const revoke = (access: AccessManagementCommandContext, id = internalTokenId) =>
      failureOf(write((transaction) => revokeInternalToken(transaction, access, id)));
    const unknown = { code: "resource_not_found", message: "There is no internal token with this id." };
    expect(await revoke({ merchantId: otherMerchantId, now })).toMatchObject(unknown);
    expect(await revoke(platform, "tok_unknown")).toMatchObject(unknown);
    expect((await viewerOf(value)).tokenId).toBe(internalTokenId);
    expect(await revoke({ merchantId, now })).toBeUndefined();
    expect(await revoke({ merchantId: null, now: after(5) })).toBeUndefined();
    expect((await findInternalTokens(db, [internalTokenId]))[0]?.revokedAt).toEqual(now);
    expect(await failureOf(viewerOf(value))).toMatchObject({
      code: "api_key_revoked",
      message: "The internal token was revoked.",
    });
  });

  it("are found by their id, with the status of their merchant", async () => {
    const { internalTokenId } = await create();
    expect(await findInternalTokenVerificationDataById(db, internalTokenId)).toMatchObject({
      id: internalTokenId,
      merchantId,
      role: "storefront",
      merchantStatus: "active",
      allowedOrigins: null,
    });
    expect(await findInternalTokenVerificationDataById(db, "tok_unknown")).toBeUndefined();
  });

  it("of the role browser are found by their origin until they end", async () => {
    const origin = "https://origin.example";
    const find = (at: Date, searched = origin) => findPublishableTokenAllowedForOrigin(db, searched, at);
    expect(await find(now)).toBeUndefined();
    const allowedOrigins = ["https://first.example", origin];
    const { internalTokenId: id } = await create({
      role: "browser",
      allowedOrigins,
      expiresAt: after(1_000),
    });
    expect(await find(after(999))).toEqual({ id, merchantId });
    expect(await find(after(1_000))).toBeUndefined();
    expect(await find(now, "https://other.example")).toBeUndefined();
    const lasting = await create({ role: "browser", allowedOrigins });
    expect(await find(after(1_000))).toEqual({ id: lasting.internalTokenId, merchantId });
    await write((transaction) => revokeInternalToken(transaction, platform, lasting.internalTokenId));
    expect(await find(after(1_000))).toBeUndefined();
  });

  it("record their last use at most once a minute", async () => {
    const { internalTokenId } = await create();
    const lastUsedAt = async () => (await findInternalTokens(db, [internalTokenId]))[0]?.lastUsedAt;
    await recordInternalTokenUse(db, internalTokenId, now);
    await recordInternalTokenUse(db, internalTokenId, after(59_999));
    expect(await lastUsedAt()).toEqual(now);
    await recordInternalTokenUse(db, internalTokenId, after(60_000));
    expect(await lastUsedAt()).toEqual(after(60_000));
    await db
      .updateTable("internalToken")
      .set({ lastUsedAt: after(120_001) })
      .where("id", "=", internalTokenId)
      .execute();
    await recordInternalTokenUse(db, internalTokenId, after(180_000));
    expect(await lastUsedAt()).toEqual(after(120_001));
  });

  const createKey = (expiresAt: Date | null, at = now): Promise<string> =>
    write(async (transaction) => {
      const given = { installationId, name: "Key", scopes: [], expiresAt };
      return (await createApiKey(transaction, { merchantId: null, now: at }, given)).apiKeyId;
    });

  it("API keys publish their creation and their first revocation", async () => {
    const revoke = (apiKeyId: string, access: AccessManagementCommandContext = platform) =>
      write((transaction) => revokeApiKey(transaction, access, apiKeyId));
    const { apiKeyId: id, events } = await write((transaction) =>
      createApiKey(transaction, platform, { installationId, name: "Key", scopes: [], expiresAt: null }),
    );
    const owner = { merchantId, installationId };
    expect(events).toEqual([{ type: "api_key.created", id, ...owner, previous: null }]);
    const unknown = { code: "resource_not_found", message: "There is no API key with this id." };
    expect(await failureOf(revoke("key_unknown"))).toMatchObject(unknown);
    expect(await failureOf(revoke(id, { merchantId: otherMerchantId, now }))).toMatchObject(unknown);
    expect(await revoke(id)).toEqual([
      { type: "api_key.revoked", id, ...owner, previous: { version: 1, revokedAt: null } },
    ]);
    expect(await revoke(id)).toEqual([]);
  });

  it("API keys are refused with the reason", async () => {
    const refused = (given: Partial<NewApiKey>, access: AccessManagementCommandContext = platform) =>
      failureOf(
        write((transaction) =>
          createApiKey(transaction, access, {
            installationId,
            name: "Key",
            scopes: [],
            expiresAt: null,
            ...given,
          }),
        ),
      );
    const message = "The installation does not have the scopes checkout:quote, webhooks:read.";
    expect(await refused({ scopes: ["checkout:quote", "catalog:read", "webhooks:read"] })).toMatchObject({
      code: "invalid_field",
      message,
      parts: {
        details: [{ in: "body", field: "/scopes", code: "not_allowed", message, allowed: ["catalog:read"] }],
      },
    });
    const unknown = { code: "resource_not_found", message: "There is no installation with this id." };
    expect(await refused({ installationId: "ins_unknown" })).toMatchObject(unknown);
    expect(await refused({}, { merchantId: otherMerchantId, now })).toMatchObject(unknown);
    expect(await refused({}, { merchantId, now })).toBeUndefined();
    const key = await createKey(null);
    await write((transaction) => revokeApiKey(transaction, platform, key));
    const rotate = () =>
      failureOf(write((transaction) => rotateApiKey(transaction, platform, { apiKeyId: key })));
    expect((await rotate())?.message).toBe("A revoked key can't be rotated: create a new key.");
    const other = await write(async (transaction) => {
      const appId = await registerApp(transaction, platform, { name: "Other", publisher: null });
      return createInstallation(transaction, platform, { merchantId, appId, scopes: [] });
    });
    await write((transaction) =>
      updateInstallation(transaction, platform, { installationId: other, status: "uninstalled" }),
    );
    expect(await refused({ installationId: other })).toMatchObject({
      code: "invalid_state",
      message: "The installation is uninstalled.",
    });
  });

  it("are listed for one merchant, or for all", async () => {
    const { internalTokenId: own } = await create();
    const { internalTokenId: foreign } = await create({ merchantId: otherMerchantId });
    const key = await createKey(null);
    const tokensOf = async (owner: string | null) =>
      (await buildInternalTokenSqlQuery(db, owner).execute()).map(({ id }) => id);
    const keysOf = async (owner: string | null) =>
      (await buildApiKeySqlQuery(db, owner).execute()).map(({ id }) => id);
    expect([
      (await tokensOf(merchantId)).includes(own),
      (await tokensOf(merchantId)).includes(foreign),
    ]).toEqual([true, false]);
    expect(await tokensOf(null)).toEqual(expect.arrayContaining([own, foreign]));
    expect(await keysOf(otherMerchantId)).toEqual([]);
    for (const owner of [merchantId, null]) expect(await keysOf(owner)).toContain(key);
    const [row] = await findApiKeys(db, [key]);
    expect(row).toMatchObject({ id: key, merchantId, installationId, name: "Key", mode: "live", version: 1 });
    expect(row).not.toHaveProperty("digest");
    const [token] = await findInternalTokens(db, [own]);
    expect(token).toMatchObject({ id: own, name: "Token", role: "storefront", createdAt: now });
    expect(token).not.toHaveProperty("digest");
  });

  it("expiry notices of API keys are due seven days and one day before the expiry, once each", async () => {
    const key = await createKey(after(200 * hourMs));
    const dueAt = async (ms: number): Promise<boolean> =>
      (await findExpiringApiKeys(db, { now: after(ms), after: "", rowsMax: 100 })).some(
        ({ id }) => id === key,
      );
    const record = (ms: number) =>
      write((transaction) => recordApiKeyExpiryNotice(transaction, { now: after(ms) }, key));
    const notice = (version: number) => [
      { type: "api_key.expiring", id: key, merchantId, installationId, previous: { version } },
    ];
    expect([await dueAt(32 * hourMs - 1), await record(32 * hourMs - 1)]).toEqual([false, []]);
    expect([await dueAt(32 * hourMs), await record(32 * hourMs)]).toEqual([true, notice(1)]);
    expect([await dueAt(33 * hourMs), await record(33 * hourMs)]).toEqual([false, []]);
    expect([await dueAt(176 * hourMs - 1), await dueAt(176 * hourMs)]).toEqual([false, true]);
    expect(await dueAt(200 * hourMs)).toBe(false);
    expect(await record(176 * hourMs)).toEqual(notice(2));
    expect([await dueAt(180 * hourMs), await record(180 * hourMs)]).toEqual([false, []]);
    const listed = await findExpiringApiKeys(db, { now: after(32 * hourMs), after: key, rowsMax: 100 });
    expect(listed).toEqual([]);
  });

  it("a single notice is due for API keys that live less than seven days, and none for less than one", async () => {
    const dueAt = async (key: string, ms: number): Promise<boolean> =>
      (await findExpiringApiKeys(db, { now: after(ms), after: "", rowsMax: 100 })).some(
        ({ id }) => id === key,
      );
    const days = await createKey(after(48 * hourMs));
    expect([await dueAt(days, hourMs), await dueAt(days, 24 * hourMs)]).toEqual([false, true]);
    const notice = await write((transaction) =>
      recordApiKeyExpiryNotice(transaction, { now: after(24 * hourMs) }, days),
    );
    expect([notice.length, await dueAt(days, 25 * hourMs)]).toEqual([1, false]);
    expect(await dueAt(await createKey(after(23 * hourMs)), 20 * hourMs)).toBe(false);
  });

  it.each([
    [24, 2],
    [25, 1],
    [168, 1],
    [169, 0],
  ])("a rotation to a key with %i hours left counts %i notices as sent", async (hours, count) => {
    const { rows } = await db.executeQuery<{ sent: number }>(
      db
        .selectFrom("apiKey")
        .select(sql<number>`${expiryNoticeCountAfterRotationSql(after(hours * hourMs), now)}`.as("sent"))
        .where("id", "=", await createKey(null))
        .compile(),
    );
    expect(rows).toEqual([{ sent: count }]);
  });
});
