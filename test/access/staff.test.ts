/**
 * Staff accounts: one account per address, a password that is only stored as a hash, and disabling that takes
 * effect everywhere.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { createOauthGrant } from "#access/oauth/grants.ts";
import { createOauthClient } from "#access/oauth/oauth-clients.ts";
import {
  createStaffAccount,
  disableStaffAccount,
  enableStaffAccount,
  validateAndHashNewStaffPassword,
  validateStaffFieldsAndHashPassword,
  setStaffPassword,
} from "#access/people/staff.ts";
import { findActiveStaffAccount, authenticateStaffByPassword } from "#access/people/staff-sign-in.ts";
import { registerApp } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { describeOnPostgres } from "#test/support/databases.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const access = { merchantId: null, now };
const password = "a long enough password";

describeOnPostgres("a staff member", (open) => {
  let db: Database;
  let merchantId: string;
  const create = async (
    {
      merchantId: owner = merchantId,
      ...input
    }: { merchantId?: string; email?: string; name?: string; password?: string },
    by: { merchantId: string | null } = access,
  ): Promise<string> => {
    const person = await validateStaffFieldsAndHashPassword({
      email: "ana@shop.example",
      name: " Ana ",
      password,
      ...input,
    });
    return runInTransaction(db, (transaction) =>
      createStaffAccount(transaction, { ...by, now }, { merchantId: owner, ...person }),
    );
  };
  const change = (
    work: typeof disableStaffAccount,
    staffId: string,
    by: string | null = null,
  ): Promise<void> =>
    runInTransaction(db, (transaction) => work(transaction, { merchantId: by, now }, staffId));
  const setPassword = async (
    staffId: string,
    given: string,
    { isRevokingGrants = false, by = null as string | null } = {},
  ): Promise<void> => {
    const passwordHash = await validateAndHashNewStaffPassword(given);
    await runInTransaction(db, (transaction) =>
      setStaffPassword(transaction, { merchantId: by, now }, { staffId, passwordHash, isRevokingGrants }),
    );
  };
  const letIn = (staffId: string): Promise<string> =>
    runInTransaction(db, async (transaction) => {
      const appId = await registerApp(transaction, access, { name: "App", publisher: null });
      const client = {
        appId,
        redirectUris: ["https://app.example/"],
        authMethod: "none",
        jwks: null,
      } as const;
      const clientId = await createOauthClient(transaction, access, client);
      return (await createOauthGrant(transaction, access, { clientId, staffId, scopes: ["catalog:read"] }))
        .grantId;
    });
  const stateOf = (staffId: string, grantId: string): Promise<unknown> =>
    db
      .selectFrom("staffAccount")
      .innerJoin("oauthGrant", "staffId", "staffAccount.id")
      .where("staffAccount.id", "=", staffId)
      .where("oauthGrant.id", "=", grantId)
      .select(["disabledAt", "revokedAt", "staffAccount.version", "oauthGrant.version as grantVersion"])
      .executeTakeFirstOrThrow();

  beforeAll(async () => {
    ({ db } = await open());
    const merchant = {
      slug: "shop",
      name: "Shop",
      mode: "test",
      defaultLocale: "en",
      defaultMarket: "DE",
    } as const;
    merchantId = await runInTransaction(db, (transaction) => createMerchant(transaction, access, merchant));
  });

  it("signs in with the address in any spelling, and the password", async () => {
    const staffId = await create({ email: "Ana@Shop.example" });
    const viewer = {
      kind: "staff",
      staffId,
      merchantId,
      email: "Ana@Shop.example",
      name: "Ana",
      role: "admin",
      version: 1,
    };
    expect(staffId).toMatch(/^stf_/);
    expect(await authenticateStaffByPassword(db, " ana@shop.EXAMPLE ", password)).toEqual(viewer);
    expect(await findActiveStaffAccount(db, staffId)).toEqual(viewer);
    expect(await authenticateStaffByPassword(db, "ana@shop.example", `${password}.`)).toBeUndefined();
    expect(await authenticateStaffByPassword(db, "bob@shop.example", password)).toBeUndefined();
    const row = await db
      .selectFrom("staffAccount")
      .selectAll()
      .where("id", "=", staffId)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(password);
  });

  it("has one account per address in a shop", async () => {
    await create({ email: "two@shop.example" });
    await expect(create({ email: "TWO@shop.example" })).rejects.toMatchObject({
      code: "already_exists",
      parts: { details: [{ field: "/email" }] },
    });
  });

  it("belongs to an existing merchant for which the creator may act", async () => {
    await expect(create({ merchantId: "mer_00000000000000000000000000" })).rejects.toMatchObject({
      code: "merchant_not_found",
    });
    await expect(create({ email: "three@shop.example" }, { merchantId: "mer_other" })).rejects.toMatchObject({
      code: "merchant_not_found",
    });
  });

  it.each([
    ["/email", { email: "nobody" }],
    ["/email", { email: "a b@shop.example" }],
    ["/email", { email: `${"a".repeat(250)}@b.example` }],
    ["/name", { name: "  " }],
    ["/name", { name: "n".repeat(201) }],
    ["/password", { password: "eleven char" }],
    ["/password", { password: "p".repeat(257) }],
  ])("is refused for %s: %j", async (field, input) => {
    await expect(create({ email: "four@shop.example", ...input })).rejects.toMatchObject({
      code: "invalid_field",
      parts: { details: [{ field }] },
    });
    expect(
      await db.selectFrom("staffAccount").select("id").where("email", "like", "four%").execute(),
    ).toEqual([]);
  });

  describe("after being disabled", () => {
    it("cannot sign in, and the member's grants are revoked", async () => {
      const staffId = await create({ email: "five@shop.example" });
      const grantId = await letIn(staffId);
      await change(disableStaffAccount, staffId);
      expect(await authenticateStaffByPassword(db, "five@shop.example", password)).toBeUndefined();
      expect(await findActiveStaffAccount(db, staffId)).toBeUndefined();
      await change(disableStaffAccount, staffId);
      expect(await stateOf(staffId, grantId)).toEqual({
        disabledAt: now,
        revokedAt: now,
        version: 2,
        grantVersion: 2,
      });
    });

    it("can sign in again once enabled, and revoked grants stay revoked", async () => {
      const staffId = await create({ email: "seven@shop.example" });
      const grantId = await letIn(staffId);
      await change(enableStaffAccount, staffId);
      await change(disableStaffAccount, staffId);
      await change(enableStaffAccount, staffId);
      expect(await authenticateStaffByPassword(db, "seven@shop.example", password)).toMatchObject({
        staffId,
        version: 3,
      });
      expect(await stateOf(staffId, grantId)).toEqual({
        disabledAt: null,
        revokedAt: now,
        version: 3,
        grantVersion: 2,
      });
    });

    it("leaves the address to others, and can be enabled if no account uses it", async () => {
      const staffId = await create({ email: "eight@shop.example" });
      await change(disableStaffAccount, staffId);
      const successor = await create({ email: "Eight@shop.example", password: "another password" });
      expect(await authenticateStaffByPassword(db, "eight@shop.example", password)).toBeUndefined();
      expect(await authenticateStaffByPassword(db, "eight@shop.example", "another password")).toMatchObject({
        staffId: successor,
      });
      await expect(change(enableStaffAccount, staffId)).rejects.toMatchObject({
        code: "already_exists",
        parts: { details: [{ field: "/staffId" }] },
      });
      expect(await findActiveStaffAccount(db, staffId)).toBeUndefined();
      await change(disableStaffAccount, successor);
      await change(enableStaffAccount, staffId);
      expect(await authenticateStaffByPassword(db, "eight@shop.example", password)).toMatchObject({
        staffId,
      });
    });
  });

  describe("with a new password", () => {
    it("signs in only with the new one, and keeps or loses grants as requested", async () => {
      const staffId = await create({ email: "nine@shop.example" });
      const grantId = await letIn(staffId);
      await setPassword(staffId, "another password");
      expect(await authenticateStaffByPassword(db, "nine@shop.example", password)).toBeUndefined();
      expect(await authenticateStaffByPassword(db, "nine@shop.example", "another password")).toMatchObject({
        staffId,
        version: 2,
      });
      expect(await stateOf(staffId, grantId)).toEqual({
        disabledAt: null,
        revokedAt: null,
        version: 2,
        grantVersion: 1,
      });
      await setPassword(staffId, "a third password", { isRevokingGrants: true });
      expect(await stateOf(staffId, grantId)).toEqual({
        disabledAt: null,
        revokedAt: now,
        version: 3,
        grantVersion: 2,
      });
    });

    it.each(["eleven char", "p".repeat(257)])("is refused: %s", async (given) => {
      await expect(validateAndHashNewStaffPassword(given)).rejects.toMatchObject({
        code: "invalid_field",
        parts: { details: [{ field: "/password" }] },
      });
    });
  });

  it("can be changed only by its own merchant", async () => {
    const staffId = await create({ email: "six@shop.example" });
    const foreign = { code: "resource_not_found" };
    await expect(change(disableStaffAccount, staffId, "mer_other")).rejects.toMatchObject(foreign);
    await expect(setPassword(staffId, "another password", { by: "mer_other" })).rejects.toMatchObject(
      foreign,
    );
    expect(await authenticateStaffByPassword(db, "six@shop.example", password)).toMatchObject({
      staffId,
      version: 1,
    });
    await change(disableStaffAccount, staffId, merchantId);
    await expect(change(enableStaffAccount, staffId, "mer_other")).rejects.toMatchObject(foreign);
    expect(await findActiveStaffAccount(db, staffId)).toBeUndefined();
    await change(enableStaffAccount, staffId, merchantId);
    expect(await findActiveStaffAccount(db, staffId)).toBeDefined();
  });
});
