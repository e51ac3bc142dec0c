/**
 * The SQL parts of the statements that insert and update carts. One statement writes a cart with its lines
 * and promotions.
 */
import { type RawBuilder, sql } from "kysely";
import { createNamedSqlTemplateParameter } from "#database/prepared-template.ts";
import { cartColumns, cartColumnTypes, type StoredCartPromotion, toSnakeCase } from "./cart-aggregate.ts";
import { cartLifetimeMs } from "./cart-status.ts";
import { type RepricedCart, toCartColumnValues } from "./cart-draft.ts";

export const cartId = createNamedSqlTemplateParameter<string>("cartId");
export const merchantId = createNamedSqlTemplateParameter<string>("merchantId");
export const savedAt = createNamedSqlTemplateParameter<Date>("now");

/** The values from which the rows of a cart in the database are written. */
export interface CartValuesToStore {
  readonly cartId: string;
  readonly merchantId: string;
  readonly next: RepricedCart;
  readonly now: Date;
}

/** Returns the SQL parameters that the insert statement and the update statement of carts have in common. */
export function toCartInsertAndUpdateParameters({
  cartId: id,
  merchantId: owner,
  next,
  now: at,
}: CartValuesToStore): Readonly<Record<string, unknown>> {
  return { cartId: id, merchantId: owner, now: at, record: JSON.stringify(toCartRecord(next, at)) };
}

/**
 * SQL types of further columns that are saved with a cart, in addition to `cartColumns`. The digest of the
 * address token is missing here: it is binary, which JSON cannot contain, so it is a separate parameter of
 * the statement.
 */
const furtherColumnTypes = {
  buyer_email_id: "text",
  address_id: "text",
  address_expires_at: "timestamptz",
  address_expires_at_max: "timestamptz",
  updated_at: "timestamptz",
  expires_at: "timestamptz",
};

const cartColumnNames = cartColumns.map((name) => [name, toSnakeCase(name)] as const);

const columnTypes: readonly (readonly [column: string, type: string])[] = [
  ...cartColumnNames.map(([name, column]) => [column, cartColumnTypes[name]] as const),
  ...Object.entries(furtherColumnTypes),
];
const types = columnTypes.map(([column, type]) => `${column} ${type}`).join(", ");
export const cartRowColumns = columnTypes.map(([column]) => column);

function toCartRecord(next: RepricedCart, at: Date): Readonly<Record<string, unknown>> {
  const values = toCartColumnValues(next);
  const { address } = next;
  const further: Readonly<Record<keyof typeof furtherColumnTypes, string | null>> = {
    buyer_email_id: next.buyerEmailId,
    address_id: address?.id ?? null,
    address_expires_at: address?.expiresAt ?? null,
    address_expires_at_max: address?.expiresAtMax ?? null,
    updated_at: at.toISOString(),
    expires_at: new Date(at.getTime() + cartLifetimeMs).toISOString(),
  };
  return {
    ...Object.fromEntries(cartColumnNames.map(([name, column]) => [column, values[name]])),
    ...further,
  };
}

export const cartRecord = sql`json_to_record(${createNamedSqlTemplateParameter("record")}::json)
  as n(${sql.raw(types)})`;

export const upsertLines = sql`lines as (
    insert into cart_line as l (id, cart_id, merchant_id, position, product_id, variant_id, quantity,
    unit_price_minor, compare_at_minor, subtotal_minor,
      discount_minor, tax_rate, tax_minor, total_minor, display, requires_shipping, restrictions, created_at)
    select n.id, ${cartId}, ${merchantId}, n.position, n."productId", n."variantId", n.quantity,
    n."unitPriceMinor", n."compareAtMinor", n."subtotalMinor",
      n."discountMinor", n."taxRate", n."taxMinor", n."totalMinor", n.display, n."requiresShipping", n.restrictions,
      ${savedAt}::timestamptz
    from json_to_recordset(${createNamedSqlTemplateParameter("lines")}::json)
      as n(id text, position int, "productId" text, "variantId" text, quantity int,
      "unitPriceMinor" bigint, "compareAtMinor" bigint, "subtotalMinor" bigint, "discountMinor"
      bigint, "taxRate" jsonb, "taxMinor" bigint, "totalMinor" bigint,
      display jsonb, "requiresShipping" boolean, restrictions text[])
    on conflict (id) do update set position = excluded.position, quantity = excluded.quantity,
    unit_price_minor = excluded.unit_price_minor,
      compare_at_minor = excluded.compare_at_minor, subtotal_minor = excluded.subtotal_minor, discount_minor =
      excluded.discount_minor,
      tax_rate = excluded.tax_rate, tax_minor = excluded.tax_minor, total_minor = excluded.total_minor,
      display = excluded.display, requires_shipping = excluded.requires_shipping,
      restrictions = excluded.restrictions)`;

const selectPromotions = (trigger: StoredCartPromotion["trigger"]): RawBuilder<unknown> => sql`
    select ${cartId}, n."promotionId", n.trigger, n."promotionCodeId", n.state, n."suspendedReason",
    n."discountMinor", n.allocations, n.position
    from json_to_recordset(${createNamedSqlTemplateParameter(trigger)}::json) as n("promotionId" text, trigger text,
      "promotionCodeId" text, state text, "suspendedReason" text, "discountMinor" bigint, allocations jsonb,
      position int)`;

const promotionTarget = sql`cart_promotion as p (cart_id, promotion_id, trigger, promotion_code_id, state,
    suspended_reason, discount_minor, allocations, position)`;

const promotionAmounts = sql`state = excluded.state, suspended_reason = excluded.suspended_reason,
    discount_minor = excluded.discount_minor, allocations = excluded.allocations, position = excluded.position`;

export const upsertAutomaticPromotions = sql`automatic as (
    insert into ${promotionTarget} ${selectPromotions("automatic")}
    on conflict (cart_id, promotion_id) do update set ${promotionAmounts})`;

/**
 * SQL that inserts or updates the promotion with a code. A cart has at most one such promotion. The `on
 * conflict` clause therefore compares only the cart, not the promotion, so that a new code overwrites the row
 * of the old code.
 */
export const upsertCodePromotion = sql`coded as (
    insert into ${promotionTarget} ${selectPromotions("code")}
    on conflict (cart_id) where trigger = 'code' do update
    set promotion_id = excluded.promotion_id, promotion_code_id = excluded.promotion_code_id, ${promotionAmounts})`;
