/**
 * Ends prices whose end time has passed. Sets the end of the price's row in the price history, inserts a row
 * for the price that applies next, and publishes the change. Readers get the price that applies next even
 * before this job runs.
 */
import { sql } from "kysely";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { Database } from "#database/connect.ts";
import { processDueRows } from "#database/due-rows.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { type EventSubjectRenderer, runFunctionAndInsertOutboxEvents } from "#webhooks/outbox.ts";
import { lockMerchantCatalog, recordProductChanges } from "./change-catalog.ts";
import { findProductAggregates } from "./read-products.ts";

/** Identifies a price by its variant and market. */
export interface VariantMarketPriceKey {
  readonly variantId: string;
  readonly marketId: string;
}

/**
 * Ends those of the given prices whose end time has passed, and returns the ids of the variants whose price
 * changed. The caller must have locked the merchant's row.
 */
export async function endExpiredPricesOfVariants(
  transaction: Transaction,
  { merchantId, now }: Pick<MerchantCommandContext, "merchantId" | "now">,
  prices: readonly VariantMarketPriceKey[],
): Promise<string[]> {
  const keys = prices.map(({ variantId, marketId }) => ({ variantId, marketId }));
  const { rows: ended } = await sql<EndedPrice>`
    update price p set valid_until = p.ends_at
    from json_to_recordset(${JSON.stringify(keys)}::json) as k("variantId" text, "marketId" text)
    where p.variant_id = k."variantId" and p.market_id = k."marketId" and p.merchant_id = ${merchantId}
      and p.valid_until is null and p.ends_at <= ${now}::timestamptz
    returning p.variant_id, p.market_id, p.next_amount_minor as amount_minor,
      p.next_compare_at_minor as compare_at_minor, p.ends_at as valid_from`.execute(transaction);
  const following = ended.flatMap(({ amountMinor, ...price }) =>
    amountMinor === null ? [] : [{ ...price, amountMinor, merchantId }],
  );
  if (following.length > 0) await transaction.insertInto("price").values(following).execute();
  return ended.map(({ variantId }) => variantId);
}

interface EndedPrice extends VariantMarketPriceKey {
  readonly amountMinor: number | null;
  readonly compareAtMinor: number | null;
  readonly validFrom: Date;
}

interface DuePriceServices {
  readonly db: Database;
  readonly now: Date;
  readonly render: EventSubjectRenderer;
  readonly reindex: (transaction: Transaction, productIds: readonly string[], now: Date) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;
/** Maximum number of prices that are ended in one transaction. */
const pricesPerTransaction = 500;

/** Ends all prices whose end time has passed. Returns the number of merchants whose prices ended. */
export function endExpiredPricesOfAllMerchants({
  db,
  now,
  render,
  reindex,
  signal,
}: DuePriceServices): Promise<number> {
  return processDueRows({
    find: (after: { readonly id: string } | undefined, rowsMax) =>
      db
        .selectFrom("price")
        .select("merchantId as id")
        .distinct()
        .where("endsAt", "<=", now)
        .where("validUntil", "is", null)
        .where("merchantId", ">", after?.id ?? "")
        .orderBy("merchantId")
        .limit(rowsMax)
        .execute(),
    handle: async ({ id: merchantId }) => {
      const endNext = (): Promise<number> =>
        runInTransaction(db, (transaction) =>
          runFunctionAndInsertOutboxEvents(transaction, { merchantId, now, cause, render }, (outbox) =>
            endMerchantPrices(transaction, {
              merchantId,
              now,
              outbox,
              reindex: (handle, ids) => reindex(handle, ids, now),
            }),
          ),
        );
      let count = await endNext();
      const hasEnded = count > 0;
      while (count === pricesPerTransaction) count = signal?.aborted === true ? 0 : await endNext();
      return hasEnded;
    },
    signal,
  });
}

/**
 * Ends up to 500 prices of one merchant whose end time has passed, earliest end first. Returns the number of
 * ended prices.
 */
async function endMerchantPrices(transaction: Transaction, context: MerchantCommandContext): Promise<number> {
  await lockMerchantCatalog(transaction, context);
  const due = await transaction
    .selectFrom("price")
    .innerJoin("variant", "variant.id", "price.variantId")
    .select(["price.variantId", "price.marketId", "price.endsAt", "variant.productId"])
    .where("price.merchantId", "=", context.merchantId)
    .where("price.validUntil", "is", null)
    .where("price.endsAt", "<=", context.now)
    .orderBy("price.endsAt")
    .orderBy("price.variantId")
    .orderBy("price.marketId")
    .limit(pricesPerTransaction)
    .execute();
  const firstEnd = due[0]?.endsAt;
  if (firstEnd === undefined || firstEnd === null) return 0;
  const productIds = [...new Set(due.map(({ productId }) => productId))].toSorted();
  await sql`select id from product where id = any(${productIds}::text[]) order by id for no key update`.execute(
    transaction,
  );
  // Loads the products as they were one millisecond before the first of these prices ended, so that the
  // events contain the values before the end.
  const beforeEnd = new Date(firstEnd.getTime() - 1);
  const befores = await findProductAggregates(transaction, productIds, beforeEnd);
  await endExpiredPricesOfVariants(transaction, context, due);
  const changed = [...befores.values()].map((before) => ({
    before,
    types: ["product.price_changed"] as const,
  }));
  await recordProductChanges(transaction, context, { changed });
  return due.length;
}
