/** The tax of a country, or of a region of it, in a market: found by these three. Kept in basis points, because a rate is no float either. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { catalogBounds } from "#commerce/catalog/catalog-fields.ts";
import { countryFaults, faultAt, type Faults, integerFaults, refuseAt, requireNoFaults, textFaults } from "#foundation/faults.ts";
import { lockCatalog } from "#commerce/catalog/change-catalog.ts";
import { createId } from "#foundation/ids.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { requireMarket } from "./of-market.ts";

export interface TaxRateUpsertInput {
  readonly marketId: string;
  /** One of the market's countries. */
  readonly country: string;
  /** ISO 3166-2 in that country; without it the rate of the whole country. */
  readonly regionCode?: string | null | undefined;
  readonly name: string;
  /** 1900 is 19 %. */
  readonly basisPoints: number;
  readonly appliesToShipping: boolean;
}

export async function upsertTaxRate(transaction: Transaction, tenant: CommandContext, input: TaxRateUpsertInput): Promise<{ taxRateId: string }> {
  requireNoFaults(taxRateFaults(input));
  await lockCatalog(transaction, tenant);
  const market = await requireMarket(transaction, tenant, input.marketId);
  if (!market.countries.includes(input.country)) {
    throw refuseAt("invalid_field", "/country", { code: "not_in_market", message: "The market does not have this country." });
  }
  const { country, name, basisPoints, appliesToShipping } = input;
  // The touch without a change makes `returning` speak of rows that stay as they are.
  const { rows } = await sql<{ id: string }>`
    insert into tax_rate as t (id, merchant_id, market_id, country, region_code, name, basis_points, applies_to_shipping, updated_at)
    values (${createId("taxRate", tenant.now.getTime())}, ${tenant.merchantId}, ${market.id}, ${country}, ${input.regionCode ?? null}::text,
      ${name}, ${basisPoints}, ${appliesToShipping}, ${tenant.now})
    on conflict (market_id, country, region_code) do update set
      name = excluded.name, basis_points = excluded.basis_points, applies_to_shipping = excluded.applies_to_shipping,
      updated_at = case when (t.name, t.basis_points, t.applies_to_shipping) is distinct from (excluded.name, excluded.basis_points, excluded.applies_to_shipping)
        then excluded.updated_at else t.updated_at end
    returning id`.execute(transaction);
  return { taxRateId: rows[0]?.id ?? "" };
}

function taxRateFaults({ country, regionCode, name, basisPoints }: TaxRateUpsertInput): Faults {
  const isRegion =
    regionCode === null || regionCode === undefined || (/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(regionCode) && regionCode.startsWith(`${country}-`));
  return [
    ...countryFaults("/country", country),
    ...(isRegion ? [] : [faultAt("/regionCode", "pattern_mismatch", "It is not an ISO 3166-2 code of the country.")]),
    ...textFaults("/name", name, { max: catalogBounds.nameMax }),
    ...integerFaults("/basisPoints", basisPoints, { min: 0, max: 10_000 }),
  ];
}
