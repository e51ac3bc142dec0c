/** Saves the countries of a market. A country belongs to at most one market of a merchant. */
import { sql } from "kysely";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure, type ConflictErrorDetails } from "#foundation/failure.ts";
import { createRequestBodyErrorDetail } from "#foundation/faults.ts";

interface MarketCountries {
  readonly marketId: string;
  readonly countries: readonly string[];
}

/** Throws if a country already belongs to another market of the merchant. */
export async function requireCountriesNotInOtherMarket(
  transaction: Transaction,
  context: MerchantCommandContext,
  { marketId, countries }: MarketCountries,
): Promise<void> {
  const taken = await transaction
    .selectFrom("marketCountry")
    .innerJoin("market", "market.id", "marketCountry.marketId")
    .select(["marketCountry.country", "market.id", "market.handle", "market.version"])
    .where("marketCountry.merchantId", "=", context.merchantId)
    .where("market.id", "<>", marketId)
    .where(sql<boolean>`country = any(${countries}::text[])`)
    .orderBy("marketCountry.country")
    .execute();
  const [first] = taken;
  if (first === undefined) return;
  const details = taken.map(({ country, handle }) =>
    createRequestBodyErrorDetail(
      `/countries/${countries.indexOf(country)}`,
      "already_exists",
      `${country} already belongs to the market "${handle}".`,
    ),
  );
  const conflict = toMarketConflictDetail(first, "country_taken", {
    countries: taken.map(({ country }) => country),
    handle: first.handle,
  });
  throw createFailure("already_exists", {
    message: details[0]?.message ?? "A country belongs to another market.",
    details,
    conflict,
  });
}

/** Replaces the countries of a market. Returns true if the list of countries has changed. */
export async function saveMarketCountries(
  transaction: Transaction,
  context: MerchantCommandContext,
  { marketId, countries }: MarketCountries,
): Promise<boolean> {
  const { rows } = await sql<{ changes: number }>`
    with wanted as (select country, (place - 1)::int as position from unnest(${countries}::text[])
    with ordinality as w(country, place)),
    removed as (delete from market_country where market_id = ${marketId} and country not in (select country
    from wanted) returning 1),
    saved as (
      insert into market_country (merchant_id, country, market_id, position)
      select ${context.merchantId}, country, ${marketId}, position from wanted
      on conflict (merchant_id, country) do update set position = excluded.position
      where market_country.position <> excluded.position
      returning 1)
    select (select count(*) from removed) + (select count(*) from saved) as changes`.execute(transaction);
  return (rows[0]?.changes ?? 0) > 0;
}

export function toMarketConflictDetail(
  { id, version }: { readonly id: string; readonly version: number },
  reason: string | null = null,
  data: Readonly<Record<string, unknown>> = {},
): ConflictErrorDetails {
  return { resource: "market", id, currentStatus: null, currentVersion: version, reason, data };
}
