/** The stored audit log: entries cannot be changed or deleted, and name the merchant whose data was affected. */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import {
  appendAuditEntries,
  type NewAuditEntry,
  getAuditActor,
  buildAuditEntrySqlQuery,
  streamAuditEntryPages,
  commandLineActor,
} from "#access/audit.ts";
import { createStaffAccount, validateStaffFieldsAndHashPassword } from "#access/people/staff.ts";
import { registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createId, getObjectKindOfId } from "#foundation/ids.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const access = { merchantId: null, now };
const nothing = { merchantId: null, action: "test", targetId: null, requestId: null, details: {} } as const;

describeOnBoth("the audit log", (open) => {
  let db: Database;
  let merchantId: string;
  const write = (entry: Partial<NewAuditEntry>): Promise<void> =>
    runInTransaction(db, (transaction) =>
      appendAuditEntries(transaction, { ...commandLineActor, ...nothing, now, ...entry }),
    );
  const last = () =>
    buildAuditEntrySqlQuery(db, { merchantId: null })
      .orderBy("id", "desc")
      .limit(1)
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

  it("stores an entry, and rolls it back with its transaction", async () => {
    await write({ now, action: "kept", requestId: "req_1", details: { fields: ["name"] } });
    const entry = {
      actor: "command",
      actorId: null,
      action: "kept",
      requestId: "req_1",
      at: now,
      details: { fields: ["name"] },
    };
    expect(await last()).toMatchObject({
      id: expect.stringMatching(/^aud_/),
      merchantId: null,
      targetType: null,
      targetId: null,
      ...entry,
    });
    const undone = runInTransaction(db, async (transaction) => {
      await appendAuditEntries(transaction, {
        ...commandLineActor,
        ...nothing,
        merchantId,
        now,
        action: "undone",
      });
      throw new Error("no");
    });
    await expect(undone).rejects.toThrow("no");
    expect(await buildAuditEntrySqlQuery(db, { merchantId, action: "undone" }).execute()).toEqual([]);
  });

  it.each([
    ["changed", sql`update audit_entry set action = 'another'`],
    ["deleted", sql`delete from audit_entry`],
    ["emptied", sql`truncate audit_entry`],
  ])("cannot be %s", async (_how, statement) => {
    await write({ action: "stays" });
    const before = await buildAuditEntrySqlQuery(db, { merchantId: null }).orderBy("id").execute();
    await expect(statement.execute(db)).rejects.toThrow("audit_entry is append-only");
    expect(await buildAuditEntrySqlQuery(db, { merchantId: null }).orderBy("id").execute()).toEqual(before);
  });

  it("shows a merchant what the platform did to the merchant's data", async () => {
    const person = await validateStaffFieldsAndHashPassword({
      email: "ana@shop.example",
      name: "Ana",
      password: "a long enough password",
    });
    const [installationId, staffId] = await runInTransaction(db, async (transaction) => {
      const appId = await registerApp(transaction, access, { name: "App", publisher: null });
      return [
        await createInstallation(transaction, access, { merchantId, appId, scopes: [] }),
        await createStaffAccount(transaction, access, { merchantId, ...person }),
      ];
    });
    const targets = [merchantId, installationId, staffId, createId("cart"), null];
    for (const targetId of targets) {
      await write({ targetId });
      const owner = [merchantId, installationId, staffId].some((id) => id === targetId) ? merchantId : null;
      expect(await last()).toMatchObject({ targetId, merchantId: owner });
    }
    await write({ targetId: "a-thumbprint" });
    expect(await last()).toMatchObject({ targetType: null, targetId: "a-thumbprint" });
    await write({ targetId: "a-thumbprint", targetType: "signing_key" });
    expect(await last()).toMatchObject({ targetType: "signing_key", targetId: "a-thumbprint" });
    // The id's prefix decides the target's type.
    await write({ targetId: merchantId, targetType: "signing_key" });
    expect(await last()).toMatchObject({ targetType: "merchant", targetId: merchantId });
  });

  it("keeps the order of entries of one millisecond, and finds entries by actor with an index", async () => {
    const actions = Array.from({ length: 200 }, (_, index) => `step-${index}`);
    for (const action of actions)
      await write({ merchantId, actor: "operator", actorId: "tok_steps", action });
    const seen: string[] = [];
    for await (const rows of streamAuditEntryPages(db, { merchantId: null, actorId: "tok_steps" }))
      seen.push(...rows.map(({ action }) => action));
    expect(seen).toEqual(actions);
    await sql`set enable_seqscan = off`.execute(db);
    const query = buildAuditEntrySqlQuery(db, { merchantId: null, actorId: "tok_steps" })
      .orderBy("id", "desc")
      .limit(50)
      .compile();
    const { rows } = await sql<
      Record<string, string>
    >`explain ${sql.raw(query.sql.replace("$1", "'tok_steps'").replace("$2", "50"))}`.execute(db);
    expect(rows.map((row) => Object.values(row)[0]).join("\n")).toContain("audit_entry_by_actor");
  });

  it("is filtered by merchant, actor, action, target and time, page by page", async () => {
    const targetId = createId("checkoutSession");
    const later = new Date(now.getTime() + 86_400_000);
    for (let count = 0; count < 1_003; count += 1)
      await write({ merchantId, action: "many", now: new Date(later.getTime() + count) });
    await write({ merchantId, actor: "staff", actorId: "tok_1", action: "one", targetId, now: later });
    const count = async (filter: Partial<Parameters<typeof buildAuditEntrySqlQuery>[1]>): Promise<number> =>
      (await buildAuditEntrySqlQuery(db, { merchantId: null, ...filter }).execute()).length;
    expect(await count({ merchantId, actor: "staff" })).toBe(1);
    expect(await count({ actorId: "tok_1", action: "one", targetId })).toBe(1);
    expect(await count({ merchantId: "mer_other" })).toBe(0);
    expect(
      await count({
        action: "many",
        from: new Date(later.getTime() + 3),
        until: new Date(later.getTime() + 10),
      }),
    ).toBe(7);
    const seen: string[] = [];
    for await (const rows of streamAuditEntryPages(db, { merchantId, from: later }))
      seen.push(...rows.map(({ id }) => id));
    expect(seen).toHaveLength(1_004);
    expect(seen).toEqual([...new Set(seen)].toSorted());
    expect(await last()).toMatchObject({ action: "many" });
    expect((await buildAuditEntrySqlQuery(db, { merchantId: null, targetId }).execute())[0]?.targetType).toBe(
      "checkout_session",
    );
  });
});

it("an audit entry has an actor for staff members and apps, and none for buyers", () => {
  const installation = {
    installationId: "ins_1",
    appId: "app_1",
    merchantId: "mer_1",
    scopes: new Set<never>(),
    suspended: null,
  };
  expect(getAuditActor({ kind: "api_key", apiKeyId: "key_1", keyPrefix: "cpk", ...installation })).toEqual({
    actor: "api_key",
    actorId: "key_1",
  });
  expect(getAuditActor({ kind: "oauth", grantId: "grt_1", clientId: "oac_1", ...installation })).toEqual({
    actor: "oauth_client",
    actorId: "grt_1",
  });
  const token = { kind: "internal", tokenId: "tok_1", merchantId: null } as const;
  expect(getAuditActor({ ...token, role: "admin" })).toEqual({ actor: "staff", actorId: "tok_1" });
  expect(getAuditActor({ ...token, role: "operator" })).toEqual({ actor: "operator", actorId: "tok_1" });
  expect(getAuditActor({ ...token, role: "storefront" })).toBeUndefined();
  expect(getAuditActor({ ...token, role: "analyst" })).toEqual({ actor: "staff", actorId: "tok_1" });
  expect(getAuditActor({ kind: "anonymous" })).toBeUndefined();
  expect(getAuditActor({ kind: "system", merchantId: "mer_1" })).toBeUndefined();
});

it("the audit log recognizes the type of an id, and rejects other texts", () => {
  expect(getObjectKindOfId(createId("cart"))).toBe("cart");
  expect(getObjectKindOfId(createId("webhookEndpoint"))).toBe("webhookEndpoint");
  expect(
    ["", "cart", "cart_", "cart_1", "nobody_00000000000000000000000000", `${createId("cart")}x`].map(
      getObjectKindOfId,
    ),
  ).toEqual(Array.from({ length: 6 }, () => undefined));
});
