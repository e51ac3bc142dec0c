/**
 * Encrypts the data keys of all encrypted rows again with the first key of ENCRYPTION_KEYS, so that the
 * operator can remove the other keys from the setting. The service can keep running meanwhile. Rows that
 * already use the first key are skipped, so a new run continues where an interrupted run stopped. Rows that
 * another process changes during the run are skipped too.
 */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { DecryptionError, type EncryptionKeyring, type EncryptionContext } from "#foundation/encryption.ts";
import { getOauthServerRecordEncryptionContext } from "#access/oauth/oauth-items.ts";
import { getSigningKeyEncryptionContext } from "#access/oauth/signing-keys.ts";
import { getPersonalDataEncryptionContext } from "#commerce/addresses/personal-data.ts";
import { getCheckoutPageSecretEncryptionContext } from "#commerce/checkout/session-aggregate.ts";
import { getPaymentConnectionEncryptionContext } from "#commerce/payments/connections.ts";
import { getPaymentTokenEncryptionContext } from "#commerce/payments/payment-rows.ts";
import { getIdempotencyRecordEncryptionContext } from "#database/idempotency.ts";
import { getWebhookSecretEncryptionContext } from "#webhooks/signatures.ts";

export interface DataKeyRewrapResult {
  readonly table: string;
  readonly rewrapped: number;
  /**
   * A list with one text for each value that could not be decrypted. The text has the row and the reason.
   * These values are not changed.
   */
  readonly broken: readonly string[];
  /**
   * The number of rows whose data key is still encrypted with another key than the first one of
   * ENCRYPTION_KEYS after the run. Such rows remain if a running process has older settings, and therefore
   * still encrypts with another key.
   */
  readonly left: number;
}

export interface DataKeyRewrapOptions {
  readonly db: Database;
  readonly keyring: EncryptionKeyring;
  /** Called repeatedly to report progress, with the number of rows processed since the previous call. */
  readonly onProgress?: (rows: number) => void;
}

interface SealedValuesCheck {
  readonly table: string;
  readonly opened: number;
  readonly broken: readonly string[];
}

/**
 * Checks that every encrypted value in the database can be decrypted with the configured keys. Changes no
 * data.
 */
export async function verifyAllEncryptedValues({
  db,
  keyring,
}: Pick<DataKeyRewrapOptions, "db" | "keyring">): Promise<SealedValuesCheck[]> {
  const results: SealedValuesCheck[] = [];
  for (const column of sealedColumns) {
    const broken: string[] = [];
    let opened = 0;
    for await (const rows of pagesOf(db, { column, skippedKeyId: undefined }))
      for (const row of rows) opened += canDecrypt(row, { keyring, column, broken }) ? 1 : 0;
    results.push({ table: column.table, opened, broken });
  }
  return results;
}

/**
 * Decrypts some encrypted values of each table. Throws `DecryptionError` for the first value that cannot be
 * decrypted.
 */
export async function verifySampledEncryptedValues({
  db,
  keyring,
}: Pick<DataKeyRewrapOptions, "db" | "keyring">): Promise<void> {
  for (const column of sealedColumns)
    for (const row of await findRows(db, { column, skippedKeyId: undefined, after: undefined }))
      keyring.open(row, column.sealContextOf(row.first, row.second));
}

export async function rewrapDataKeys(options: DataKeyRewrapOptions): Promise<DataKeyRewrapResult[]> {
  const results: DataKeyRewrapResult[] = [];
  for (const column of sealedColumns) results.push(await rewrapColumn(options, column));
  return results;
}

/** Counts the rows whose data key is not encrypted with the first key of ENCRYPTION_KEYS. */
export async function countRowsWithOldEncryptionKey({ db, keyring }: DataKeyRewrapOptions): Promise<number> {
  let total = 0;
  for (const column of sealedColumns) total += await countOthers(db, keyring, column);
  return total;
}

async function countOthers(
  db: Database,
  { currentKeyId }: EncryptionKeyring,
  { table, keyId }: SealedColumn,
): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from ${sql.table(table)} where ${sql.ref(keyId)} <> ${currentKeyId}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

const rowsPerPage = 200;

async function rewrapColumn(
  { db, keyring, onProgress }: DataKeyRewrapOptions,
  column: SealedColumn,
): Promise<DataKeyRewrapResult> {
  const broken: string[] = [];
  let rewrapped = 0;
  for await (const rows of pagesOf(db, { column, skippedKeyId: keyring.currentKeyId })) {
    const renewed = rows.flatMap((row) => rewrapRow(row, { keyring, column, broken }));
    if (renewed.length > 0)
      rewrapped += await saveRows(db, { column, currentKeyId: keyring.currentKeyId, renewed });
    onProgress?.(rows.length);
  }
  return {
    table: column.table,
    rewrapped,
    broken,
    left: (await countOthers(db, keyring, column)) - broken.length,
  };
}

/**
 * A row with an encrypted value. `first` and `second` are the values of the row's primary key columns as
 * texts; a value of type bytea is written in hexadecimal.
 */
interface SealedRow {
  readonly first: string;
  readonly second: string;
  readonly sealed: Uint8Array;
  readonly dataKey: Uint8Array;
  readonly keyId: string;
}

interface PageQuery {
  readonly column: SealedColumn;
  /**
   * The id of the encryption key whose rows are skipped: rows with a data key that this key has encrypted. If
   * undefined, all rows are read.
   */
  readonly skippedKeyId: string | undefined;
}

async function* pagesOf(db: Database, query: PageQuery): AsyncGenerator<SealedRow[]> {
  for (let after: SealedRow | undefined; ;) {
    const rows = await findRows(db, { ...query, after });
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = rows.at(-1);
  }
}

async function findRows(
  db: Database,
  { column, skippedKeyId, after }: PageQuery & { readonly after: SealedRow | undefined },
): Promise<SealedRow[]> {
  const { table, sealed, dataKey, keyId, key } = column;
  const [one, two] = key;
  const names = sql.join(key.map(({ name }) => sql.ref(name)));
  const behind =
    after === undefined
      ? sql`true`
      : two === undefined
        ? sql`${sql.ref(one.name)} > ${after.first}`
        : sql`(${names}) > (${valueOf(one.type, sql`${after.first}`)},
          ${valueOf(two.type, sql`${after.second}`)})`;
  const { rows } = await sql<SealedRow>`
    select ${textOf(one)} as first, ${two === undefined ? sql`''` : textOf(two)} as second,
      ${sql.ref(sealed)} as sealed, ${sql.ref(dataKey)} as data_key, ${sql.ref(keyId)} as key_id
    from ${sql.table(table)} where ${sql.ref(keyId)} <> ${skippedKeyId ?? ""} and ${behind} order by ${names}
    limit ${rowsPerPage}`.execute(db);
  return rows;
}

const textOf = ({ name, type }: SealedKeyColumn): RawBuilder<unknown> =>
  type === "bytea" ? sql`encode(${sql.ref(name)}, 'hex')` : sql.ref(name);
const valueOf = (type: SealedKeyColumn["type"], value: RawBuilder<unknown>): RawBuilder<unknown> =>
  type === "bytea" ? sql`decode(${value}, 'hex')` : value;

interface RenewedRow extends SealedRow {
  readonly newDataKey: Uint8Array;
}

interface DecryptOptions {
  readonly keyring: EncryptionKeyring;
  readonly column: SealedColumn;
  readonly broken: string[];
}

/**
 * Returns whether the value of a row can be decrypted. If not, adds a text with the reason to the list
 * `broken`.
 */
function canDecrypt(row: SealedRow, { keyring, column, broken }: DecryptOptions): boolean {
  try {
    keyring.open(row, column.sealContextOf(row.first, row.second));
    return true;
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    broken.push(error.message);
    return false;
  }
}

function rewrapRow(row: SealedRow, options: DecryptOptions): RenewedRow[] {
  if (!canDecrypt(row, options)) return [];
  return [
    {
      ...row,
      newDataKey: options.keyring.rewrap(row, options.column.sealContextOf(row.first, row.second)).dataKey,
    },
  ];
}

interface RewrappedRows {
  readonly column: SealedColumn;
  readonly currentKeyId: string;
  readonly renewed: readonly RenewedRow[];
}

/**
 * Saves the newly encrypted data keys of rows. Skips a row whose data key has changed since it was read,
 * because another process has meanwhile erased the value or written a new one.
 */
function saveRows(db: Database, { column, currentKeyId, renewed }: RewrappedRows): Promise<number> {
  const { table, dataKey, keyId, key } = column;
  const [one, two] = key;
  const hex = (value: (row: RenewedRow) => Uint8Array): string[] =>
    renewed.map((row) => Buffer.from(value(row)).toString("hex"));
  const isSame = sql`t.${sql.ref(one.name)} = ${valueOf(one.type, sql`n.first`)} ${
    two === undefined ? sql`` : sql`and t.${sql.ref(two.name)} = ${valueOf(two.type, sql`n.second`)}`
  }`;
  return runInTransaction(db, async (transaction) => {
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} t set ${sql.ref(dataKey)} = decode(n.new_key, 'hex'), ${sql.ref(keyId)} =
      ${currentKeyId}
      from unnest(
        ${renewed.map(({ first }) => first)}::text[], ${renewed.map(({ second }) => second)}::text[],
        ${hex((row) => row.dataKey)}::text[], ${hex((row) => row.newDataKey)}::text[]
      ) as n (first, second, old_key, new_key)
      where ${isSame} and t.${sql.ref(dataKey)} = decode(n.old_key, 'hex')`.execute(transaction);
    return Number(numAffectedRows);
  });
}

/** A column of the primary key of a table with encrypted values. */
interface SealedKeyColumn {
  readonly name: string;
  readonly type: "text" | "bytea";
}

interface SealedColumn {
  readonly table: string;
  /**
   * The names of the three columns that store an encrypted value: the value, the value's data key
   * (encrypted), and the id of the encryption key. In a row without an encrypted value, all three are null.
   */
  readonly sealed: string;
  readonly dataKey: string;
  readonly keyId: string;
  /** The one or two columns of the table's primary key. */
  readonly key: readonly [SealedKeyColumn] | readonly [SealedKeyColumn, SealedKeyColumn];
  /**
   * Returns the table, column and row id to which the encryption of the row's value is bound. The function
   * gets the values of the row's primary key as texts; a value of type bytea is written in hexadecimal.
   */
  readonly sealContextOf: (first: string, second: string) => EncryptionContext;
}

const id = [{ name: "id", type: "text" }] as const;
const columns = { sealed: "sealed", dataKey: "data_key", keyId: "key_id" } as const;
const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");

export const sealedColumns: readonly SealedColumn[] = [
  { table: "webhook_secret", ...columns, key: id, sealContextOf: getWebhookSecretEncryptionContext },
  { table: "payment_connection", ...columns, key: id, sealContextOf: getPaymentConnectionEncryptionContext },
  { table: "personal_data", ...columns, key: id, sealContextOf: getPersonalDataEncryptionContext },
  {
    table: "payment",
    sealed: "token_sealed",
    dataKey: "token_data_key",
    keyId: "token_key_id",
    key: id,
    sealContextOf: getPaymentTokenEncryptionContext,
  },
  {
    table: "hosted_checkout_session",
    sealed: "url_sealed",
    dataKey: "url_data_key",
    keyId: "url_key_id",
    key: id,
    sealContextOf: getCheckoutPageSecretEncryptionContext,
  },
  { table: "oauth_signing_key", ...columns, key: id, sealContextOf: getSigningKeyEncryptionContext },
  {
    table: "oauth_item",
    ...columns,
    key: [
      { name: "kind", type: "text" },
      { name: "digest", type: "bytea" },
    ],
    sealContextOf: (kind, digest) => getOauthServerRecordEncryptionContext(kind, bytes(digest)),
  },
  {
    table: "idempotency_record",
    ...columns,
    key: [
      { name: "owner_id", type: "text" },
      { name: "idempotency_key", type: "bytea" },
    ],
    sealContextOf: (ownerId, digest) =>
      getIdempotencyRecordEncryptionContext({ ownerId, digest: bytes(digest) }),
  },
];
