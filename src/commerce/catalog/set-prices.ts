/**
 * Sets the prices of variants in markets. The price history must stay unchanged, because the lowest price of
 * the last 30 days must be shown beside a reduced price (Directive 98/6/EC, article 6a). A new price
 * therefore sets the end of the present price's row and inserts a new row. No other value of a stored row
 * ever changes. A temporary price has an end time; its row also contains the price that applies after this
 * time.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { amountMinorMax } from "#foundation/money.ts";
import { catalogBounds } from "./catalog-fields.ts";
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { type VariantMarketPriceKey, endExpiredPricesOfVariants } from "./end-prices.ts";
import { findProductAggregates } from "./read-products.ts";
import {
  type ProductChangeToRecord,
  toProductConflictDetail,
  lockMerchantCatalog,
  recordProductChanges,
} from "./change-catalog.ts";

export interface PriceAndCompareAtPriceInput {
  /** Price in minor units; null to stop selling the variant in the market. */
  readonly amountMinor: number | null;
  /** Compare-at price (the price before a reduction), in minor units; must be higher than the price. */
  readonly compareAtMinor?: number | null | undefined;
  /**
   * ISO 4217 code, which must be the market's currency if given. This check finds amounts in wrong minor
   * units, for example yen given as cents.
   */
  readonly currency?: string | null | undefined;
}

export interface PriceInput extends PriceAndCompareAtPriceInput {
  readonly variantId: string;
  readonly marketId: string;
  /**
   * The time at which the price ends, exclusive. Then the last price without an end applies again; if there
   * was none, the variant is no longer sold in the market. Null if the price has no end.
   */
  readonly endsAt?: Date | null | undefined;
}

export interface SetPricesInput {
  readonly prices: readonly PriceInput[];
}

/** Sets prices of variants and returns the ids of the products whose prices changed. */
export async function setPrices(
  transaction: Transaction,
  context: MerchantCommandContext,
  { prices }: SetPricesInput,
): Promise<{ productIds: string[] }> {
  requireNoInputFieldErrors([
    ...getListLengthErrors("/prices", prices, { min: 1, max: catalogBounds.pricesMax }),
    ...prices.flatMap((price, index) => [
      ...findPriceFaults(`/prices/${index}`, price),
      ...findEndFaults(index, price, context.now),
    ]),
    ...getDuplicateEntryErrors(
      prices.map(({ variantId, marketId }) => `${variantId} ${marketId}`),
      (index) => `/prices/${index}`,
    ),
  ]);
  await lockMerchantCatalog(transaction, context);
  const productOf = await lockVariants(transaction, context, prices);
  await requireMarkets(transaction, context, prices);
  const befores = await findProductAggregates(transaction, [...new Set(productOf.values())], context.now);
  const changed = await savePrices(transaction, context, prices);
  const productIds = [...new Set(changed.flatMap((variantId) => productOf.get(variantId) ?? []))].toSorted();
  const products = productIds.flatMap((id): ProductChangeToRecord[] => {
    const before = befores.get(id);
    return before === undefined ? [] : [{ before, types: ["product.price_changed"] }];
  });
  if (products.length > 0) await recordProductChanges(transaction, context, { changed: products });
  return { productIds };
}

export function findPriceFaults(
  at: string,
  { amountMinor, compareAtMinor, currency }: PriceAndCompareAtPriceInput,
): InputFieldErrors {
  const isCompareAtTooLow =
    typeof compareAtMinor === "number" && (amountMinor === null || compareAtMinor <= amountMinor);
  return [
    ...getIntegerFieldErrors(`${at}/amountMinor`, amountMinor, { min: 0, max: amountMinorMax }),
    ...getIntegerFieldErrors(`${at}/compareAtMinor`, compareAtMinor, { min: 1, max: amountMinorMax }),
    ...(isCompareAtTooLow
      ? [
          createRequestBodyErrorDetail(
            `${at}/compareAtMinor`,
            "out_of_range",
            "compareAtMinor must be higher than amountMinor.",
          ),
        ]
      : []),
    ...(typeof currency === "string" && !/^[A-Z]{3}$/.test(currency)
      ? [
          createRequestBodyErrorDetail(
            `${at}/currency`,
            "pattern_mismatch",
            "The currency must be an ISO 4217 code in upper case.",
          ),
        ]
      : []),
  ];
}

function findEndFaults(index: number, { amountMinor, endsAt }: PriceInput, now: Date): InputFieldErrors {
  if (endsAt === null || endsAt === undefined) return [];
  const field = `/prices/${index}/endsAt`;
  const name = `"prices[${index}].endsAt"`;
  if (amountMinor === null)
    return [
      createRequestBodyErrorDetail(
        field,
        "not_allowed",
        `${name} is allowed only together with a price in amountMinor.`,
      ),
    ];
  return endsAt > now
    ? []
    : [createRequestBodyErrorDetail(field, "out_of_range", `${name} must be later than the present time.`)];
}

/**
 * Locks the products of the variants in the order of product ids. Returns a map from the id of each variant
 * to the id of its product.
 */
async function lockVariants(
  transaction: Transaction,
  context: MerchantCommandContext,
  prices: readonly PriceInput[],
): Promise<Map<string, string>> {
  const ids = prices.map(({ variantId }) => blankIdWithForbiddenCharacters(variantId));
  const rows = await transaction
    .selectFrom("product as p")
    .innerJoin("variant as v", "v.productId", "p.id")
    .select(["v.id as variantId", "p.id", "p.status", "p.version"])
    .where("v.merchantId", "=", context.merchantId)
    .where(sql<boolean>`v.id = any(${ids}::text[])`)
    .orderBy("p.id")
    .forNoKeyUpdate("p")
    .execute();
  const archived = rows.find(({ status }) => status === "archived");
  if (archived !== undefined)
    throw createFailure("invalid_state", { conflict: toProductConflictDetail(archived, "product_archived") });
  const productOf = new Map(rows.map(({ variantId, id }) => [variantId, id]));
  const details = prices.flatMap(({ variantId }, index) =>
    productOf.has(variantId)
      ? []
      : [
          createRequestBodyErrorDetail(
            `/prices/${index}/variantId`,
            "resource_not_found",
            "The merchant has no variant with this ID.",
          ),
        ],
  );
  if (details.length > 0) throw createFailure("resource_not_found", { details });
  return productOf;
}

async function requireMarkets(
  transaction: Transaction,
  context: MerchantCommandContext,
  prices: readonly PriceInput[],
): Promise<void> {
  const rows = await transaction
    .selectFrom("market")
    .select(["id", "currency"])
    .where("merchantId", "=", context.merchantId)
    .execute();
  const currencyOf = new Map(rows.map(({ id, currency }) => [id, currency]));
  const details = prices.flatMap(({ marketId }, index) =>
    currencyOf.has(marketId)
      ? []
      : [
          createRequestBodyErrorDetail(
            `/prices/${index}/marketId`,
            "resource_not_found",
            "The merchant has no market with this ID.",
          ),
        ],
  );
  if (details.length > 0) throw createFailure("resource_not_found", { details });
  requireNoInputFieldErrors(
    prices.flatMap((price, index) =>
      findPriceCurrencyFaults(`/prices/${index}`, price, currencyOf.get(price.marketId)),
    ),
  );
}

export function findPriceCurrencyFaults(
  at: string,
  { currency }: PriceAndCompareAtPriceInput,
  wanted: string | undefined,
): InputFieldErrors {
  if (currency === null || currency === undefined || currency === wanted) return [];
  return [
    createRequestBodyErrorDetail(
      `${at}/currency`,
      "currency_mismatch",
      `The market's currency is ${wanted ?? "unknown"}.`,
    ),
  ];
}

/**
 * Saves prices and returns the ids of the variants whose price changed. The caller must have locked the
 * merchant's row. A new price normally begins now, and the present price ends then. By the clock of another
 * machine, the present price may have begun in this millisecond or later. The new price then begins one
 * millisecond after it, so that the periods of the price history never overlap.
 */
export async function savePrices(
  transaction: Transaction,
  context: MerchantCommandContext,
  prices: readonly PriceInput[],
): Promise<string[]> {
  if (prices.length === 0) return [];
  const expired = await endExpiredPricesOfVariants(transaction, context, prices);
  const wanted = sql`json_to_recordset(${JSON.stringify(prices)}::json)
    as w("variantId" text, "marketId" text, "amountMinor" bigint, "compareAtMinor" bigint,
    "endsAt" timestamptz)`;
  // The price that applies after a temporary price is the price that it replaced. If the replaced price is
  // itself temporary, it is the price that applies after the replaced price.
  const ended = await sql<
    VariantMarketPriceKey & { amountMinor: number | null; compareAtMinor: number | null }
  >`
    update price p set valid_until = greatest(${context.now}::timestamptz, p.valid_from + interval
    '1 millisecond')
    from ${wanted}
    where p.variant_id = w."variantId" and p.market_id = w."marketId" and p.valid_until is null
      and (w."amountMinor" is null or (p.amount_minor, p.compare_at_minor, p.ends_at) is distinct
      from (w."amountMinor", w."compareAtMinor", w."endsAt"))
    returning p.variant_id, p.market_id,
      case when p.ends_at is null then p.amount_minor else p.next_amount_minor end as amount_minor,
      case when p.ends_at is null then p.compare_at_minor else p.next_compare_at_minor end as
        compare_at_minor`.execute(transaction);
  const opened = await sql<{ variantId: string }>`
    insert into price (variant_id, market_id, merchant_id, amount_minor, compare_at_minor, valid_from, ends_at,
      next_amount_minor, next_compare_at_minor)
    select w."variantId", w."marketId", ${context.merchantId}, w."amountMinor", w."compareAtMinor", start.at,
      case when w."endsAt" is not null then greatest(w."endsAt", start.at + interval '1 millisecond') end,
      case when w."endsAt" is not null then b."amountMinor" end,
      case when w."endsAt" is not null then b."compareAtMinor" end
    from ${wanted}
    left join json_to_recordset(${JSON.stringify(ended.rows)}::json)
      as b("variantId" text, "marketId" text, "amountMinor" bigint, "compareAtMinor" bigint)
      on b."variantId" = w."variantId" and b."marketId" = w."marketId"
    cross join lateral (select greatest(${context.now}::timestamptz, max(p.valid_until)) as at from price p
      where p.variant_id = w."variantId" and p.market_id = w."marketId") as start
    where w."amountMinor" is not null and not exists (
      select from price p where p.variant_id = w."variantId" and p.market_id = w."marketId"
      and p.valid_until is null)
    returning variant_id`.execute(transaction);
  const changed = [...ended.rows, ...opened.rows].map(({ variantId }) => variantId);
  return [...new Set([...expired, ...changed])];
}
