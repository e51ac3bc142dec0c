/** The statement that reads the fields of an order's answer for the yardstick, with lists as JSON. */
import { utcSql } from "./sql-parts.ts";
import type { RowStatement } from "./yardstick-rows.ts";

/** Returns the order statement. The arguments are SQL expressions for the order id and the merchant id. */
const orderSql = (orderId: string, merchantId: string): string => `
select o.id, o.number, o.version, o.status, o.payment_status, o.fulfillment_status, o.return_status,
o.country, o.currency, o.locale, o.tax_included,
  o.subtotal_minor, o.discount_minor, o.shipping_minor, o.tax_minor, o.total_minor, o.reduced_minor,
  o.promotions, o.cart_id, o.session_id,
  o.buyer_reference, o.canceled_reason, o.canceled_actor, ${utcSql("o.canceled_at")} as canceled_at,
  ${utcSql("o.placed_at")} as placed_at,
  ${utcSql("o.updated_at")} as updated_at, m.id as merchant_id, m.slug as merchant_slug, m.name as
  merchant_name, m.default_locale, m.reference_key,
  (select e.masked->>'emailHint' from personal_data e where e.id = o.buyer_email_id) as email_hint,
  (select a.masked from personal_data a where a.id = o.address_id) as address,
  (select json_agg(json_build_object('id', l.id, 'productId', l.product_id, 'variantId', l.variant_id,
  'display', l.display, 'restrictions', l.restrictions,
      'unit', l.unit_price_minor, 'subtotal', l.subtotal_minor, 'discount', l.discount_minor, 'tax',
      l.tax_minor, 'total', l.total_minor,
      'reduced', l.reduced_minor, 'quantities', json_build_object('ordered', l.ordered, 'canceled',
      l.canceled, 'allocated', l.allocated,
        'shipped', l.shipped, 'delivered', l.delivered, 'returnRequested', l.return_requested, 'returned',
        l.returned, 'refunded', l.refunded),
      'warranty', (select json_build_object('id', w.id, 'endsAt', ${utcSql("w.ends_at")})
      from warranty_registration w
        where w.order_line_id = l.id and w.status = 'active' order by w.id limit 1))
        order by l.position, l.id)
    from order_line l where l.order_id = o.id) as lines,
  (select json_agg(json_build_object('id', f.id, 'status', f.status, 'type', f.type, 'carrier', f.carrier,
  'trackingNumber', f.tracking_number,
      'trackingUrl', f.tracking_url, 'shippedAt', ${utcSql("f.shipped_at")}, 'estimatedDeliveryAt',
      ${utcSql("f.estimated_delivery_at")},
      'deliveredAt', ${utcSql("f.delivered_at")}, 'lines', (select json_agg(json_build_object('lineId',
      fl.order_line_id, 'quantity', fl.quantity)
        order by l.position) from fulfillment_line fl join order_line l on l.id = fl.order_line_id
        where fl.fulfillment_id = f.id)) order by f.id)
    from fulfillment f where f.order_id = o.id) as fulfillments,
  (select json_agg(json_build_object('id', p.id, 'status', p.status, 'methodType', p.method_type, 'amount',
  p.amount_minor,
      'captured', p.captured_minor, 'refunded', p.refunded_minor, 'createdAt', ${utcSql("p.created_at")})
      order by p.id)
    from payment p where p.order_id = o.id) as payments,
  (select json_agg(json_build_object('id', r.id, 'status', r.status, 'amount', r.amount_minor, 'reason',
  r.reason,
      'createdAt', ${utcSql("r.created_at")}) order by r.id) from refund r
      where r.order_id = o.id) as refunds,
  (select json_agg(json_build_object('id', r.id, 'status', r.status, 'kind', r.kind, 'requestedAt',
  ${utcSql("r.requested_at")},
      'lines', (select json_agg(json_build_object('lineId', rl.order_line_id, 'quantity', rl.quantity)
      order by l.position)
        from return_line rl join order_line l on l.id = rl.order_line_id where rl.return_id = r.id))
        order by r.id)
    from order_return r where r.order_id = o.id) as returns,
  (select json_agg(json_build_object('id', s.id, 'type', s.type, 'summary', s.summary, 'capturedAt',
  ${utcSql("s.captured_at")}) order by s.type)
    from policy_snapshot s where s.order_id = o.id) as policies,
  (select json_agg(json_build_object('at', ${utcSql("t.at")}, 'type', t.type, 'actor', t.actor) order by t.id)
    from (select * from order_timeline where order_id = o.id order by id desc limit 50) t) as timeline
from sales_order o join merchant m on m.id = o.merchant_id
where o.id = ${orderId} and o.merchant_id = ${merchantId}`;

export const orderStatement: RowStatement = { name: "order", sql: orderSql, parameters: [] };
