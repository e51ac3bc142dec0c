/**
 * Creates and changes the delivery methods and tax rates of a market. A delivery method is identified by its
 * code, and its prices are in the market's currency. A tax rate is identified by its country and region. Tax
 * rates are stored in basis points (hundredths of a percent), so that no rate is a floating-point number.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import {
  catalogBounds,
  findLocalizedTextFaults,
  type LocalizedTextInput,
  findSlugFaults,
  toLocalizedTextMap,
} from "#commerce/catalog/catalog-fields.ts";
import {
  getCountryFieldErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  createInvalidFieldFailure,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import { lockMerchantCatalog } from "#commerce/catalog/change-catalog.ts";
import { createId } from "#foundation/ids.ts";
import { amountMinorMax } from "#foundation/money.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { requireMarket } from "./change-market.ts";

/** All fields of a delivery method. Saving a delivery method replaces all stored fields. */
export interface UpsertDeliveryMethodInput {
  readonly marketId: string;
  readonly code: string;
  readonly names: readonly LocalizedTextInput[];
  readonly carrier?: string | null | undefined;
  readonly pickup: boolean;
  readonly priceMinor: number;
  /** Subtotal from which delivery is free, in minor units; null if delivery is never free. */
  readonly freeFromMinor?: number | null | undefined;
  /**
   * ISO 4217 code of the currency in which the delivery price is given. If given, it must be the market's
   * currency.
   */
  readonly currency?: string | null | undefined;
  readonly minDays: number;
  readonly maxDays: number;
  /** True if the delivery method is offered to buyers. If left out: true. */
  readonly active?: boolean | null | undefined;
  readonly position?: number | null | undefined;
}

const daysMax = 365;
const carrierMax = 100;

export async function upsertDeliveryMethod(
  transaction: Transaction,
  context: CommandContext,
  input: UpsertDeliveryMethodInput,
): Promise<{ deliveryMethodId: string }> {
  requireNoInputFieldErrors(deliveryMethodFaults(input));
  await lockMerchantCatalog(transaction, context);
  const market = await requireMarket(transaction, context, input.marketId);
  if (typeof input.currency === "string" && input.currency !== market.currency) {
    requireNoInputFieldErrors([
      createRequestBodyErrorDetail(
        "/currency",
        "currency_mismatch",
        `The market's currency is ${market.currency}.`,
      ),
    ]);
  }
  const { rows } = await sql<{ id: string }>`
    insert into delivery_method as d (id, merchant_id, market_id, code, names, carrier, pickup, price_minor,
    free_from_minor, min_days, max_days, active, position, updated_at)
    select ${createId("deliveryMethod", context.now.getTime())}, ${context.merchantId}, ${market.id}, m.code,
    m.names, m.carrier, m.pickup,
      m."priceMinor", m."freeFromMinor", m."minDays", m."maxDays", coalesce(m.active, true),
      coalesce(m.position, 0), ${context.now}::timestamptz
    from json_to_record(${JSON.stringify({ ...input, names: toLocalizedTextMap(input.names) })}::json) as m(code
    text, names jsonb, carrier text, pickup boolean,
      "priceMinor" bigint, "freeFromMinor" bigint, "minDays" int, "maxDays" int, active boolean, position int)
    on conflict (market_id, code) do update set
      names = excluded.names, carrier = excluded.carrier, pickup = excluded.pickup, price_minor =
      excluded.price_minor,
      free_from_minor = excluded.free_from_minor, min_days = excluded.min_days, max_days = excluded.max_days,
      active = excluded.active,
      position = excluded.position,
      updated_at = case when
        (d.names, d.carrier, d.pickup, d.price_minor, d.free_from_minor, d.min_days, d.max_days, d.active,
        d.position) is distinct from
        (excluded.names, excluded.carrier, excluded.pickup, excluded.price_minor, excluded.free_from_minor,
        excluded.min_days, excluded.max_days,
         excluded.active, excluded.position) then excluded.updated_at else d.updated_at end
    returning id`.execute(transaction);
  return { deliveryMethodId: rows[0]?.id ?? "" };
}

function deliveryMethodFaults(input: UpsertDeliveryMethodInput): InputFieldErrors {
  return [
    ...findSlugFaults("/code", input.code),
    ...findLocalizedTextFaults("/names", input.names, { max: catalogBounds.nameMax }),
    ...getTextFieldErrors("/carrier", input.carrier, { max: carrierMax }),
    ...getIntegerFieldErrors("/priceMinor", input.priceMinor, { min: 0, max: amountMinorMax }),
    ...getIntegerFieldErrors("/freeFromMinor", input.freeFromMinor, { min: 0, max: amountMinorMax }),
    ...getIntegerFieldErrors("/minDays", input.minDays, { min: 0, max: daysMax }),
    ...getIntegerFieldErrors("/maxDays", input.maxDays, { min: 0, max: daysMax }),
    ...(input.maxDays < input.minDays
      ? [createRequestBodyErrorDetail("/maxDays", "out_of_range", "maxDays must be at least minDays.")]
      : []),
    ...getIntegerFieldErrors("/position", input.position, { min: 0, max: catalogBounds.positionMax }),
  ];
}

/** The tax rate of a country, or of a region of the country. */
export interface UpsertTaxRateInput {
  readonly marketId: string;
  /** ISO 3166-1 alpha-2 code of the taxed country; must be one of the market's countries. */
  readonly country: string;
  /** ISO 3166-2 code of a region of the country. If left out, the rate is valid in the whole country. */
  readonly regionCode?: string | null | undefined;
  readonly name: string;
  /** Tax rate in basis points: 1900 means 19 %. */
  readonly basisPoints: number;
  readonly appliesToShipping: boolean;
}

export async function upsertTaxRate(
  transaction: Transaction,
  context: CommandContext,
  input: UpsertTaxRateInput,
): Promise<{ taxRateId: string }> {
  requireNoInputFieldErrors(taxRateFaults(input));
  await lockMerchantCatalog(transaction, context);
  const market = await requireMarket(transaction, context, input.marketId);
  if (!market.countries.includes(input.country)) {
    throw createInvalidFieldFailure("invalid_field", "/country", {
      code: "not_in_market",
      message: "The country must be one of the market's countries.",
    });
  }
  const { country, name, basisPoints, appliesToShipping } = input;
  // `do update` writes an existing row even if the tax rate is unchanged. With `do nothing`, PostgreSQL would
  // not return the id of the existing row.
  const { rows } = await sql<{ id: string }>`
    insert into tax_rate as t (id, merchant_id, market_id, country, region_code, name, basis_points,
    applies_to_shipping, updated_at)
    values (${createId("taxRate", context.now.getTime())}, ${context.merchantId}, ${market.id}, ${country},
    ${input.regionCode ?? null}::text,
      ${name}, ${basisPoints}, ${appliesToShipping}, ${context.now})
    on conflict (market_id, country, region_code) do update set
      name = excluded.name, basis_points = excluded.basis_points, applies_to_shipping =
      excluded.applies_to_shipping,
      updated_at = case when (t.name, t.basis_points, t.applies_to_shipping) is distinct
      from (excluded.name, excluded.basis_points, excluded.applies_to_shipping)
        then excluded.updated_at else t.updated_at end
    returning id`.execute(transaction);
  return { taxRateId: rows[0]?.id ?? "" };
}

function taxRateFaults({ country, regionCode, name, basisPoints }: UpsertTaxRateInput): InputFieldErrors {
  const isRegion =
    regionCode === null ||
    regionCode === undefined ||
    (/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(regionCode) && regionCode.startsWith(`${country}-`));
  return [
    ...getCountryFieldErrors("/country", country),
    ...(isRegion
      ? []
      : [
          createRequestBodyErrorDetail(
            "/regionCode",
            "pattern_mismatch",
            "The region must be an ISO 3166-2 code of the country.",
          ),
        ]),
    ...getTextFieldErrors("/name", name, { max: catalogBounds.nameMax }),
    ...getIntegerFieldErrors("/basisPoints", basisPoints, { min: 0, max: 10_000 }),
  ];
}
