/** Decrypts all sealed values of a database. */
import { sql } from "kysely";
import { sealedColumns } from "#app/rewrap.ts";
import type { Database } from "#database/connect.ts";
import type { EncryptionKeyring, EncryptedValue } from "#foundation/encryption.ts";

export interface SealedRow extends EncryptedValue {
  readonly table: string;
  readonly open: (keyring: EncryptionKeyring) => string;
}

export async function readSealedRows(db: Database): Promise<SealedRow[]> {
  const all: SealedRow[] = [];
  for (const { table, sealed, dataKey, keyId, key, sealContextOf } of sealedColumns) {
    const [first, second] = key.map(({ name, type }) =>
      type === "bytea" ? sql`encode(${sql.ref(name)}, 'hex')` : sql.ref(name),
    );
    const { rows } = await sql<EncryptedValue & { first: string; second: string }>`
      select ${first} as first, ${second ?? sql`''`} as second, ${sql.ref(sealed)} as sealed,
      ${sql.ref(dataKey)} as data_key, ${sql.ref(keyId)} as key_id
      from ${sql.table(table)} where ${sql.ref(keyId)} is not null`.execute(db);
    for (const row of rows)
      all.push(
        Object.assign(row, {
          table,
          open: (keyring: EncryptionKeyring) =>
            keyring.open(row, sealContextOf(row.first, row.second)).toString("utf8"),
        }),
      );
  }
  return all;
}
