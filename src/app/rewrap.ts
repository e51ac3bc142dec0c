/**
 * Gives every encrypted row a data key that is wrapped by the first of ENCRYPTION_KEYS, so that the others
 * can be taken away. It runs beside the service, page by page, and goes on where it stopped: a row that has
 * the first key already is passed over. A row that somebody changes meanwhile is left to them.
 */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { inTransaction } from "#database/transaction.ts";
import { DecryptionFailed, type Keyring, type Place } from "#foundation/encryption.ts";
import { oauthItemSealContext } from "#access/oauth/oauth-items.ts";
import { signingKeySealContext } from "#access/oauth/signing-keys.ts";
import { personalDataSealContext as placeOfPersonalData } from "#commerce/addresses/personal-data.ts";
import { sessionSecretSealContext } from "#commerce/checkout/session-aggregate.ts";
import { tokenPlaceOf } from "#commerce/payments/payment-rows.ts";
import { placeOfRecord } from "#database/idempotency.ts";
import { placeOfSecret } from "#webhooks/signatures.ts";

export interface RewrapResult {
  readonly table: string;
  readonly rewrapped: number;
  /** What does not open, and why; left as it is. */
  readonly broken: readonly string[];
  /** With another key than the first all the same: somebody goes on writing with it. */
  readonly left: number;
}

export interface RewrapParts {
  readonly db: Database;
  readonly keyring: Keyring;
  /** Rows that were looked at since the last call. */
  readonly onProgress?: (rows: number) => void;
}

interface SealedValuesCheck {
  readonly table: string;
  readonly opened: number;
  readonly broken: readonly string[];
}

/** Everything with whichever key it was written under, and writes nothing. */
export async function checkSealedValues({
  db,
  keyring,
}: Pick<RewrapParts, "db" | "keyring">): Promise<SealedValuesCheck[]> {
  const results: SealedValuesCheck[] = [];
  for (const column of sealedColumns) {
    const broken: string[] = [];
    let opened = 0;
    for await (const rows of pagesOf(db, { column, besides: undefined }))
      for (const row of rows) opened += opens(row, { keyring, column, broken }) ? 1 : 0;
    results.push({ table: column.table, opened, broken });
  }
  return results;
}

export async function rewrapSealedValues(parts: RewrapParts): Promise<RewrapResult[]> {
  const results: RewrapResult[] = [];
  for (const column of sealedColumns) results.push(await rewrapColumn(parts, column));
  return results;
}

/** How many rows there are to look at. */
export async function countRowsToRewrap({ db, keyring }: RewrapParts): Promise<number> {
  let total = 0;
  for (const column of sealedColumns) total += await countOthers(db, keyring, column);
  return total;
}

async function countOthers(
  db: Database,
  { currentKeyId }: Keyring,
  { table, keyId }: SealedColumn,
): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from ${sql.table(table)} where ${sql.ref(keyId)} <> ${currentKeyId}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

const rowsAtOnce = 200;

async function rewrapColumn(
  { db, keyring, onProgress }: RewrapParts,
  column: SealedColumn,
): Promise<RewrapResult> {
  const broken: string[] = [];
  let rewrapped = 0;
  for await (const rows of pagesOf(db, { column, besides: keyring.currentKeyId })) {
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

/** Keys as texts, bytes in hex. */
interface OldRow {
  readonly first: string;
  readonly second: string;
  readonly sealed: Uint8Array;
  readonly dataKey: Uint8Array;
  readonly keyId: string;
}

interface Looking {
  readonly column: SealedColumn;
  /** Rows of this key are passed over. */
  readonly besides: string | undefined;
}

async function* pagesOf(db: Database, looking: Looking): AsyncGenerator<OldRow[]> {
  for (let after: OldRow | undefined; ;) {
    const rows = await findRows(db, { ...looking, after });
    yield rows;
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1);
  }
}

async function findRows(
  db: Database,
  { column, besides, after }: Looking & { readonly after: OldRow | undefined },
): Promise<OldRow[]> {
  const { table, sealed, dataKey, keyId, key } = column;
  const [one, two] = key;
  const names = sql.join(key.map(({ name }) => sql.ref(name)));
  const behind =
    after === undefined
      ? sql`true`
      : two === undefined
        ? sql`${sql.ref(one.name)} > ${after.first}`
        : sql`(${names}) > (${valueOf(one.type, sql`${after.first}`)}, ${valueOf(two.type, sql`${after.second}`)})`;
  const { rows } = await sql<OldRow>`
    select ${textOf(one)} as first, ${two === undefined ? sql`''` : textOf(two)} as second,
      ${sql.ref(sealed)} as sealed, ${sql.ref(dataKey)} as data_key, ${sql.ref(keyId)} as key_id
    from ${sql.table(table)} where ${sql.ref(keyId)} <> ${besides ?? ""} and ${behind} order by ${names} limit ${rowsAtOnce}`.execute(
    db,
  );
  return rows;
}

const textOf = ({ name, type }: SealedKeyColumn): RawBuilder<unknown> =>
  type === "bytea" ? sql`encode(${sql.ref(name)}, 'hex')` : sql.ref(name);
const valueOf = (type: SealedKeyColumn["type"], value: RawBuilder<unknown>): RawBuilder<unknown> =>
  type === "bytea" ? sql`decode(${value}, 'hex')` : value;

interface RenewedRow extends OldRow {
  readonly newDataKey: Uint8Array;
}

interface Opening {
  readonly keyring: Keyring;
  readonly column: SealedColumn;
  readonly broken: string[];
}

/** What does not open is named. */
function opens(row: OldRow, { keyring, column, broken }: Opening): boolean {
  try {
    keyring.open(row, column.placeOf(row.first, row.second));
    return true;
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error;
    broken.push(error.message);
    return false;
  }
}

function rewrapRow(row: OldRow, opening: Opening): RenewedRow[] {
  if (!opens(row, opening)) return [];
  return [
    {
      ...row,
      newDataKey: opening.keyring.rewrap(row, opening.column.placeOf(row.first, row.second)).dataKey,
    },
  ];
}

interface Saving {
  readonly column: SealedColumn;
  readonly currentKeyId: string;
  readonly renewed: readonly RenewedRow[];
}

/** Only where the data key is still the one that was read: what was erased or written anew meanwhile stays so. */
function saveRows(db: Database, { column, currentKeyId, renewed }: Saving): Promise<number> {
  const { table, dataKey, keyId, key } = column;
  const [one, two] = key;
  const hex = (value: (row: RenewedRow) => Uint8Array): string[] =>
    renewed.map((row) => Buffer.from(value(row)).toString("hex"));
  const isSame = sql`t.${sql.ref(one.name)} = ${valueOf(one.type, sql`n.first`)} ${
    two === undefined ? sql`` : sql`and t.${sql.ref(two.name)} = ${valueOf(two.type, sql`n.second`)}`
  }`;
  return inTransaction(db, async (transaction) => {
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} t set ${sql.ref(dataKey)} = decode(n.new_key, 'hex'), ${sql.ref(keyId)} = ${currentKeyId}
      from unnest(
        ${renewed.map(({ first }) => first)}::text[], ${renewed.map(({ second }) => second)}::text[],
        ${hex((row) => row.dataKey)}::text[], ${hex((row) => row.newDataKey)}::text[]
      ) as n (first, second, old_key, new_key)
      where ${isSame} and t.${sql.ref(dataKey)} = decode(n.old_key, 'hex')`.execute(transaction);
    return Number(numAffectedRows);
  });
}

/**
 * Every place where something lies encrypted: what has to be known to give its rows new keys, or to look
 * whether they open.
 */
interface SealedKeyColumn {
  readonly name: string;
  readonly type: "text" | "bytea";
}

interface SealedColumn {
  readonly table: string;
  /** Names of columns. Where a row holds nothing, all three are null. */
  readonly sealed: string;
  readonly dataKey: string;
  readonly keyId: string;
  /** The primary key. */
  readonly key: readonly [SealedKeyColumn] | readonly [SealedKeyColumn, SealedKeyColumn];
  /** Where a row's text was sealed for, by its primary key; bytes are given in hex. */
  readonly placeOf: (first: string, second: string) => Place;
}

const id = [{ name: "id", type: "text" }] as const;
const columns = { sealed: "sealed", dataKey: "data_key", keyId: "key_id" } as const;
const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");

export const sealedColumns: readonly SealedColumn[] = [
  { table: "webhook_secret", ...columns, key: id, placeOf: placeOfSecret },
  { table: "personal_data", ...columns, key: id, placeOf: placeOfPersonalData },
  {
    table: "payment",
    sealed: "token_sealed",
    dataKey: "token_data_key",
    keyId: "token_key_id",
    key: id,
    placeOf: tokenPlaceOf,
  },
  {
    table: "hosted_checkout_session",
    sealed: "url_sealed",
    dataKey: "url_data_key",
    keyId: "url_key_id",
    key: id,
    placeOf: sessionSecretSealContext,
  },
  { table: "oauth_signing_key", ...columns, key: id, placeOf: signingKeySealContext },
  {
    table: "oauth_item",
    ...columns,
    key: [
      { name: "kind", type: "text" },
      { name: "digest", type: "bytea" },
    ],
    placeOf: (kind, digest) => oauthItemSealContext(kind, bytes(digest)),
  },
  {
    table: "idempotency_record",
    ...columns,
    key: [
      { name: "owner_id", type: "text" },
      { name: "idempotency_key", type: "bytea" },
    ],
    placeOf: (ownerId, digest) => placeOfRecord({ ownerId, digest: bytes(digest) }),
  },
];
