/**
 * Creates and changes the delivery methods of a market. A delivery method is identified by its code, and its
 * prices are in the market's currency.
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
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import type { CartTaxRatesAndRules } from "#commerce/pricing/tax-amounts.ts";
import { requireTaxClass } from "#commerce/tax/tax-classes.ts";
import { standardTaxClass } from "#commerce/tax/tax-provider.ts";
import { lockMerchantCatalog } from "#commerce/catalog/change-catalog.ts";
import { createId } from "#foundation/ids.ts";
import { amountMinorMax } from "#foundation/money.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { requireMarket } from "./change-market.ts";

/**
 * All fields of a delivery method. Saving a delivery method replaces all stored fields; only `taxRule` and
 * `taxClass` keep their stored values if they are left out.
 */
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
  /** True if the delivery method is offered to buyers. True by default. */
  readonly active?: boolean | null | undefined;
  readonly position?: number | null | undefined;
  /**
   * How the shipping price is taxed: by the tax class of the delivery method, or in proportion to the
   * delivered goods. If left out, a new method is taxed by its own class, and an existing method keeps its
   * setting.
   */
  readonly taxRule?: CartTaxRatesAndRules["shipping"]["rule"] | null | undefined;
  /**
   * Code of the delivery method's tax class. If left out, a new method belongs to the class `standard`, and
   * an existing one keeps its class.
   */
  readonly taxClass?: string | null | undefined;
}

const daysMax = 365;
const carrierMax = 100;

export async function upsertDeliveryMethod(
  transaction: Transaction,
  context: MerchantCommandContext,
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
  await requireTaxClass(transaction, context, { code: input.taxClass, field: "/taxClass" });
  const { rows } = await sql<{ id: string }>`
    insert into delivery_method as d (id, merchant_id, market_id, code, names, carrier, pickup, price_minor,
    free_from_minor, min_days, max_days, active, position, tax_rule, tax_class, updated_at)
    select ${createId("deliveryMethod", context.now.getTime())}, ${context.merchantId}, ${market.id}, m.code,
    m.names, m.carrier, m.pickup,
      m."priceMinor", m."freeFromMinor", m."minDays", m."maxDays", coalesce(m.active, true),
      coalesce(m.position, 0), coalesce(m."taxRule", o.tax_rule, 'own_class'),
      coalesce(m."taxClass", o.tax_class, ${standardTaxClass}), ${context.now}::timestamptz
    from json_to_record(${JSON.stringify({ ...input, names: toLocalizedTextMap(input.names) })}::json) as m(code
    text, names jsonb, carrier text, pickup boolean,
      "priceMinor" bigint, "freeFromMinor" bigint, "minDays" int, "maxDays" int, active boolean, position int,
      "taxRule" text, "taxClass" text)
      left join delivery_method o on o.market_id = ${market.id} and o.code = m.code
    on conflict (market_id, code) do update set
      names = excluded.names, carrier = excluded.carrier, pickup = excluded.pickup, price_minor =
      excluded.price_minor,
      free_from_minor = excluded.free_from_minor, min_days = excluded.min_days, max_days = excluded.max_days,
      active = excluded.active,
      position = excluded.position, tax_rule = excluded.tax_rule, tax_class = excluded.tax_class,
      updated_at = case when
        (d.names, d.carrier, d.pickup, d.price_minor, d.free_from_minor, d.min_days, d.max_days, d.active,
        d.position, d.tax_rule, d.tax_class) is distinct from
        (excluded.names, excluded.carrier, excluded.pickup, excluded.price_minor, excluded.free_from_minor,
        excluded.min_days, excluded.max_days,
         excluded.active, excluded.position, excluded.tax_rule, excluded.tax_class) then excluded.updated_at else d.updated_at end
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
