/**
 * Creates and changes markets. A market is a set of countries with one currency, prices either including or
 * excluding tax, and one default locale. A country belongs to at most one market of its merchant. The
 * currency cannot change once the market has prices, because the amounts of the price history have no
 * currency of their own.
 */
import { sql } from "kysely";
import type { TaxRounding } from "#commerce/pricing/tax-amounts.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import {
  catalogBounds,
  findLocaleFaults,
  findSlugFaults,
  toCanonicalLocale,
} from "#commerce/catalog/catalog-fields.ts";
import {
  getListLengthErrors,
  getCountryFieldErrors,
  getCurrencyFieldErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import {
  lockMerchantCatalog,
  incrementCatalogVersion,
  reindexProducts,
} from "#commerce/catalog/change-catalog.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { isIanaTimeZoneName } from "#foundation/period.ts";
import { type MerchantCommandContext, requireExpectedVersion } from "#commerce/command-context.ts";
import {
  toMarketConflictDetail,
  requireCountriesNotInOtherMarket,
  saveMarketCountries,
} from "./market-countries.ts";

/** All fields of a market. Saving a market replaces all stored fields, except `taxRounding` if it is left out. */
export interface UpsertMarketInput {
  /**
   * Id of the market to change. If left out, the handle identifies the market; if no market has the handle, a
   * new market is created.
   */
  readonly marketId?: string | null | undefined;
  readonly expectedVersion?: number | null | undefined;
  readonly handle: string;
  readonly name: string;
  /** ISO 4217 code of the currency of all prices in the market. */
  readonly currency: string;
  /** True if the prices in the market include tax. */
  readonly taxIncluded: boolean;
  /**
   * How the tax is rounded: for each line, or for the sum of all lines with the same rate. If left out, a new
   * market rounds each line, and an existing market keeps its setting.
   */
  readonly taxRounding?: TaxRounding | null | undefined;
  readonly defaultLocale: string;
  /** IANA time zone of the market. It decides when a day ends, for example the last day of a deadline. */
  readonly timeZone: string;
  /** ISO 3166-1 alpha-2 codes of the market's countries; the first is its main country. */
  readonly countries: readonly string[];
}

const countriesMax = 249;

export async function upsertMarket(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpsertMarketInput,
): Promise<{ marketId: string }> {
  requireNoInputFieldErrors(marketFaults(input));
  await lockMerchantCatalog(transaction, context);
  const existing = await findMarket(transaction, context, input);
  if (existing !== undefined) requireExpectedVersion(toMarketConflictDetail(existing), input.expectedVersion);
  const marketId = existing?.id ?? createId("market", context.now.getTime());
  await requireCountriesNotInOtherMarket(transaction, context, { marketId, countries: input.countries });
  if (existing !== undefined && existing.currency !== input.currency)
    await requireNoPrices(transaction, existing);
  const isRowChanged =
    existing === undefined
      ? await insertMarket(transaction, context, { ...input, marketId })
      : await updateMarket(transaction, context, { ...input, marketId });
  const areCountriesChanged = await saveMarketCountries(transaction, context, {
    marketId,
    countries: input.countries,
  });
  if (!isRowChanged && !areCountriesChanged) return { marketId };
  if (!isRowChanged) await raiseMarketVersion(transaction, context, marketId);
  await incrementCatalogVersion(transaction, context);
  if (existing !== undefined)
    await reindexProducts(transaction, context, await findPublishedInMarket(transaction, marketId));
  return { marketId };
}

function marketFaults(input: UpsertMarketInput): InputFieldErrors {
  return [
    ...findSlugFaults("/handle", input.handle),
    ...getTextFieldErrors("/name", input.name, { max: catalogBounds.nameMax }),
    ...getCurrencyFieldErrors("/currency", input.currency),
    ...findLocaleFaults("/defaultLocale", input.defaultLocale),
    ...(isIanaTimeZoneName(input.timeZone)
      ? []
      : [
          createRequestBodyErrorDetail(
            "/timeZone",
            "unknown_time_zone",
            "The time zone must be a name of the IANA time zone database.",
          ),
        ]),
    ...getListLengthErrors("/countries", input.countries, { min: 1, max: countriesMax }),
    ...input.countries.flatMap((country, index) => getCountryFieldErrors(`/countries/${index}`, country)),
    ...getDuplicateEntryErrors(input.countries, (index) => `/countries/${index}`),
  ];
}

interface Market {
  readonly id: string;
  readonly handle: string;
  readonly currency: string;
  readonly version: number;
}

async function findMarket(
  transaction: Transaction,
  context: MerchantCommandContext,
  { marketId, handle }: UpsertMarketInput,
): Promise<Market | undefined> {
  const rows = await transaction
    .selectFrom("market")
    .select(["id", "handle", "currency", "version"])
    .where("merchantId", "=", context.merchantId)
    .where((row) =>
      row.or([row("id", "=", blankIdWithForbiddenCharacters(marketId ?? "")), row("handle", "=", handle)]),
    )
    .execute();
  const withHandle = rows.find((row) => row.handle === handle);
  if (marketId === null || marketId === undefined) return withHandle;
  const existing = rows.find(({ id }) => id === marketId);
  if (existing === undefined) throw createFailure("resource_not_found");
  if (withHandle !== undefined && withHandle.id !== existing.id) {
    const message = "Another market of the merchant has this handle.";
    throw createFailure("already_exists", {
      message,
      details: [createRequestBodyErrorDetail("/handle", "already_exists", message)],
      conflict: toMarketConflictDetail(withHandle, "handle_taken"),
    });
  }
  return existing;
}

async function requireNoPrices(transaction: Transaction, market: Market): Promise<void> {
  const price = await transaction
    .selectFrom("price")
    .select("variantId")
    .where("marketId", "=", market.id)
    .limit(1)
    .executeTakeFirst();
  if (price === undefined) return;
  throw createFailure("invalid_state", {
    conflict: toMarketConflictDetail(market, "market_has_prices", { currency: market.currency }),
  });
}

type MarketToSave = UpsertMarketInput & { readonly marketId: string };

async function insertMarket(
  transaction: Transaction,
  context: MerchantCommandContext,
  { marketId, ...input }: MarketToSave,
): Promise<true> {
  const { handle, name, currency, taxIncluded, timeZone } = input;
  await transaction
    .insertInto("market")
    .values({
      id: marketId,
      merchantId: context.merchantId,
      handle,
      name,
      currency,
      taxIncluded,
      taxRounding: input.taxRounding ?? "line",
      defaultLocale: toCanonicalLocale(input.defaultLocale),
      timeZone,
      createdAt: context.now,
      updatedAt: context.now,
    })
    .execute();
  return true;
}

async function updateMarket(
  transaction: Transaction,
  context: MerchantCommandContext,
  { marketId, ...input }: MarketToSave,
): Promise<boolean> {
  const values = sql.join(
    [
      sql`${input.handle}::text`,
      sql`${input.name}::text`,
      sql`${input.currency}::text`,
      sql`${input.taxIncluded}::boolean`,
      sql`coalesce(${input.taxRounding ?? null}::text, tax_rounding)`,
      sql`${toCanonicalLocale(input.defaultLocale)}::text`,
      sql`${input.timeZone}::text`,
    ],
    sql`, `,
  );
  const { rows } = await sql`
    update market set (handle, name, currency, tax_included, tax_rounding, default_locale, time_zone) = (${values}), version
    = version + 1, updated_at = ${context.now}
    where id = ${marketId} and (handle, name, currency, tax_included, tax_rounding, default_locale, time_zone) is distinct
    from (${values})
    returning id`.execute(transaction);
  return rows.length > 0;
}

/**
 * Raises the market's version by one if only the market's countries have changed. Countries are stored in a
 * table of their own, so the update of the market's row did not raise the version.
 */
async function raiseMarketVersion(
  transaction: Transaction,
  context: MerchantCommandContext,
  marketId: string,
): Promise<void> {
  await transaction
    .updateTable("market")
    .set((row) => ({ version: row("version", "+", 1), updatedAt: context.now }))
    .where("id", "=", marketId)
    .execute();
}

/**
 * Finds and locks the published products with a price in the market. The lock delays other changes of these
 * products until the search index is updated.
 */
async function findPublishedInMarket(transaction: Transaction, marketId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from product p
    where p.status = 'published' and p.id in (
      select v.product_id from variant v join price on price.variant_id = v.id
      where price.market_id = ${marketId} and price.valid_until is null)
    order by p.id for no key update`.execute(transaction);
  return rows.map(({ id }) => id);
}

interface MarketScope {
  readonly id: string;
  readonly currency: string;
  readonly countries: readonly string[];
}

/**
 * Loads a market of the merchant before its policies, delivery methods or tax rates are changed. Throws a
 * failure if the merchant has no market with this id.
 */
export async function requireMarket(
  reader: DatabaseOrTransaction,
  context: Pick<MerchantCommandContext, "merchantId">,
  marketId: string,
): Promise<MarketScope> {
  const rows = await reader
    .selectFrom("market")
    .leftJoin("marketCountry", "marketCountry.marketId", "market.id")
    .select(["market.id", "market.currency", "marketCountry.country"])
    .where("market.merchantId", "=", context.merchantId)
    .where("market.id", "=", blankIdWithForbiddenCharacters(marketId))
    .execute();
  const [first] = rows;
  if (first === undefined)
    throw createFailure("resource_not_found", {
      details: [
        createRequestBodyErrorDetail(
          "/marketId",
          "resource_not_found",
          "The merchant has no market with this ID.",
        ),
      ],
    });
  return { id: first.id, currency: first.currency, countries: rows.flatMap(({ country }) => country ?? []) };
}
