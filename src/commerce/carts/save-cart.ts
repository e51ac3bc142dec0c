/**
 * Writes a cart: the one place that does. Everything of it goes in one statement, and its version rises by one; the database refuses a cart that
 * changed in any other way.
 */
import { type RawBuilder, sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import type { CartAggregate, StoredLine, StoredPromotion } from "./cart-aggregate.ts";
import { cartLifeMs, emailLifeMs } from "./cart-status.ts";
import { atTime } from "./render-cart.ts";
import type { NextCart } from "./reprice.ts";

export interface CartSave {
  readonly cartId: string;
  readonly merchantId: string;
  readonly next: NextCart;
  readonly now: Date;
}

export async function insertCart(transaction: Transaction, save: CartSave): Promise<void> {
  const { cartId, merchantId, next, now } = save;
  await sql`
    with saved as (
      insert into cart (id, merchant_id, status, version, created_at, ${sql.raw(columns.join(", "))})
      select ${cartId}, ${merchantId}, 'active', 1, ${now}::timestamptz, ${sql.raw(columns.map((name) => `n.${name}`).join(", "))} from ${recordOf(next, now)}
      returning id),
    ${linesOf(save)}, ${promotionsOf(save)}
    select 1`.execute(transaction);
}

export interface CartUpdate extends CartSave {
  /** As it was. */
  readonly version: number;
  readonly status: "active" | "locked";
}

export async function updateCart(transaction: Transaction, { version, status, ...save }: CartUpdate): Promise<void> {
  const { cartId, next, now } = save;
  const { rows } = await sql`
    with saved as (
      update cart c set status = ${status}, version = c.version + 1, ${sql.raw(columns.map((name) => `${name} = n.${name}`).join(", "))},
        address_token_digest = case when n.address_id is null then null else coalesce(${next.addressTokenDigest ?? null}::bytea, c.address_token_digest) end
      from ${recordOf(next, now)} where c.id = ${cartId} and c.version = ${version}
      returning c.id),
    email as (
      update personal_data set erase_after = ${new Date(now.getTime() + emailLifeMs)}::timestamptz
      where id = ${next.buyerEmailId}::text and erased_at is null returning 1),
    gone as (delete from cart_line l where l.cart_id = ${cartId} and l.id <> all(${next.lines.map(({ id }) => id)}::text[]) returning 1),
    dropped as (
      delete from cart_promotion p where p.cart_id = ${cartId} and p.promotion_id <> all(${next.promotions.map(({ promotionId }) => promotionId)}::text[])
        and (p.trigger = 'automatic' or ${!next.promotions.some(({ trigger }) => trigger === "code")})
      returning 1),
    ${linesOf(save)}, ${promotionsOf(save)}
    select id from saved`.execute(transaction);
  if (rows.length !== 1) throw new Error(`Cart ${cartId} was locked at version ${version} and has another now.`);
}

/** What is set from the priced cart; the token's digest is set beside it, being no JSON. */
const types = `market_id text, country text, currency text, tax_included boolean, locale text, buyer_reference text, buyer_email_id text,
  subtotal_minor bigint, discount_minor bigint, shipping_minor bigint, shipping_discount_minor bigint, tax_minor bigint, total_minor bigint,
  delivery_method_id text, delivery_options jsonb, warnings jsonb, address_id text, address_expires_at timestamptz, address_expires_at_max timestamptz,
  updated_at timestamptz, expires_at timestamptz`;

const columns = types.split(",").map((column) => column.trim().split(" ")[0] ?? "");

function recordOf(next: NextCart, now: Date): RawBuilder<unknown> {
  const { priced, address } = next;
  const record = {
    market_id: next.marketId,
    country: next.country,
    currency: next.currency,
    tax_included: next.taxIncluded,
    locale: next.locale,
    buyer_reference: next.buyerReference,
    buyer_email_id: next.buyerEmailId,
    subtotal_minor: priced.subtotalMinor,
    discount_minor: priced.discountMinor,
    shipping_minor: priced.shippingMinor,
    shipping_discount_minor: priced.shippingDiscountMinor,
    tax_minor: priced.taxMinor,
    total_minor: priced.totalMinor,
    delivery_method_id: next.deliveryMethodId,
    delivery_options: next.deliveryOptions,
    warnings: next.warnings,
    address_id: address?.id ?? null,
    address_expires_at: address?.expiresAt ?? null,
    address_expires_at_max: address?.expiresAtMax ?? null,
    updated_at: now.toISOString(),
    expires_at: new Date(now.getTime() + cartLifeMs).toISOString(),
  };
  return sql`json_to_record(${JSON.stringify(record)}::json) as n(${sql.raw(types)})`;
}

function linesOf({ cartId, merchantId, next, now }: CartSave): RawBuilder<unknown> {
  return sql`lines as (
    insert into cart_line as l (id, cart_id, merchant_id, position, product_id, variant_id, quantity, unit_price_minor, compare_at_minor, subtotal_minor,
      discount_minor, tax_minor, total_minor, display, requires_shipping, restrictions, created_at)
    select n.id, ${cartId}, ${merchantId}, n.position, n."productId", n."variantId", n.quantity, n."unitPriceMinor", n."compareAtMinor", n."subtotalMinor",
      n."discountMinor", n."taxMinor", n."totalMinor", n.display, n."requiresShipping", n.restrictions, ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(next.lines satisfies readonly StoredLine[])}::json) as n(id text, position int, "productId" text, "variantId" text,
      quantity int, "unitPriceMinor" bigint, "compareAtMinor" bigint, "subtotalMinor" bigint, "discountMinor" bigint, "taxMinor" bigint, "totalMinor" bigint,
      display jsonb, "requiresShipping" boolean, restrictions text[])
    on conflict (id) do update set position = excluded.position, quantity = excluded.quantity, unit_price_minor = excluded.unit_price_minor,
      compare_at_minor = excluded.compare_at_minor, subtotal_minor = excluded.subtotal_minor, discount_minor = excluded.discount_minor,
      tax_minor = excluded.tax_minor, total_minor = excluded.total_minor, display = excluded.display, requires_shipping = excluded.requires_shipping,
      restrictions = excluded.restrictions)`;
}

/** On the code's own index: a cart has one, and a new one takes the old one's row. */
function promotionsOf({ cartId, next }: CartSave): RawBuilder<unknown> {
  const rows = next.promotions.map((promotion, position) => ({ ...promotion, position }) satisfies StoredPromotion & { position: number });
  const from = (trigger: StoredPromotion["trigger"]): RawBuilder<unknown> => sql`
    select ${cartId}, n."promotionId", n.trigger, n."promotionCodeId", n.state, n."suspendedReason", n."discountMinor", n.allocations, n.position
    from json_to_recordset(${JSON.stringify(rows.filter((row) => row.trigger === trigger))}::json) as n("promotionId" text, trigger text,
      "promotionCodeId" text, state text, "suspendedReason" text, "discountMinor" bigint, allocations jsonb, position int)`;
  const target = sql`cart_promotion as p (cart_id, promotion_id, trigger, promotion_code_id, state, suspended_reason, discount_minor, allocations, position)`;
  const amounts = sql`state = excluded.state, suspended_reason = excluded.suspended_reason, discount_minor = excluded.discount_minor,
      allocations = excluded.allocations, position = excluded.position`;
  return sql`automatic as (
    insert into ${target} ${from("automatic")}
    on conflict (cart_id, promotion_id) do update set ${amounts}),
  coded as (
    insert into ${target} ${from("code")}
    on conflict (cart_id) where trigger = 'code' do update set promotion_id = excluded.promotion_id, promotion_code_id = excluded.promotion_code_id, ${amounts})`;
}

export interface CartEnd {
  readonly cart: CartAggregate;
  readonly status: "revoked" | "expired" | "merged";
  readonly revocation?: { readonly reason: string; readonly note: string | null };
  readonly mergedIntoCartId?: string;
  readonly now: Date;
}

/** Ends a cart: its address goes, and with it what only an address tells. That it had run out before is still told. */
export async function endCart(transaction: Transaction, { cart, status, revocation, mergedIntoCartId, now }: CartEnd): Promise<void> {
  const { warnings } = atTime(cart, now);
  const { rows } = await sql`
    with saved as (
      update cart set status = ${status}, version = version + 1, updated_at = ${now},
        ended_at = ${status === "expired" ? null : now}::timestamptz,
        revocation_reason = ${revocation?.reason ?? null}, revocation_note = ${revocation?.note ?? null}, merged_into_cart_id = ${mergedIntoCartId ?? null},
        address_id = null, address_token_digest = null, address_expires_at = null, address_expires_at_max = null, delivery_options = null,
        warnings = ${JSON.stringify(warnings)}::jsonb, delivery_method_id = null, shipping_minor = null, shipping_discount_minor = 0, tax_minor = null,
        discount_minor = discount_minor - shipping_discount_minor, total_minor = subtotal_minor - discount_minor + shipping_discount_minor
      where id = ${cart.id} and version = ${cart.version} returning id),
    lines as (
      update cart_line set tax_minor = null, total_minor = subtotal_minor - discount_minor where cart_id = ${cart.id} and tax_minor is not null),
    promotions as (
      update cart_promotion p set discount_minor = p.discount_minor - s.amount,
        allocations = (select coalesce(jsonb_agg(a), '[]') from jsonb_array_elements(p.allocations) a where a->>'lineId' is not null)
      from (select cart_id, promotion_id, (a->>'amountMinor')::bigint as amount from cart_promotion, jsonb_array_elements(allocations) a
        where cart_id = ${cart.id} and a->>'lineId' is null) s
      where p.cart_id = s.cart_id and p.promotion_id = s.promotion_id)
    select id from saved`.execute(transaction);
  if (rows.length !== 1) throw new Error(`Cart ${cart.id} was locked at version ${cart.version} and has another now.`);
}
