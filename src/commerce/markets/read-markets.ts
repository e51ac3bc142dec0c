/** Reads markets with their countries, tax rates, delivery methods and policies. */
import { type Selectable, sql } from "kysely";
import type { LocalizedTextMap } from "#commerce/catalog/read-products.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { DeliveryMethodTable, MarketTable, PolicyTable, TaxRateTable } from "#database/tables.ts";

export type MarketRow = Selectable<MarketTable> & { readonly countries: string[] };
/** A tax rate; its first and last day are texts like `2027-01-01`, and null if there is no limit. */
export type TaxRateRow = Omit<Selectable<TaxRateTable>, "validFrom" | "validTo"> & {
  readonly validFrom: string | null;
  readonly validTo: string | null;
};
export type DeliveryMethodRow = Selectable<DeliveryMethodTable>;
export type MerchantPolicyRow = Selectable<PolicyTable>;

/**
 * Loads the markets of several merchants, oldest market first. The countries of a market are in the
 * merchant's order, the main country first.
 */
export function findMarkets(
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<MarketRow[]> {
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

export const findTaxRates = (
  reader: DatabaseOrTransaction,
  marketIds: readonly string[],
): Promise<TaxRateRow[]> =>
  reader
    .selectFrom("taxRate")
    .select(["id", "merchantId", "marketId", "country", "regionCode", "taxClass", "name"])
    .select(["basisPoints", "appliesToShipping", "updatedAt"])
    .select([
      sql<string | null>`valid_from::text`.as("validFrom"),
      sql<string | null>`valid_to::text`.as("validTo"),
    ])
    .where(sql<boolean>`market_id = any(${marketIds}::text[])`)
    .orderBy("country")
    .orderBy("regionCode")
    .orderBy("taxClass")
    .orderBy(sql`tax_rate.valid_from nulls first`)
    .orderBy("id")
    .execute();

export const findDeliveryMethods = (
  reader: DatabaseOrTransaction,
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
  reader: DatabaseOrTransaction,
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
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<MerchantPolicyRow[]> =>
  reader
    .selectFrom("policy")
    .selectAll()
    .where(sql<boolean>`merchant_id = any(${merchantIds}::text[])`)
    .orderBy("type")
    .orderBy("id")
    .execute();
