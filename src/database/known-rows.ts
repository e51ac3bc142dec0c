/**
 * Reads rows without receiving and parsing again what this process already knows. The database computes the
 * digest of each row's whole JSON content, in the statement that reads the row, and returns the content only
 * if the digest differs from the digest of the known row. A known row is therefore equal to what the
 * statement has read. This covers changes in all tables that the statement reads, by any process.
 */
import { type RawBuilder, sql } from "kysely";
import type { MemorySection } from "#foundation/limited-memory.ts";
import { createPaddedInClauseTemplate, prepareStatementTemplate } from "./prepared-template.ts";
import type { DatabaseOrTransaction } from "./transaction.ts";

export interface KnownRow<Row> {
  /** SHA-256 of the JSON text of the row, in hexadecimal digits. */
  readonly digest: string;
  readonly row: Row;
  /** The length of the JSON text in bytes. */
  readonly bytes: number;
}

export interface KnownRowsStatement {
  /** The name of the SQL text in the cache of prepared templates. */
  readonly form: string;
  /**
   * Builds the statement that returns the columns `id` and `content` (the row as JSON). `inList` is the
   * condition that follows the id's column.
   */
  readonly write: (inList: RawBuilder<boolean>) => RawBuilder<unknown>;
  /** The values of the parameters of the statement, except the ids. */
  readonly values: Readonly<Record<string, unknown>>;
}

interface FoundRow<Row> {
  readonly id: string;
  /** Null if the row is unchanged, like `content`. */
  readonly digest: string | null;
  readonly content: Row | null;
  readonly bytes: number;
}

/** Reads rows by id. Returns the known row for each id whose row has not changed. */
export async function findRowsOrReuseKnownRows<Row>(
  reader: DatabaseOrTransaction,
  { ids, known }: { readonly ids: readonly string[]; readonly known: MemorySection<KnownRow<Row>> },
  { form, write, values }: KnownRowsStatement,
): Promise<Map<string, Row>> {
  // The known rows are taken before the statement is sent, because the memory may drop or replace them while
  // the statement runs.
  const before = new Map(ids.map((id) => [id, known.get(id)]));
  const list = createPaddedInClauseTemplate(ids);
  const digests = createPaddedInClauseTemplate(
    ids.map((id) => before.get(id)?.digest ?? ""),
    "digest",
  );
  const statement = prepareStatementTemplate<FoundRow<Row>>(reader, {
    form: `${form} ${list.form} unless known`,
    write: () => buildUnlessKnownSql(write(list.write()), digests.write()),
    values: { ...values, ...list.values, ...digests.values },
  });
  const { rows } = await reader.executeQuery(statement);
  const found = new Map<string, Row>();
  for (const { id, digest, content, bytes } of rows) {
    if (digest === null || content === null) {
      const unchanged = before.get(id);
      if (unchanged !== undefined) found.set(id, unchanged.row);
    } else found.set(id, keep(known, id, { digest, row: content, bytes }).row);
  }
  return found;
}

/**
 * Keeps a row that was read. If another statement has read the same content in the meantime, returns the row
 * of that statement, so that equal content is one object.
 */
function keep<Row>(known: MemorySection<KnownRow<Row>>, id: string, row: KnownRow<Row>): KnownRow<Row> {
  const present = known.get(id);
  if (present?.digest === row.digest) return present;
  known.set(id, row);
  return row;
}

/**
 * The clauses `offset 0` make PostgreSQL compute the content and the digest of each row only once. Without
 * them, PostgreSQL would insert both expressions at each place that uses them.
 */
const buildUnlessKnownSql = (
  statement: RawBuilder<unknown>,
  isKnown: RawBuilder<boolean>,
): RawBuilder<unknown> => sql`
  select id, case when not is_known then digest end as digest,
    case when not is_known then content end as content, bytes
  from (select *, digest ${isKnown} as is_known
    from (select *, encode(sha256(convert_to(content::text, 'UTF8')), 'hex') as digest,
        octet_length(content::text) as bytes
      from (${statement} offset 0) as present offset 0) as digested offset 0) as compared`;

/** Estimated memory in bytes of a known row, without its content and its key. */
const rowBytes = 500;
/** Estimated memory of parsed JSON, in multiples of the length of its text; measured were 1.0 to 1.3. */
const parsedBytesPerTextByte = 2;

/** Estimates the memory in bytes of a known row. */
export const estimateKnownRowBytes = ({ bytes }: KnownRow<unknown>, key: string): number =>
  rowBytes + parsedBytesPerTextByte * bytes + 4 * key.length;
