/**
 * Adds tax rates to a market. A rate applies to one tax class in a country or in a region of the country,
 * from its first to its last day. The database refuses two rates of a class that are valid in the same place
 * on the same day. Rates are stored in basis points (hundredths of a percent), so that no rate is a
 * floating-point number.
 */
import { type RawBuilder, sql } from "kysely";
import { lockMerchantCatalog } from "#commerce/catalog/change-catalog.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { requireMarket } from "#commerce/markets/change-market.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createInvalidFieldFailure, requireNoInputFieldErrors } from "#foundation/faults.ts";
import { createId } from "#foundation/ids.ts";
import { requireTaxClass } from "./tax-classes.ts";
import { standardTaxClass } from "./tax-provider.ts";
import {
  createTaxRateOverlapFailure,
  findTaxPlaceFaults,
  findTaxRateValueFaults,
} from "./tax-rate-faults.ts";
import { planPeriodOfNewTaxRate, type TaxRatePeriod, type TaxRatePeriodPlan } from "./tax-rate-periods.ts";

/** The tax rate of a class in a country, or in a region of the country. */
export interface UpsertTaxRateInput {
  readonly marketId: string;
  /** ISO 3166-1 alpha-2 code of the taxed country; must be one of the market's countries. */
  readonly country: string;
  /** ISO 3166-2 code of a region of the country. If left out, the rate is valid in the whole country. */
  readonly regionCode?: string | null | undefined;
  /** Code of the tax class. If left out: `standard`. */
  readonly taxClass?: string | null | undefined;
  readonly name: string;
  /** Tax rate in basis points: 1900 means 19 %. */
  readonly basisPoints: number;
  readonly appliesToShipping: boolean;
  /** The first local day on which the rate is valid. If left out, the rate has no first day. */
  readonly validFrom?: string | null | undefined;
  /**
   * The last local day on which the rate is valid. If left out, the rate is valid until the next rate of the
   * class begins.
   */
  readonly validTo?: string | null | undefined;
}

/** Adds a tax rate, and replaces, shortens or splits the rates that are valid on its days. */
export async function upsertTaxRate(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpsertTaxRateInput,
): Promise<{ taxRateId: string }> {
  requireTaxRateFields(input);
  await lockMerchantCatalog(transaction, context);
  const { series, plan } = await planTaxRate(transaction, context, input);
  return { taxRateId: await savePlannedRate(transaction, context, { ...input, ...series, plan }) };
}

/** An existing tax rate that a new rate changes, and the periods in which the existing rate stays valid. */
export interface OverlappedTaxRate {
  readonly taxRateId: string;
  /** Empty if the new rate replaces the existing rate; two periods if the new rate splits it. */
  readonly remainingPeriods: readonly Pick<TaxRatePeriod, "validFrom" | "validTo">[];
}

/** Returns which existing rates `upsertTaxRate` would change. Refuses the input as `upsertTaxRate` does. */
export async function findTaxRateOverlaps(
  reader: DatabaseOrTransaction,
  scope: Pick<MerchantCommandContext, "merchantId">,
  input: UpsertTaxRateInput,
): Promise<{ readonly marketId: string; readonly overlaps: readonly OverlappedTaxRate[] }> {
  requireTaxRateFields(input);
  const { series, existing, plan } = await planTaxRate(reader, scope, input);
  return { marketId: series.marketId, overlaps: listOverlappedRates(existing, plan) };
}

function requireTaxRateFields(input: UpsertTaxRateInput): void {
  const { country, regionCode, validFrom, validTo } = input;
  requireNoInputFieldErrors([
    ...findTaxPlaceFaults(country, regionCode ?? null),
    ...findTaxRateValueFaults({ ...input, validFrom: validFrom ?? null, validTo: validTo ?? null }),
  ]);
}

interface PlannedTaxRate {
  readonly series: TaxRateSeries;
  readonly existing: readonly TaxRatePeriod[];
  readonly plan: TaxRatePeriodPlan;
}

async function planTaxRate(
  reader: DatabaseOrTransaction,
  scope: Pick<MerchantCommandContext, "merchantId">,
  input: UpsertTaxRateInput,
): Promise<PlannedTaxRate> {
  const market = await requireMarket(reader, scope, input.marketId);
  if (!market.countries.includes(input.country)) {
    throw createInvalidFieldFailure("invalid_field", "/country", {
      code: "not_in_market",
      message: `The country must be one of the market's countries: ${market.countries.join(", ")}.`,
    });
  }
  const taxClass = input.taxClass ?? standardTaxClass;
  await requireTaxClass(reader, scope, { code: taxClass, field: "/taxClass" });
  const series = {
    marketId: market.id,
    country: input.country,
    regionCode: input.regionCode ?? null,
    taxClass,
  };
  const existing = await findTaxRatePeriods(reader, series);
  const plan = planPeriodOfNewTaxRate(existing, {
    validFrom: input.validFrom ?? null,
    validTo: input.validTo ?? null,
  });
  if ("overlapped" in plan) throw createTaxRateOverlapFailure(plan.overlapped, "/validTo");
  return { series, existing, plan };
}

const listOverlappedRates = (
  existing: readonly TaxRatePeriod[],
  { replacedId, postponed, shortened, continued }: TaxRatePeriodPlan,
): OverlappedTaxRate[] =>
  existing.flatMap(({ id, validFrom, validTo }) => {
    const remainingPeriods = [
      ...(shortened?.id === id ? [{ validFrom, validTo: shortened.validTo }] : []),
      ...(postponed?.id === id ? [{ validFrom: postponed.validFrom, validTo }] : []),
      ...(continued?.id === id ? [{ validFrom: continued.validFrom, validTo: continued.validTo }] : []),
    ];
    return id === replacedId || remainingPeriods.length > 0 ? [{ taxRateId: id, remainingPeriods }] : [];
  });

/** The rates of one tax class in one country or region of a market. */
export interface TaxRateSeries {
  readonly marketId: string;
  readonly country: string;
  readonly regionCode: string | null;
  readonly taxClass: string;
}

/** Returns the periods of all rates of one tax class in one country or region, sorted by the first day. */
export async function findTaxRatePeriods(
  reader: DatabaseOrTransaction,
  { marketId, country, regionCode, taxClass }: TaxRateSeries,
): Promise<readonly TaxRatePeriod[]> {
  const { rows } = await sql<TaxRatePeriod>`
    select id, valid_from::text as valid_from, valid_to::text as valid_to from tax_rate
    where market_id = ${marketId} and country = ${country}
    and region_code is not distinct from ${regionCode}::text and tax_class = ${taxClass}
    order by valid_from nulls first`.execute(reader);
  return rows;
}

type RateToSave = UpsertTaxRateInput & TaxRateSeries & { readonly plan: TaxRatePeriodPlan };

/**
 * Saves the rate and returns its id. First ends the earlier rate before the new one, or postpones the rate
 * with the same first day, because the database refuses overlaps at once. Last inserts the copy of the
 * earlier rate that continues after the new one.
 */
async function savePlannedRate(
  transaction: Transaction,
  context: MerchantCommandContext,
  rate: RateToSave,
): Promise<string> {
  const { shortened, postponed, continued } = rate.plan;
  if (shortened !== null)
    await sql`update tax_rate set valid_to = ${shortened.validTo}::date, updated_at = ${context.now}
      where id = ${shortened.id}`.execute(transaction);
  if (postponed !== null)
    await sql`update tax_rate set valid_from = ${postponed.validFrom}::date, updated_at = ${context.now}
      where id = ${postponed.id}`.execute(transaction);
  const { rows } = await saveStatement(context, rate).execute(transaction);
  if (continued !== null)
    await sql`
      insert into tax_rate (id, merchant_id, market_id, country, region_code, tax_class, name, basis_points,
        applies_to_shipping, valid_from, valid_to, updated_at)
      select ${createId("taxRate", context.now.getTime())}, merchant_id, market_id, country, region_code,
        tax_class, name, basis_points, applies_to_shipping, ${continued.validFrom}::date,
        ${continued.validTo}::date, ${context.now}
      from tax_rate where id = ${continued.id}`.execute(transaction);
  return rows[0]?.id ?? "";
}

function saveStatement(
  { merchantId, now }: MerchantCommandContext,
  { plan, marketId, country, regionCode, taxClass, name, basisPoints, appliesToShipping }: RateToSave,
): RawBuilder<{ id: string }> {
  const { replacedId, validFrom, validTo } = plan;
  if (replacedId === null)
    return sql`
      insert into tax_rate (id, merchant_id, market_id, country, region_code, tax_class, name, basis_points,
        applies_to_shipping, valid_from, valid_to, updated_at)
      values (${createId("taxRate", now.getTime())}, ${merchantId}, ${marketId}, ${country}, ${regionCode},
        ${taxClass}, ${name}, ${basisPoints}, ${appliesToShipping}, ${validFrom}::date, ${validTo}::date, ${now})
      returning id`;
  return sql`
    update tax_rate t set name = n.name, basis_points = n.basis_points,
      applies_to_shipping = n.applies_to_shipping, valid_to = n.valid_to,
      updated_at = case when (t.name, t.basis_points, t.applies_to_shipping, t.valid_to)
        is distinct from (n.name, n.basis_points, n.applies_to_shipping, n.valid_to)
        then ${now}::timestamptz else t.updated_at end
    from (select ${name}::text as name, ${basisPoints}::integer as basis_points,
      ${appliesToShipping}::boolean as applies_to_shipping, ${validTo}::date as valid_to) n
    where t.id = ${replacedId} returning t.id`;
}
