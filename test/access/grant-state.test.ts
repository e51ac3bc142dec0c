/** The current state of a grant is read in one statement, and its last use is recorded once a minute. */
import { beforeAll, expect, it } from "vitest";
import { createOauthGrant, type CreatedOauthGrant, revokeOauthGrant } from "#access/oauth/grants.ts";
import { createOauthClient, disableOauthClient } from "#access/oauth/oauth-clients.ts";
import { findOauthGrantVerificationData, recordOauthGrantUse } from "#access/oauth/access-tokens.ts";
import { createStaffAccount, validateStaffFieldsAndHashPassword } from "#access/people/staff.ts";
import { updateInstallation, registerApp } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { describeOnPostgres } from "#test/support/databases.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const access = { merchantId: null, now };
const scopes = ["webhooks:read", "catalog:read"] as const;

describeOnPostgres("a grant's state", (open) => {
  let db: Database;
  let appId: string;
  let clientId: string;
  let staffId: string;
  let merchantId: string;
  const write = <Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> =>
    runInTransaction(db, work);
  const grant = (): Promise<CreatedOauthGrant> =>
    write((transaction) =>
      createOauthGrant(transaction, { merchantId: null, now }, { staffId, clientId, scopes }),
    );

  beforeAll(async () => {
    ({ db } = await open());
    const person = await validateStaffFieldsAndHashPassword({
      email: "ana@shop.example",
      name: "Ana",
      password: "a long enough password",
    });
    await write(async (transaction) => {
      const merchant = {
        slug: "shop",
        name: "Shop",
        mode: "test",
        defaultLocale: "en",
        defaultMarket: "DE",
      } as const;
      merchantId = await createMerchant(transaction, access, merchant);
      staffId = await createStaffAccount(transaction, access, { merchantId, ...person });
      appId = await registerApp(transaction, access, { name: "App", publisher: null });
      clientId = await createOauthClient(transaction, access, {
        appId,
        redirectUris: ["https://app.example/"],
        authMethod: "none",
        jwks: null,
      });
    });
  });

  it("combines the states of the grant, its client, its installation and their merchant", async () => {
    const made = await grant();
    const found = await findOauthGrantVerificationData(db, made.grantId);
    expect(found).toEqual({
      grantId: made.grantId,
      clientId,
      staffId,
      scopes: expect.arrayContaining([...scopes]) as string[],
      expiresAt: expect.any(Date) as Date,
      revokedAt: null,
      clientDisabledAt: null,
      clientMetadataUrl: null,
      installationId: expect.any(String) as string,
      appId,
      merchantId,
      installationScopes: expect.arrayContaining([...scopes]) as string[],
      installationStatus: "active",
      merchantStatus: "active",
    });
    const installationId = found?.installationId ?? "";
    await write((transaction) =>
      updateInstallation(transaction, access, { installationId, status: "suspended" }),
    );
    expect(await findOauthGrantVerificationData(db, made.grantId)).toMatchObject({
      installationStatus: "suspended",
    });
    await write((transaction) =>
      updateInstallation(transaction, access, { installationId, status: "active" }),
    );
    await write((transaction) => revokeOauthGrant(transaction, access, made.grantId));
    expect(await findOauthGrantVerificationData(db, made.grantId)).toMatchObject({ revokedAt: now });
    expect(await findOauthGrantVerificationData(db, createId("oauthGrant"))).toBeUndefined();
  });

  it("records its last use once a minute, and of no other grant", async () => {
    const [one, other] = [await grant(), await grant()];
    const lastUse = async ({ grantId }: CreatedOauthGrant): Promise<Date | null | undefined> =>
      (await db.selectFrom("oauthGrant").select("lastUsedAt").where("id", "=", grantId).executeTakeFirst())
        ?.lastUsedAt;
    const at = (ms: number): Date => new Date(now.getTime() + ms);
    await recordOauthGrantUse(db, one.grantId, at(0));
    expect([await lastUse(one), await lastUse(other)]).toEqual([at(0), null]);
    await recordOauthGrantUse(db, one.grantId, at(59_999));
    expect(await lastUse(one)).toEqual(at(0));
    await recordOauthGrantUse(db, one.grantId, at(60_000));
    expect(await lastUse(one)).toEqual(at(60_000));
  });

  it("shows that its client is disabled", async () => {
    const { grantId } = await grant();
    await write((transaction) => disableOauthClient(transaction, access, clientId));
    expect((await findOauthGrantVerificationData(db, grantId))?.clientDisabledAt).toEqual(now);
  });
});
