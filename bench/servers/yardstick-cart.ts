/**
 * Reads a cart for the yardstick with one statement, in which lists are JSON. Only active carts are
 * supported.
 */
import type { Pool } from "pg";
import { availabilityRankSql, utcSql } from "./sql-parts.ts";
import { type CartRow, toCartPage } from "./yardstick-cart-page.ts";

/** Returns the cart statement. `$1` is the cart id, `$2` the merchant id; `more` has further columns. */
export const cartSql = (more = ""): string => `
select c.id, c.version, c.status, c.country, c.currency, c.tax_included, c.locale, c.subtotal_minor,
c.discount_minor, c.shipping_minor, c.tax_minor,
  c.total_minor, c.delivery_method_id, c.delivery_options, c.warnings, c.order_id,
  ${utcSql("c.address_expires_at")} as address_expires_at,
  ${utcSql("c.created_at")} as created_at, ${utcSql("c.updated_at")} as updated_at, ${utcSql("c.expires_at")}
  as expires_at,
  m.id as merchant_id, m.slug as merchant_slug, m.name as merchant_name, m.default_locale, m.mode,
  (select a.masked from personal_data a where a.id = c.address_id) as address,
  (select json_build_object('sessionId', s.id, 'status', s.status) from hosted_checkout_session s
    where s.cart_id = c.id and s.status not in ('canceled', 'expired') order by s.id desc
    limit 1) as checkout,
  (select json_agg(json_build_object('id', l.id, 'position', l.position, 'productId', l.product_id,
  'variantId', l.variant_id, 'quantity', l.quantity,
      'unit', l.unit_price_minor, 'compareAt', l.compare_at_minor, 'subtotal', l.subtotal_minor, 'discount',
      l.discount_minor, 'tax', l.tax_minor,
      'total', l.total_minor, 'display', l.display, 'requiresShipping', l.requires_shipping, 'restrictions',
      l.restrictions,
      'rank', case when p.status = 'published' then ${availabilityRankSql("v", "sl")} else 6 end,
      'available', case when p.status = 'published' and not v.discontinued
        then least(100, greatest(0, coalesce(sl.on_hand - sl.reserved + sl.backorder_limit, 0))) else 0 end)
        order by l.position, l.id)
    from cart_line l left join variant v on v.id = l.variant_id left join product p on p.id = v.product_id
    left join stock_level sl on sl.variant_id = v.id
    where l.cart_id = c.id) as lines,
  (select json_agg(json_build_object('promotionId', cp.promotion_id, 'trigger', cp.trigger, 'state', cp.state,
  'suspendedReason', cp.suspended_reason,
      'discount', cp.discount_minor, 'allocations', cp.allocations, 'code', pc.code, 'titles', pm.titles,
      'kind', pm.kind, 'basisPoints', pm.basis_points,
      'amount', pm.amount_minor, 'currency', pm.currency, 'startsAt', ${utcSql("pm.starts_at")}, 'endsAt',
      ${utcSql("pm.ends_at")},
      'isExclusive', pm.is_exclusive) order by cp.position, cp.promotion_id)
    from cart_promotion cp join promotion pm on pm.id = cp.promotion_id left join promotion_code pc
    on pc.id = cp.promotion_code_id
    where cp.cart_id = c.id) as promotions${more}
from cart c join merchant m on m.id = c.merchant_id where c.id = $1 and c.merchant_id = $2`;

const statement = cartSql();

export interface CartRequest {
  readonly cartId: string;
  readonly merchantId: string;
  readonly publicUrl: string;
}

export async function readCartPage(
  pool: Pool,
  { cartId, merchantId, publicUrl }: CartRequest,
): Promise<string | undefined> {
  const { rows } = await pool.query<CartRow>({ name: "cart", text: statement, values: [cartId, merchantId] });
  const [row] = rows;
  return row === undefined ? undefined : JSON.stringify({ data: toCartPage(row, publicUrl) });
}
