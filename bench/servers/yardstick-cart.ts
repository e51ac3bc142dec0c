/** The statement that reads a cart for the yardstick, with lists as JSON. Only active carts are supported. */
import { availabilityRankSql, utcSql } from "./sql-parts.ts";
import type { RowStatement } from "./yardstick-rows.ts";

/**
 * Returns the cart statement. The first two arguments are SQL expressions for the cart id and the merchant
 * id; `more` has further columns.
 */
export const cartSql = (cartId: string, merchantId: string, more = ""): string => `
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
from cart c join merchant m on m.id = c.merchant_id where c.id = ${cartId} and c.merchant_id = ${merchantId}`;

export const cartStatement: RowStatement = { name: "cart", sql: cartSql, parameters: [] };
