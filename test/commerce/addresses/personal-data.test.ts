/**
 * Buyers' addresses and e-mails are encrypted in the database, can be decrypted only in their row, and are
 * deleted by erasure.
 */
import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import {
  erasePersonalDataPastRetention,
  erasePersonalData,
  decryptPersonalData,
  type PersonalDataToEncrypt,
  encryptPersonalData,
} from "#commerce/addresses/personal-data.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createEncryptionKeyring, DecryptionError } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const now = new Date("2026-11-20T10:00:00.000Z");
const at = (ms: number): Date => new Date(now.getTime() + ms);
const keyring = createEncryptionKeyring([{ id: "k1", key: randomBytes(32) }]);
const merchantId = createId("merchant");
const { address } = normalizeAndValidateAddress(
  {
    recipientName: "Anna Beispiel",
    line1: "Unter den Linden 77",
    city: "Berlin",
    regionCode: "BE",
    postalCode: "10117",
    countryCode: "DE",
    phone: "+49301234567",
    email: "anna@example.com",
  },
  "strict",
);

const own = (parts: { readonly eraseAfter?: Date } = {}) => ({
  id: createId("personalData"),
  merchantId,
  cartId: null,
  now,
  eraseAfter: parts.eraseAfter ?? null,
});
const anAddress = (parts?: { readonly eraseAfter?: Date }): PersonalDataToEncrypt => ({
  kind: "address",
  address,
  level: "strict",
  ...own(parts),
});
const anEmail = (parts?: { readonly eraseAfter?: Date }): PersonalDataToEncrypt => ({
  kind: "buyer_email",
  email: "anna@example.com",
  ...own(parts),
});

describeOnBoth("personal data", (open, engine) => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await open();
    await database.db
      .insertInto("merchant")
      .values({
        id: merchantId,
        slug: "first",
        name: "First",
        mode: "test",
        defaultLocale: "en",
        defaultMarket: "DE",
        createdAt: now,
        updatedAt: now,
      })
      .execute();
  });
  beforeEach(() => database.db.deleteFrom("personalData").execute());

  async function insert(...all: readonly PersonalDataToEncrypt[]): Promise<void> {
    await database.db
      .insertInto("personalData")
      .values(all.map((data) => encryptPersonalData(keyring, data)))
      .execute();
  }
  const rowOf = ({ id }: PersonalDataToEncrypt) =>
    database.db.selectFrom("personalData").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const erase = (ids: readonly string[], when: Date) =>
    runInTransaction(database.db, (transaction) => erasePersonalData(transaction, ids, when));

  it("decrypts to the sealed values, and has a mask", async () => {
    const [first, second] = [anAddress({ eraseAfter: at(1000) }), anEmail()];
    await insert(first, second);
    expect(decryptPersonalData(keyring, await rowOf(first))).toEqual({
      kind: "address",
      address,
      level: "strict",
    });
    expect(decryptPersonalData(keyring, await rowOf(second))).toEqual({
      kind: "buyer_email",
      email: "anna@example.com",
    });
    expect(await rowOf(first)).toMatchObject({
      level: "strict",
      masked: {
        countryCode: "DE",
        regionCode: "DE-BE",
        city: "Berlin",
        postalCodePrefix: "10",
        recipientInitials: "A. B.",
        complete: true,
      },
      keyId: "k1",
      createdAt: now,
      eraseAfter: at(1000),
      erasedAt: null,
    });
    expect((await rowOf(second)).masked).toEqual({ emailHint: "a•••@e•••.com" });
  });

  it("is in no column in clear text", async () => {
    await insert(anAddress(), anEmail());
    // The hexadecimal form of random bytes could contain a postal code by chance.
    const { rows } = await sql<{ text: string }>`
      select (to_jsonb(p) - 'sealed' - 'data_key')::text || encode(sealed, 'escape') ||
        encode(data_key, 'escape') as text
      from personal_data p`.execute(database.db);
    expect(rows).toHaveLength(2);
    for (const { text } of rows)
      for (const secret of ["Anna", "Beispiel", "Linden", "10117", "301234567", "anna@", "example"])
        expect(text).not.toContain(secret);
  });

  it("cannot be decrypted in another row, nor with the key of another row", async () => {
    const [first, second] = [anAddress(), anAddress()];
    await insert(first, second);
    const [one, other] = [await rowOf(first), await rowOf(second)];
    expect(() => decryptPersonalData(keyring, { ...one, id: other.id })).toThrow(DecryptionError);
    expect(() => decryptPersonalData(keyring, { ...one, dataKey: other.dataKey })).toThrow(DecryptionError);
    expect(() =>
      decryptPersonalData(createEncryptionKeyring([{ id: "k1", key: randomBytes(32) }]), one),
    ).toThrow(DecryptionError);
  });

  it("leaves only the country after erasure; rows that were erased before do not change", async () => {
    const [first, second, kept] = [anAddress(), anEmail(), anAddress()];
    await insert(first, second, kept);
    expect(await erase([first.id, second.id, "psd_unknown"], at(1))).toBe(2);
    expect(await erase([first.id], at(2))).toBe(0);
    expect(await erase([], at(2))).toBe(0);
    const gone = { sealed: null, dataKey: null, keyId: null, erasedAt: at(1) };
    expect(await rowOf(first)).toMatchObject({
      ...gone,
      masked: {
        countryCode: "DE",
        regionCode: null,
        city: null,
        postalCodePrefix: null,
        recipientInitials: null,
        complete: false,
      },
    });
    expect(await rowOf(second)).toMatchObject({ ...gone, masked: { emailHint: null } });
    expect(decryptPersonalData(keyring, await rowOf(first))).toBeUndefined();
    expect(decryptPersonalData(keyring, await rowOf(kept))).toMatchObject({ address });
  });

  it("is erased when due, in as many batches as needed", async () => {
    const due = Array.from({ length: 1201 }, (_, index) => anEmail({ eraseAfter: at(-index) }));
    const later = anAddress({ eraseAfter: at(1) });
    const never = anAddress();
    for (let from = 0; from < due.length; from += 400) await insert(...due.slice(from, from + 400));
    await insert(later, never);
    expect(await erasePersonalDataPastRetention(database.db, now)).toBe(1201);
    expect(await erasePersonalDataPastRetention(database.db, now)).toBe(0);
    expect((await rowOf(later)).erasedAt).toBeNull();
    expect(await erasePersonalDataPastRetention(database.db, at(1))).toBe(1);
    expect((await rowOf(never)).erasedAt).toBeNull();
    const { left } = await database.db
      .selectFrom("personalData")
      .select(({ fn }) => fn.countAll<string>().as("left"))
      .where("sealed", "is not", null)
      .executeTakeFirstOrThrow();
    expect(Number(left)).toBe(1);
  });

  it("is erased once by concurrent sweeps", async () => {
    await insert(...Array.from({ length: 300 }, () => anEmail({ eraseAfter: now })));
    const counts = await Promise.all([
      erasePersonalDataPastRetention(database.db, now),
      erasePersonalDataPastRetention(database.db, now),
      erasePersonalDataPastRetention(database.db, now),
    ]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
  });

  it.runIf(engine === "postgres")(
    "is skipped while another transaction locks its row, and erased by the next sweep",
    async () => {
      const [busy, free] = [anEmail({ eraseAfter: now }), anEmail({ eraseAfter: now })];
      await insert(busy, free);
      const held = Promise.withResolvers<void>();
      const swept = Promise.withResolvers<void>();
      const change = runInTransaction(database.db, async (transaction) => {
        await transaction
          .selectFrom("personalData")
          .select("id")
          .where("id", "=", busy.id)
          .forUpdate()
          .execute();
        held.resolve();
        await swept.promise;
      });
      await held.promise;
      const sweep = erasePersonalDataPastRetention(database.db, now);
      const first = await Promise.race([sweep, setTimeout(20_000, "it waits", { ref: false })]);
      swept.resolve();
      await Promise.all([change, sweep]);
      expect(first).toBe(1);
      expect((await rowOf(busy)).erasedAt).toBeNull();
      expect((await rowOf(free)).erasedAt).toEqual(now);
      expect(await erasePersonalDataPastRetention(database.db, now)).toBe(1);
    },
  );
});
