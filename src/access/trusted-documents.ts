/**
 * Trusted documents: GraphQL documents that the frontends of a merchant have registered. A request contains
 * the SHA-256 hash of a trusted document instead of its text.
 */
import { createHash } from "node:crypto";
import { type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { noticeChannel } from "#database/notices.ts";
import { runAfterCommit, type DatabaseOrTransaction, type Transaction } from "#database/transaction.ts";
import type { Tables, TrustedDocumentTable } from "#database/tables.ts";
import type { Clock } from "#foundation/clock.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { createCredentialCache } from "./credentials.ts";

export const trustedDocumentLimits = {
  /** Maximum number of characters of a trusted document. Parsed documents up to this length are cached. */
  lengthMax: 16_384,
  /** Maximum number of trusted documents that one call may register. */
  perCallMax: 200,
  /** Maximum number of trusted documents of a merchant. */
  perMerchantMax: 2_000,
} as const;

/** Returns the SHA-256 hash of a document's text in UTF-8, as 64 lower-case hexadecimal digits. */
export const hashGraphqlDocumentText = (text: string): string =>
  createHash("sha256").update(text, "utf8").digest("hex");

export type TrustedDocumentRow = Selectable<TrustedDocumentTable>;

/**
 * A GraphQL document that has passed the check: it has exactly one operation, is valid for the schema and
 * does not exceed the limits.
 */
export interface ValidatedDocumentNameAndOperation {
  readonly name: string;
  readonly operation: TrustedDocumentRow["operation"];
}

/**
 * A fault of a document and its position. `line` and `column` begin at 1; both are null if the fault concerns
 * the whole document.
 */
export interface GraphqlDocumentError {
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

/**
 * Checks a document against the schema and the limits of documents. Returns the parsed document with its
 * properties, or the errors that were found.
 */
export type TrustedDocumentChecker = (
  text: string,
) => ValidatedDocumentNameAndOperation | readonly GraphqlDocumentError[];

export interface NewTrustedDocument extends ValidatedDocumentNameAndOperation {
  readonly sha256: string;
  readonly document: string;
}

interface MerchantContext {
  readonly merchantId: string;
  readonly now: Date;
}

/**
 * Stores trusted documents that the merchant has not registered yet. Returns the rows of all given documents,
 * and how many of them are new.
 */
export async function registerTrustedDocuments(
  transaction: Transaction,
  { merchantId, now }: MerchantContext,
  documents: readonly NewTrustedDocument[],
): Promise<{ documents: TrustedDocumentRow[]; added: number }> {
  // Locks the row of the merchant, so that registrations of the same merchant run one after another.
  // Otherwise, simultaneous registrations could together exceed the maximum number of documents.
  const merchant = await transaction
    .selectFrom("merchant")
    .select("id")
    .where("id", "=", merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (merchant === undefined) throw createFailure("merchant_not_found");
  const added = await transaction
    .insertInto("trustedDocument")
    .values(
      documents.map(({ name, operation, sha256, document }) => ({
        id: createId("trustedDocument", now.getTime()),
        merchantId,
        name,
        operation,
        sha256,
        document,
        createdAt: now,
      })),
    )
    .onConflict((conflict) => conflict.columns(["merchantId", "sha256"]).doNothing())
    .returning("id")
    .execute();
  if (added.length > 0) {
    await requireDocumentLimit(transaction, merchantId);
    await notifyDocumentsChanged(transaction);
  }
  const rows = await buildTrustedDocumentSqlQuery(transaction, merchantId)
    .where(sql<boolean>`sha256 = any(${documents.map(({ sha256 }) => sha256)}::text[])`)
    .execute();
  const byHash = new Map(rows.map((row) => [row.sha256, row]));
  return { documents: documents.flatMap(({ sha256 }) => byHash.get(sha256) ?? []), added: added.length };
}

async function requireDocumentLimit(transaction: Transaction, merchantId: string): Promise<void> {
  const { count } = await transaction
    .selectFrom("trustedDocument")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  const { perMerchantMax } = trustedDocumentLimits;
  if (Number(count) <= perMerchantMax) return;
  throw createFailure("invalid_state", {
    message:
      `The merchant would have ${count} trusted documents; ${perMerchantMax} are allowed. ` +
      "Remove documents that are no longer used: `trustedDocuments` lists them with `lastUsedAt`.",
  });
}

/**
 * Removes a trusted document of the merchant. Throws `resource_not_found` if the merchant has none with this
 * id.
 */
export async function removeTrustedDocument(
  transaction: Transaction,
  { merchantId }: MerchantContext,
  trustedDocumentId: string,
): Promise<TrustedDocumentRow> {
  const removed = await transaction
    .deleteFrom("trustedDocument")
    .where("id", "=", trustedDocumentId)
    .where("merchantId", "=", merchantId)
    .returningAll()
    .executeTakeFirst();
  if (removed === undefined)
    throw createFailure("resource_not_found", { message: "There is no trusted document with this id." });
  await notifyDocumentsChanged(transaction);
  return removed;
}

/**
 * Builds the query for the trusted documents of a merchant. The caller adds the order or page, or counts the
 * rows.
 */
export const buildTrustedDocumentSqlQuery = (
  reader: DatabaseOrTransaction,
  merchantId: string,
): SelectQueryBuilder<Tables, "trustedDocument", TrustedDocumentRow> =>
  reader.selectFrom("trustedDocument").selectAll().where("merchantId", "=", merchantId);

const changeNotice = "trusted_documents";

/**
 * Functions that empty the caches of trusted documents in this process. They are called directly after a
 * change, so that this process does not depend on its own notice (NOTIFY). With PGlite, the caches are in use
 * even before the process has begun to listen for notices.
 */
const caches = new Set<() => void>();

/** Makes all processes empty their caches of trusted documents after the commit. */
async function notifyDocumentsChanged(transaction: Transaction): Promise<void> {
  await sql`select pg_notify(${noticeChannel}, ${changeNotice})`.execute(transaction);
  runAfterCommit(transaction, () => {
    for (const clear of caches) clear();
  });
}

export interface TrustedDocumentFinder {
  /**
   * Returns the merchant's document with this hash, from the cache or the database; undefined if there is
   * none.
   */
  readonly find: (merchantId: string, sha256: string) => Promise<TrustedDocumentRow | undefined>;
  readonly close: () => void;
}

interface TrustedDocumentsOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly events: InProcessEventEmitter;
  /** Returns whether this process has received all recent notices of changed documents (NOTIFY). */
  readonly isCurrent: () => boolean;
}

const cachedCharactersMax = 8 * 1024 * 1024;

/**
 * Creates the look-up of trusted documents. Documents are cached for up to 30 seconds. Every registration or
 * removal of a document sends a notice (NOTIFY) that empties the caches of all processes. While the
 * connection that receives notices is down, documents are read from the database instead.
 */
export function createCachedTrustedDocumentFinder({
  db,
  clock,
  events,
  isCurrent,
}: TrustedDocumentsOptions): TrustedDocumentFinder {
  const cache = createCredentialCache<TrustedDocumentRow>({
    clock,
    isCurrent,
    ownersOf: () => [],
    sizes: { max: cachedCharactersMax, sizeOf: ({ document }) => document.length + 1 },
  });
  caches.add(cache.clear);
  events.on("noticeReceived", (text) => {
    if (text === "" || text === changeNotice) cache.clear();
  });
  return {
    find: async (merchantId, sha256) => {
      const row = await cache.find(`${merchantId}:${sha256}`, () =>
        buildTrustedDocumentSqlQuery(db, merchantId).where("sha256", "=", sha256).executeTakeFirst(),
      );
      if (row !== undefined) recordUse(db, row, clock.now());
      return row;
    },
    close: () => void caches.delete(cache.clear),
  };
}

const dayMs = 86_400_000;
/**
 * The time at which this process last recorded the use of a document in the database. The key is the cached
 * row of the document.
 */
const recordedUses = new WeakMap<TrustedDocumentRow, number>();

/**
 * Records the last use of a document, with at most one write per document and day. The request does not wait
 * for the write.
 */
function recordUse(db: Database, row: TrustedDocumentRow, now: Date): void {
  const last = recordedUses.get(row) ?? row.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  if (now.getTime() - last < dayMs) return;
  recordedUses.set(row, now.getTime());
  void db
    .updateTable("trustedDocument")
    .set({ lastUsedAt: now })
    .where("id", "=", row.id)
    .where("merchantId", "=", row.merchantId)
    .execute()
    .catch(() => recordedUses.delete(row));
}
