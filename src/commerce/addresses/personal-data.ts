/**
 * Stores addresses and e-mail addresses of buyers in the table `personal_data`. Each row contains the
 * encrypted value and a masked version that may be shown. Erasing a row deletes its data key, so that no copy
 * of the encrypted value can be decrypted, and reduces a masked address to its country.
 */
import {
  type CompiledQuery,
  type Insertable,
  type Selectable,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { Database } from "#database/connect.ts";
import type { PersonalDataTable, Tables } from "#database/tables.ts";
import {
  bufferWriteUntilNextStatement,
  runInTransaction,
  type DatabaseOrTransaction,
  type Transaction,
} from "#database/transaction.ts";
import type { EncryptionKeyring, EncryptionContext } from "#foundation/encryption.ts";
import type { AddressValidationLevel, PostalAddress } from "./postal-address.ts";
import { findMissingAddressFields } from "./check-address.ts";

/**
 * The decrypted value of a row of `personal_data`: a postal address with its validation level, or an e-mail
 * address.
 */
export type PersonalData =
  | { readonly kind: "address"; readonly address: PostalAddress; readonly level: AddressValidationLevel }
  | { readonly kind: "buyer_email"; readonly email: string };

export type PersonalDataToEncrypt = PersonalData & {
  readonly id: string;
  readonly merchantId: string;
  readonly cartId: string | null;
  readonly now: Date;
  readonly eraseAfter: Date | null;
};

export type PersonalDataRow = Selectable<PersonalDataTable>;
export type EncryptedPersonalDataRow = Pick<
  PersonalDataRow,
  "id" | "kind" | "level" | "sealed" | "dataKey" | "keyId"
>;

/**
 * Content of the column `masked` in a row of `personal_data` with an e-mail address. `emailHint` is the
 * masked e-mail address; null if the e-mail address was erased. For a postal address, the column contains a
 * MaskedAddress.
 */
export interface MaskedEmail {
  readonly emailHint: string | null;
}

/**
 * Encrypts a postal address or an e-mail address. Returns the row of `personal_data`, which the caller must
 * insert into the database.
 */
export function encryptPersonalData(
  keyring: EncryptionKeyring,
  data: PersonalDataToEncrypt,
): Insertable<PersonalDataTable> {
  const { id, merchantId, cartId, kind, now, eraseAfter } = data;
  const masked: MaskedAddress | MaskedEmail =
    data.kind === "address" ? maskAddress(data.address) : { emailHint: maskEmail(data.email) };
  const { sealed, dataKey, keyId } = keyring.seal(
    JSON.stringify(data.kind === "address" ? data.address : data.email),
    getPersonalDataEncryptionContext(id),
  );
  return {
    id,
    merchantId,
    cartId,
    kind,
    masked: JSON.stringify(masked),
    level: data.kind === "address" ? data.level : null,
    sealed,
    dataKey,
    keyId,
    createdAt: now,
    eraseAfter,
    erasedAt: null,
  };
}

/**
 * Decrypts a row of `personal_data`. Returns undefined if the row was erased; throws DecryptionError if the
 * row cannot be decrypted.
 */
export function decryptPersonalData(
  keyring: EncryptionKeyring,
  row: EncryptedPersonalDataRow,
): PersonalData | undefined {
  const { id, kind, level, sealed, dataKey, keyId } = row;
  if (sealed === null || dataKey === null || keyId === null) return undefined;
  const plain: unknown = JSON.parse(
    keyring.open({ sealed, dataKey, keyId }, getPersonalDataEncryptionContext(id)).toString("utf8"),
  );
  // The decrypted JSON needs no check of its format, because only `encryptPersonalData` writes encrypted
  // values to `personal_data`.
  return kind === "address"
    ? { kind, address: plain as PostalAddress, level: level ?? "basic" }
    : { kind, email: plain as string };
}

/**
 * Reads the rows of `personal_data` with the given ids, without decrypting them, in one statement. Ids
 * without a row are ignored. The caller must check that the rows belong to its merchant.
 */
export async function findEncryptedPersonalData(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, EncryptedPersonalDataRow>> {
  const { rows } = await reader.executeQuery(buildEncryptedPersonalDataSqlQuery(reader, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Returns the SQL statement that `findEncryptedPersonalData` runs, for callers that send it together with
 * other statements in one round trip.
 */
export const buildEncryptedPersonalDataSqlQuery = (
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): CompiledQuery<EncryptedPersonalDataRow> =>
  sql<EncryptedPersonalDataRow>`
    select id, kind, level, sealed, data_key as "dataKey", key_id as "keyId" from personal_data
    where id = any(${ids}::text[])`.compile(reader);

/**
 * Returns the table, column and row to which the encryption of a value of `personal_data` is bound. A value
 * that is copied to another row cannot be decrypted there.
 */
export const getPersonalDataEncryptionContext = (id: string): EncryptionContext => ({
  table: "personal_data",
  column: "sealed",
  rowId: id,
});

/** The columns of the tables `cart` and `sales_order` that contain ids of `personal_data` rows. */
export const personalDataColumns = sql.raw("address_id, buyer_email_id");

interface PersonalDataOwner {
  readonly address: { readonly id: string } | null;
  readonly buyerEmail: { readonly id: string } | null;
}

/**
 * Returns the ids of the `personal_data` rows of a cart or an order: its address and the buyer's e-mail
 * address.
 */
export function getPersonalDataIdsOfCartOrOrder({ address, buyerEmail }: PersonalDataOwner): string[] {
  return [address, buyerEmail].flatMap((row) => (row === null ? [] : [row.id]));
}

/**
 * Removes the planned erasure time from the personal data of an order. The order's cart has set this time;
 * without this function, the data would be erased some time after the end of the cart.
 */
export async function cancelPlannedErasureOfOrderData(
  transaction: Transaction,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const query = sql`update personal_data set erase_after = null where id = any(${ids}::text[])
    and erased_at is null`.compile(transaction);
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["personalData"] });
}

/**
 * Erases rows of `personal_data`. Returns the number of rows that this call erased, without rows that were
 * erased before.
 */
export async function erasePersonalData(
  transaction: Transaction,
  ids: readonly string[],
  now: Date,
): Promise<number> {
  if (ids.length === 0) return 0;
  const { numUpdatedRows } = await buildErasure(transaction, ids, now).executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Erases rows of `personal_data` with the next statement of the transaction or with its COMMIT. */
export function bufferPersonalDataErasure(
  transaction: Transaction,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  const query = buildErasure(transaction, ids, now).compile();
  return bufferWriteUntilNextStatement(transaction, { query, tables: ["personalData"] });
}

const buildErasure = (
  transaction: Transaction,
  ids: readonly string[],
  now: Date,
): UpdateQueryBuilder<Tables, "personalData", "personalData", UpdateResult> =>
  transaction
    .updateTable("personalData")
    .set({
      sealed: null,
      dataKey: null,
      keyId: null,
      pageDigest: null,
      erasedAt: now,
      masked: erasedMaskSql(),
    })
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .where("erasedAt", "is", null);

const batchRowsMax = 500;

/**
 * Erases all personal data whose retention time is over, in one transaction per batch, and returns the number
 * of erased rows. Skips rows that another process has locked.
 */
export async function erasePersonalDataPastRetention(db: Database, now: Date): Promise<number> {
  for (let total = 0; ;) {
    const erasedRows = await runInTransaction(db, (transaction) => eraseDueBatch(transaction, now));
    total += erasedRows;
    if (erasedRows < batchRowsMax) return total;
  }
}

async function eraseDueBatch(transaction: Transaction, now: Date): Promise<number> {
  const due = await transaction
    .selectFrom("personalData")
    .select("id")
    .where("erasedAt", "is", null)
    .where("eraseAfter", "<=", now)
    .orderBy("eraseAfter")
    .limit(batchRowsMax)
    .forUpdate()
    .skipLocked()
    .execute();
  return erasePersonalData(
    transaction,
    due.map(({ id }) => id),
    now,
  );
}

/**
 * Returns SQL for the masked value of an erased row. City, region and initials are removed, because they are
 * personal data too. The country is kept for statistics.
 */
function erasedMaskSql(): ReturnType<typeof sql<string>> {
  const { countryCode: _, ...maskWithoutCountry } = erasedMask("");
  return sql<string>`case kind
    when 'address' then jsonb_build_object('countryCode', masked -> 'countryCode') ||
    ${JSON.stringify(maskWithoutCountry)}::jsonb
    else ${JSON.stringify({ emailHint: null } satisfies MaskedEmail)}::jsonb end`;
}

/**
 * A masked postal address: the part that may be shown. It is enough for buyers to recognize their address,
 * but too little to reveal the address of another person.
 */
export interface MaskedAddress {
  readonly countryCode: string;
  readonly regionCode: string | null;
  readonly city: string | null;
  readonly postalCodePrefix: string | null;
  readonly recipientInitials: string | null;
  /** True if the stored address contains all address fields that its country requires. */
  readonly complete: boolean;
}

export function maskAddress(address: PostalAddress): MaskedAddress {
  return {
    countryCode: address.countryCode,
    regionCode: address.regionCode,
    city: address.city,
    postalCodePrefix: firstHalf(address.postalCode ?? ""),
    recipientInitials: nameInitials(address.recipientName),
    complete: findMissingAddressFields(address).length === 0,
  };
}

/** Returns the masked address that remains after the address was erased: only the country. */
function erasedMask(countryCode: string): MaskedAddress {
  return {
    countryCode,
    regionCode: null,
    city: null,
    postalCodePrefix: null,
    recipientInitials: null,
    complete: false,
  };
}

/** Masks an e-mail address: `anna@example.com` becomes `a•••@e•••.com`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf("@");
  if (at < 1) return maskDots;
  const [first = ""] = email;
  const [firstOfDomain = ""] = email.slice(at + 1);
  const dot = email.lastIndexOf(".");
  return `${first}${maskDots}@${firstOfDomain}${maskDots}${dot > at ? email.slice(dot) : ""}`;
}

const maskDots = "•••";

function firstHalf(postalCode: string): string | null {
  const characters = Array.from(postalCode);
  const half = characters.slice(0, Math.floor(characters.length / 2)).join("");
  return half.replace(/[\s-]+$/, "") || null;
}

/**
 * Returns the initials of the first and the last word of a name, for example `A. S.`; null if there are none.
 * A word of one letter in a script without capital letters, for example Chinese, has no initial, because the
 * letter would reveal the whole word.
 */
function nameInitials(name: string): string | null {
  const words = name.split(" ").flatMap((word) => {
    const letters = word.match(/\p{L}\p{M}*/gu) ?? [];
    const [initial] = letters;
    return initial === undefined || (letters.length === 1 && !hasCase(initial))
      ? []
      : [`${initial.toUpperCase()}.`];
  });
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.length === 0 ? null : ends.join(" ");
}

function hasCase(letter: string): boolean {
  return letter.toUpperCase() !== letter.toLowerCase();
}
