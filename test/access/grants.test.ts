/**
 * Grants are created together with their installation. Their end is immediate and final, and also ends all
 * codes and refresh tokens.
 */
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createOauthGrant,
  findOauthGrants,
  buildOauthGrantSqlQuery,
  revokeOauthGrant,
  deleteOauthGrantsPastRetention,
} from "#access/oauth/grants.ts";
import { createOauthClient, disableOauthClient, enableOauthClient } from "#access/oauth/oauth-clients.ts";
import { createCredentialVerifier, type OauthGrantVerificationDataFinder } from "#access/credentials.ts";
import { findOauthServerRecord, saveOauthServerRecord } from "#access/oauth/oauth-items.ts";
import type { PermissionScope } from "#access/viewer.ts";
import { createStaffAccount, validateStaffFieldsAndHashPassword } from "#access/people/staff.ts";
import { updateInstallation, registerApp } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { describeOnPostgres, manyConnections } from "#test/support/databases.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const access = { merchantId: null, now };
const keyring = createEncryptionKeyring([{ id: "k1", key: new Uint8Array(32).fill(1) }]);

describeOnPostgres("grants", (open) => {
  let db: Database;
  let staffId: string;
  let merchantId: string;
  let count = 0;
  const client = (): Promise<string> =>
    runInTransaction(db, async (transaction) => {
      const appId = await registerApp(transaction, access, { name: "App", publisher: null });
      return createOauthClient(transaction, access, {
        appId,
        redirectUris: ["https://app.example/"],
        authMethod: "none",
        jwks: null,
      });
    });
  const grant = (
    input: { clientId: string; scopes?: readonly PermissionScope[]; staffId?: string },
    by: string | null = null,
  ) =>
    runInTransaction(db, (transaction) =>
      createOauthGrant(
        transaction,
        { merchantId: by, now },
        { staffId, scopes: ["webhooks:read", "catalog:read"], ...input },
      ),
    );
  const merchantWithStaff = async (): Promise<{ merchantId: string; staffId: string }> => {
    count += 1;
    const slug = `shop-${count}`;
    const person = await validateStaffFieldsAndHashPassword({
      email: `${slug}@shop.example`,
      name: "Ana",
      password: "a long enough password",
    });
    return runInTransaction(db, async (transaction) => {
      const merchant = {
        slug,
        name: "Shop",
        mode: "test",
        defaultLocale: "en",
        defaultMarket: "DE",
      } as const;
      const made = await createMerchant(transaction, access, merchant);
      return {
        merchantId: made,
        staffId: await createStaffAccount(transaction, access, { merchantId: made, ...person }),
      };
    });
  };
  const personOf = async (owner: string): Promise<string> => {
    count += 1;
    const person = await validateStaffFieldsAndHashPassword({
      email: `person-${count}@shop.example`,
      name: "Bo",
      password: "a long enough password",
    });
    return runInTransaction(db, (transaction) =>
      createStaffAccount(transaction, access, { merchantId: owner, ...person }),
    );
  };

  /** Reads the grants in the order of the ids. */
  const grantsOf = async (ids: readonly string[]) => {
    const found = await findOauthGrants(db, ids);
    return ids.map((id) => found.find((row) => row.id === id));
  };

  /** The notices sent to other processes. */
  const notices: string[] = [];
  let statementCount = 0;
  const elsewhereDesk = () => {
    const events = createInProcessEventEmitter();
    let find: OauthGrantVerificationDataFinder = () => Promise.resolve(undefined);
    const createVerifier = (findGrant: OauthGrantVerificationDataFinder) => {
      find = findGrant;
      return () => Promise.reject(new Error("Nobody shows a token here."));
    };
    const desk = createCredentialVerifier({
      db,
      clock: { now: () => now },
      keyring,
      isCurrent: () => true,
      events,
      createVerifier,
    });
    desk.close();
    const lookUps = async (grantId: string): Promise<number> => {
      const before = statementCount;
      await find(grantId);
      return statementCount - before;
    };
    return { receive: (text: string) => events.emit("noticeReceived", text), lookUps };
  };

  beforeAll(async () => {
    ({ db } = await open({
      poolSize: manyConnections,
      onStatement: ({ query }) => {
        statementCount += 1;
        if (query.sql.includes("pg_notify")) notices.push(String(query.parameters[1]));
      },
    }));
    ({ merchantId, staffId } = await merchantWithStaff());
  });

  it("install the app for the person's merchant and keep the granted scopes, for ninety days", async () => {
    const clientId = await client();
    const { grantId, installationId, replaced } = await grant({ clientId });
    expect(replaced).toEqual([]);
    expect(await findOauthGrants(db, [grantId, "grt_unknown"])).toEqual([
      {
        id: grantId,
        merchantId,
        installationId,
        clientId,
        staffId,
        scopes: ["catalog:read", "webhooks:read"],
        version: 1,
        issuedAt: now,
        expiresAt: new Date("2026-05-30T12:00:00.000Z"),
        revokedAt: null,
        lastUsedAt: null,
      },
    ]);
    expect((await buildOauthGrantSqlQuery(db, merchantId).execute()).map(({ id }) => id)).toContain(grantId);
    expect(await buildOauthGrantSqlQuery(db, "mer_other").execute()).toEqual([]);
  });

  it("do not extend an existing installation's scopes", async () => {
    const clientId = await client();
    const { installationId: id, grantId } = await grant({
      clientId,
      scopes: ["catalog:read", "checkout:quote"],
    });
    const held = () =>
      db
        .selectFrom("installation")
        .select(["scopes", "version"])
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
    await expect(grant({ clientId, scopes: ["catalog:read", "webhooks:read"] })).rejects.toMatchObject({
      code: "invalid_state",
      parts: {
        conflict: {
          resource: "installation",
          id,
          currentStatus: "active",
          currentVersion: 1,
          reason: "scope_not_held",
        },
      },
    });
    expect(await held()).toEqual({ scopes: ["catalog:read", "checkout:quote"], version: 1 });
    expect(await findOauthGrants(db, [grantId])).toMatchObject([{ revokedAt: null }]);
    const wider = ["catalog:read", "checkout:quote", "webhooks:read"] as const;
    await runInTransaction(db, (transaction) =>
      updateInstallation(transaction, access, { installationId: id, scopes: wider }),
    );
    expect(await grant({ clientId, scopes: ["webhooks:read"] })).toMatchObject({ installationId: id });
    expect(await held()).toEqual({ scopes: wider, version: 2 });
  });

  it("replace the same person's earlier grant to the same client, and no other grant", async () => {
    const [clientId, otherClientId] = [await client(), await client()];
    const colleague = await personOf(merchantId);
    const first = await grant({ clientId });
    const others = [await grant({ clientId, staffId: colleague }), await grant({ clientId: otherClientId })];
    const second = await grant({ clientId, scopes: ["catalog:read"] });
    expect(second.replaced).toEqual([
      { id: first.grantId, merchantId, installationId: first.installationId, clientId },
    ]);
    expect(others.map(({ replaced }) => replaced)).toEqual([[], []]);
    const found = await findOauthGrants(
      db,
      [first, second, ...others].map(({ grantId }) => grantId),
    );
    expect(found.filter(({ revokedAt }) => revokedAt !== null).map(({ id }) => id)).toEqual([first.grantId]);
  });

  it("are refused without a scope, for unknown apps, foreign persons and disabled accounts", async () => {
    const clientId = await client();
    const elsewhere = await merchantWithStaff();
    await db
      .updateTable("staffAccount")
      .set({ disabledAt: now })
      .where("id", "=", elsewhere.staffId)
      .execute();
    await expect(grant({ clientId, scopes: [] })).rejects.toMatchObject({ code: "invalid_field" });
    await expect(grant({ clientId: "oac_00000000000000000000000000" })).rejects.toMatchObject({
      code: "resource_not_found",
    });
    await expect(grant({ clientId }, elsewhere.merchantId)).rejects.toMatchObject({
      code: "role_not_allowed",
    });
    await expect(grant({ clientId, staffId: elsewhere.staffId })).rejects.toMatchObject({
      code: "role_not_allowed",
    });
    await db.updateTable("oauthClient").set({ disabledAt: now }).where("id", "=", clientId).execute();
    await expect(grant({ clientId })).rejects.toMatchObject({ code: "resource_not_found" });
    expect(await db.selectFrom("oauthGrant").select("id").where("clientId", "=", clientId).execute()).toEqual(
      [],
    );
  });

  it("share one installation if many are created at once", async () => {
    const clientId = await client();
    const made = await Promise.all(Array.from({ length: 10 }, () => grant({ clientId })));
    expect(new Set(made.map(({ installationId }) => installationId)).size).toBe(1);
    const ids = made.map(({ grantId }) => grantId);
    expect(new Set(ids).size).toBe(10);
    expect((await findOauthGrants(db, ids)).filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
    expect(new Set(made.flatMap(({ replaced }) => replaced.map(({ id }) => id))).size).toBe(9);
  });

  describe("that are revoked", () => {
    const refreshTokenOf = async (grantId: string): Promise<() => Promise<unknown>> => {
      const item = {
        kind: "RefreshToken",
        id: `of ${grantId}`,
        payload: {},
        grantId,
        uid: null,
        expiresAt: new Date(now.getTime() + 1),
      };
      await saveOauthServerRecord({ db, keyring }, item);
      return () =>
        findOauthServerRecord(
          { db, keyring },
          { kind: "RefreshToken", by: "id", value: `of ${grantId}`, now },
        );
    };

    it("end with their codes and refresh tokens, by their merchant, and the first time counts", async () => {
      const { grantId } = await grant({ clientId: await client() });
      const { grantId: untouched } = await grant({ clientId: await client() });
      const [findIts, findOthers] = [await refreshTokenOf(grantId), await refreshTokenOf(untouched)];
      const revoke = (by: string | null, at: Date): Promise<unknown> =>
        runInTransaction(db, (transaction) =>
          revokeOauthGrant(transaction, { merchantId: by, now: at }, grantId),
        );
      await expect(revoke("mer_other", now)).rejects.toMatchObject({ code: "resource_not_found" });
      expect(await findIts()).toBeDefined();
      expect(await revoke(merchantId, now)).toEqual([]);
      await revoke(null, new Date(now.getTime() + 1_000));
      expect(
        (await grantsOf([grantId, untouched])).map((row) => [row?.id, row?.revokedAt, row?.version]),
      ).toEqual([
        [grantId, now, 2],
        [untouched, null, 1],
      ]);
      expect(await findIts()).toBeUndefined();
      expect(await findOthers()).toBeDefined();
    });

    it("are all grants of an installation that is uninstalled", async () => {
      const clientId = await client();
      const made = [
        await grant({ clientId }),
        await grant({ clientId, staffId: await personOf(merchantId) }),
      ];
      const installationId = made[0]?.installationId ?? "";
      await runInTransaction(db, (transaction) =>
        updateInstallation(transaction, access, { installationId, status: "uninstalled" }),
      );
      expect(
        (
          await findOauthGrants(
            db,
            made.map(({ grantId }) => grantId),
          )
        ).map(({ revokedAt }) => revokedAt),
      ).toEqual([now, now]);
    });

    it("are all grants of a disabled client, with one notice, and stay revoked after that", async () => {
      const clientId = await client();
      const elsewhere = await merchantWithStaff();
      const made = [await grant({ clientId }), await grant({ clientId, staffId: elsewhere.staffId })];
      const untouched = await grant({ clientId: await client() });
      // A second process that learns of changes only by notices.
      const desk = elsewhereDesk();
      for (const { grantId } of made) expect(await desk.lookUps(grantId)).toBe(1);
      for (const { grantId } of [...made, untouched]) await desk.lookUps(grantId);
      notices.length = 0;
      await runInTransaction(db, (transaction) => disableOauthClient(transaction, access, clientId));
      expect(notices).toEqual([`client:${clientId}`]);
      for (const { grantId } of made) expect(await desk.lookUps(grantId)).toBe(0);
      notices.forEach(desk.receive);
      for (const { grantId } of made) expect(await desk.lookUps(grantId)).toBe(1);
      expect(await desk.lookUps(untouched.grantId)).toBe(0);
      await runInTransaction(db, (transaction) => enableOauthClient(transaction, clientId));
      const found = await grantsOf([...made, untouched].map(({ grantId }) => grantId));
      expect(found.map((row) => row?.revokedAt)).toEqual([now, now, null]);
    });

    it("include grants created while their client is being disabled", async () => {
      const clientId = await client();
      const people = [staffId, (await merchantWithStaff()).staffId, (await merchantWithStaff()).staffId];
      await Promise.allSettled([
        ...people.map((person) => grant({ clientId, staffId: person })),
        runInTransaction(db, (transaction) => disableOauthClient(transaction, access, clientId)),
      ]);
      const inForce = await db
        .selectFrom("oauthGrant")
        .select("id")
        .where("clientId", "=", clientId)
        .where("revokedAt", "is", null)
        .execute();
      expect(inForce).toEqual([]);
    });
  });

  it("are deleted ninety days after their end, and not earlier", async () => {
    const dayMs = 86_400_000;
    const made = [
      await grant({ clientId: await client() }),
      await grant({ clientId: await client() }),
      await grant({ clientId: await client() }),
    ];
    const [revoked, expired, lasting] = made.map(({ grantId }) => grantId);
    const at = (days: number): Date => new Date(now.getTime() + days * dayMs);
    const left = async (): Promise<number> =>
      (await findOauthGrants(db, [revoked ?? "", expired ?? "", lasting ?? ""])).length;
    await runInTransaction(db, (transaction) =>
      revokeOauthGrant(transaction, { merchantId: null, now: at(10) }, revoked ?? ""),
    );
    await db
      .updateTable("oauthGrant")
      .set({ expiresAt: at(200) })
      .where("id", "=", lasting ?? "")
      .execute();
    await deleteOauthGrantsPastRetention(db, new Date(at(100).getTime() - 1));
    expect(await left()).toBe(3);
    await deleteOauthGrantsPastRetention(db, at(100));
    expect(await left()).toBe(2);
    await deleteOauthGrantsPastRetention(db, at(180));
    expect((await findOauthGrants(db, [expired ?? "", lasting ?? ""])).map(({ id }) => id)).toEqual([
      lasting,
    ]);
  });
});
