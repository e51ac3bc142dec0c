/**
 * Changes and deletes a saved tax rate. Both change only this rate: a day that the rate no longer has keeps
 * no rate of the tax class, and other rates are not lengthened or shortened. Placed orders have copies of
 * their taxes, so that no order changes.
 */
import { sql } from "kysely";
import { lockMerchantCatalog } from "#commerce/catalog/change-catalog.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  createTaxRateOverlapFailure,
  findTaxRateValueFaults,
  type TaxRateValues,
} from "./tax-rate-faults.ts";
import { findOverlappingTaxRate } from "./tax-rate-periods.ts";
import { findTaxRatePeriods, type TaxRateSeries } from "./tax-rates.ts";

export interface UpdateTaxRateInput {
  readonly taxRateId: string;
  readonly name?: string | null | undefined;
  readonly basisPoints?: number | null | undefined;
  readonly appliesToShipping?: boolean | null | undefined;
  /** The first local day of the rate. Undefined keeps the first day; null removes it. */
  readonly validFrom?: string | null | undefined;
  /** The last local day of the rate. Undefined keeps the last day; null removes it. */
  readonly validTo?: string | null | undefined;
}

/** Changes the values of a tax rate. Refuses days on which another rate of the class is valid. */
export async function updateTaxRate(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpdateTaxRateInput,
): Promise<{ marketId: string; taxRateId: string }> {
  await lockMerchantCatalog(transaction, context);
  const saved = await requireTaxRate(transaction, context, input.taxRateId);
  const values: TaxRateValues = {
    name: input.name ?? saved.name,
    basisPoints: input.basisPoints ?? saved.basisPoints,
    appliesToShipping: input.appliesToShipping ?? saved.appliesToShipping,
    validFrom: input.validFrom === undefined ? saved.validFrom : input.validFrom,
    validTo: input.validTo === undefined ? saved.validTo : input.validTo,
  };
  requireNoInputFieldErrors(
    findTaxRateValueFaults(values, input.validTo === undefined ? "/validFrom" : "/validTo"),
  );
  const periods = await findTaxRatePeriods(transaction, saved);
  const overlapping = findOverlappingTaxRate(
    periods.filter(({ id }) => id !== saved.id),
    values,
  );
  if (overlapping !== undefined)
    throw createTaxRateOverlapFailure(overlapping.rate, overlapping.isLater ? "/validTo" : "/validFrom");
  const { name, basisPoints, appliesToShipping, validFrom, validTo } = values;
  await sql`
    update tax_rate set name = ${name}, basis_points = ${basisPoints}, applies_to_shipping = ${appliesToShipping},
      valid_from = ${validFrom}::date, valid_to = ${validTo}::date, updated_at = ${context.now}
    where id = ${saved.id} and (name, basis_points, applies_to_shipping, valid_from, valid_to) is distinct from
      (${name}::text, ${basisPoints}::integer, ${appliesToShipping}::boolean, ${validFrom}::date, ${validTo}::date)
    `.execute(transaction);
  return { marketId: saved.marketId, taxRateId: saved.id };
}

export async function deleteTaxRate(
  transaction: Transaction,
  context: MerchantCommandContext,
  { taxRateId }: { readonly taxRateId: string },
): Promise<{ taxRateId: string }> {
  await lockMerchantCatalog(transaction, context);
  const { id } = await requireTaxRate(transaction, context, taxRateId);
  await transaction.deleteFrom("taxRate").where("id", "=", id).execute();
  return { taxRateId: id };
}

async function requireTaxRate(
  transaction: Transaction,
  { merchantId }: Pick<MerchantCommandContext, "merchantId">,
  taxRateId: string,
): Promise<TaxRateValues & TaxRateSeries & { readonly id: string }> {
  const rate = await transaction
    .selectFrom("taxRate")
    .select(["id", "marketId", "country", "regionCode", "taxClass", "name", "basisPoints"])
    .select([
      "appliesToShipping",
      sql<string | null>`valid_from::text`.as("validFrom"),
      sql<string | null>`valid_to::text`.as("validTo"),
    ])
    .where("id", "=", blankIdWithForbiddenCharacters(taxRateId))
    .where("merchantId", "=", merchantId)
    .executeTakeFirst();
  if (rate === undefined) throw createFailure("resource_not_found");
  return rate;
}
