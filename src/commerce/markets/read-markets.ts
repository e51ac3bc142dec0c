/** Reads markets with their countries, tax rates, delivery methods and policies. */
import { type Selectable, sql } from "kysely";
import type { LocalizedTextMap } from "#commerce/catalog/read-products.ts";
import type { DatabaseReader } from "#database/transaction.ts";
import type { DeliveryMethodTable, MarketTable, PolicyTable, TaxRateTable } from "#database/tables.ts";

export type MarketRow = Selectable<MarketTable> & { readonly countries: string[] };
export type TaxRateRow = Selectable<TaxRateTable>;
export type DeliveryMethodRow = Selectable<DeliveryMethodTable>;
export type MerchantPolicyRow = Selectable<PolicyTable>;

/**
 * Loads the markets of several merchants, oldest market first. The countries of a market are in the
 * merchant's order, the main country first.
 */
export function findMarkets(reader: DatabaseReader, merchantIds: readonly string[]): Promise<MarketRow[]> {
  return reader
    .selectFrom("market as m")
    .selectAll("m")
    .select(
      sql<
        string[]
      >`array(select c.country from market_country c where c.market_id = m.id order by c.position)`.as(
        "countries",
      ),
    )
    .where(sql<boolean>`m.merchant_id = any(${merchantIds}::text[])`)
    .orderBy("m.createdAt")
    .orderBy("m.handle")
    .execute();
}

export const findTaxRates = (reader: DatabaseReader, marketIds: readonly string[]): Promise<TaxRateRow[]> =>
  reader
    .selectFrom("taxRate")
    .selectAll()
    .where(sql<boolean>`market_id = any(${marketIds}::text[])`)
    .orderBy("country")
    .orderBy("regionCode")
    .orderBy("id")
    .execute();

export const findDeliveryMethods = (
  reader: DatabaseReader,
  marketIds: readonly string[],
): Promise<DeliveryMethodRow[]> =>
  reader
    .selectFrom("deliveryMethod")
    .selectAll()
    .where(sql<boolean>`market_id = any(${marketIds}::text[])`)
    .orderBy("position")
    .orderBy("id")
    .execute();

/** Returns the names of delivery methods: for each id of a delivery method, a map from locale to name. */
export async function findDeliveryMethodNames(
  reader: DatabaseReader,
  ids: readonly string[],
): Promise<Map<string, LocalizedTextMap>> {
  const rows = await reader
    .selectFrom("deliveryMethod")
    .select(["id", sql<LocalizedTextMap>`names`.as("names")])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  return new Map(rows.map(({ id, names }) => [id, names]));
}

export const findMerchantPolicies = (
  reader: DatabaseReader,
  merchantIds: readonly string[],
): Promise<MerchantPolicyRow[]> =>
  reader
    .selectFrom("policy")
    .selectAll()
    .where(sql<boolean>`merchant_id = any(${merchantIds}::text[])`)
    .orderBy("type")
    .orderBy("id")
    .execute();
