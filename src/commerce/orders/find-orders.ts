/** Finds orders by id, the order of a part (for example a payment), and payments and refunds without an order. */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import { findRowsOrReuseKnownRows, type KnownRow } from "#database/known-rows.ts";
import type { MemorySection } from "#foundation/limited-memory.ts";
import { createPaddedInClauseTemplate, prepareStatementTemplate } from "#database/prepared-template.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { BuyerRepresentedByCaller } from "#commerce/carts/cart-status.ts";
import type { OrderAggregate, OrderPayment, OrderRefund } from "./order-aggregate.ts";
import type { OrderActor } from "./order-states.ts";
import { type PaymentView, type RefundView, toPaymentView, toRefundView } from "./render-parts.ts";

export interface MerchantAndOrderOfOrderPart {
  readonly merchantId: string;
  /** The id of the order; null if the part is a payment or refund of a checkout session without an order. */
  readonly orderId: string | null;
}

/**
 * Returns the merchant and the order to which a part (for example a payment) belongs; undefined if the part
 * does not exist. The caller must check that the part belongs to the caller's merchant.
 */
export async function findMerchantAndOrderOfOrderPart(
  reader: DatabaseOrTransaction,
  { part, id }: { readonly part: OrderPartKind; readonly id: string },
): Promise<MerchantAndOrderOfOrderPart | undefined> {
  const { rows } =
    await sql<MerchantAndOrderOfOrderPart>`select merchant_id, order_id from ${sql.table(orderPartTables[part])}
      where id = ${blankIdWithForbiddenCharacters(id)}`.execute(reader);
  return rows[0];
}

/**
 * Returns those of the given payments that have no order, as a map by payment id. The checkout session of
 * such a payment has not become an order.
 */
export async function findPaymentsWithoutOrder(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, PaymentView>> {
  const { rows } = await sql<
    Omit<OrderPayment, "pending" | "provider"> & { readonly sessionId: string; readonly currency: string }
  >`
    select id, session_id, currency, status, method_type, amount_minor, captured_minor, voided_minor,
    refunded_minor, failure_code,
      ${formatUtcTimeSql(sql`disputed_at`)} as disputed_at, dispute_reason, version, ${formatUtcTimeSql(sql`created_at`)} as
      created_at, ${formatUtcTimeSql(sql`updated_at`)} as updated_at
    from payment where id = any(${ids.map(blankIdWithForbiddenCharacters)}::text[]) and order_id is null`.execute(
    reader,
  );
  return new Map(rows.map((payment) => [payment.id, toPaymentView(payment, { ...payment, orderId: null })]));
}

/**
 * Returns those of the given refunds that have no order, as a map by refund id. Such a refund belongs to a
 * payment that succeeded too late to place an order.
 */
export async function findRefundsWithoutOrder(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, RefundView>> {
  const { rows } = await sql<OrderRefund & { readonly currency: string }>`
    select id, payment_id, return_id, status, amount_minor, currency, reason, note, lines, shipping_minor,
    version,
      ${formatUtcTimeSql(sql`created_at`)} as created_at, ${formatUtcTimeSql(sql`updated_at`)} as updated_at
    from refund where id = any(${ids.map(blankIdWithForbiddenCharacters)}::text[]) and order_id is null`.execute(
    reader,
  );
  return new Map(
    rows.map((refund) => [refund.id, toRefundView(refund, { currency: refund.currency, orderId: null })]),
  );
}

/** The database table of each kind of order part (payment, refund and so on). */
export const orderPartTables = {
  payment: "payment",
  refund: "refund",
  fulfillment: "fulfillment",
  return: "order_return",
  warranty: "warranty_registration",
} as const;

/** The kinds of order parts: objects that belong to an order and have an id of their own. */
export type OrderPartKind = keyof typeof orderPartTables;

/**
 * Returns true if the caller acts for a buyer and the order belongs to another buyer. If an order has no
 * buyer reference, it belongs to the buyer session that created its cart.
 */
export function isOrderOfOtherBuyer(
  order: Pick<OrderAggregate, "buyerReference" | "buyerSessionId">,
  caller: BuyerRepresentedByCaller & { readonly actor: OrderActor },
): boolean {
  if (caller.actor !== "buyer") return false;
  return order.buyerReference === null
    ? order.buyerSessionId === null || order.buyerSessionId !== caller.buyerSessionId
    : order.buyerReference !== caller.buyerReference;
}

/**
 * Reads orders by id; ids without an order are ignored. The caller must check that the orders belong to the
 * right merchant.
 */
export async function findOrders(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, OrderAggregate>> {
  const list = createPaddedInClauseTemplate(ids);
  const statement = prepareStatementTemplate<{ order: OrderAggregate }>(reader, {
    form: `orders ${list.form}`,
    write: () => selectOrders("order", list.write()),
    values: list.values,
  });
  const { rows } = await reader.executeQuery(statement);
  return new Map(rows.map(({ order }) => [order.id, order]));
}

/**
 * Reads orders by id like `findOrders`. Returns the known order (the same object) for each id whose order has
 * not changed, neither its own row nor any of its parts.
 */
export const findOrdersOrReuseKnownOrders = (
  reader: DatabaseOrTransaction,
  orders: { readonly ids: readonly string[]; readonly known: MemorySection<KnownRow<OrderAggregate>> },
): Promise<Map<string, OrderAggregate>> =>
  findRowsOrReuseKnownRows(reader, orders, {
    form: "orders",
    write: (inList) => selectOrders("content", inList),
    values: {},
  });

const selectOrders = (column: string, inList: RawBuilder<boolean>): RawBuilder<unknown> =>
  sql`select o.id, ${aggregate} as ${sql.ref(column)} from sales_order o
    join merchant m on m.id = o.merchant_id where o.id ${inList}`;

const lines = sql`(select json_agg(json_build_object('id', l.id, 'position', l.position, 'productId',
  l.product_id, 'variantId', l.variant_id,
    'categoryIds', l.category_ids, 'display', l.display, 'requiresShipping', l.requires_shipping,
    'restrictions', l.restrictions,
    'unitPriceMinor', l.unit_price_minor, 'subtotalMinor', l.subtotal_minor, 'discountMinor',
    l.discount_minor, 'taxRate', l.tax_rate, 'taxMinor', l.tax_minor,
    'totalMinor', l.total_minor, 'reducedMinor', l.reduced_minor, 'ordered', l.ordered, 'canceled',
    l.canceled, 'allocated', l.allocated,
    'shipped', l.shipped, 'delivered', l.delivered, 'returnRequested', l.return_requested, 'returned',
    l.returned, 'refunded', l.refunded)
    order by l.position, l.id) from order_line l where l.order_id = o.id)`;

const fulfillments = sql`coalesce((select json_agg(json_build_object('id', f.id, 'returnId', f.return_id,
  'status', f.status, 'type', f.type,
    'carrier', f.carrier, 'trackingNumber', f.tracking_number, 'trackingUrl', f.tracking_url,
    'packingStartedAt', ${formatUtcTimeSql(sql`f.packing_started_at`)},
    'shippedAt', ${formatUtcTimeSql(sql`f.shipped_at`)}, 'estimatedDeliveryAt',
    ${formatUtcTimeSql(sql`f.estimated_delivery_at`)}, 'deliveredAt', ${formatUtcTimeSql(sql`f.delivered_at`)},
    'version', f.version, 'createdAt', ${formatUtcTimeSql(sql`f.created_at`)}, 'updatedAt',
    ${formatUtcTimeSql(sql`f.updated_at`)},
    'lines', (select json_agg(json_build_object('lineId', fl.order_line_id, 'quantity', fl.quantity,
    'unreserved', fl.unreserved)
      order by l.position)
      from fulfillment_line fl join order_line l on l.id = fl.order_line_id where fl.fulfillment_id = f.id))
      order by f.id)
  from fulfillment f where f.order_id = o.id), '[]'::json)`;

const payments = sql`coalesce((select json_agg(json_build_object('id', p.id, 'status', p.status, 'provider',
  p.provider, 'methodType', p.method_type,
    'amountMinor', p.amount_minor, 'capturedMinor', p.captured_minor, 'voidedMinor', p.voided_minor,
    'refundedMinor', p.refunded_minor,
    'failureCode', p.failure_code, 'disputedAt', ${formatUtcTimeSql(sql`p.disputed_at`)}, 'disputeReason',
    p.dispute_reason, 'version', p.version,
    'createdAt', ${formatUtcTimeSql(sql`p.created_at`)}, 'updatedAt', ${formatUtcTimeSql(sql`p.updated_at`)},
    'pending', coalesce((select json_agg(json_build_object('kind', po.kind, 'amountMinor', po.amount_minor)
    order by po.id)
      from payment_operation po where po.payment_id = p.id and po.status = 'pending'), '[]'::json))
      order by p.id)
  from payment p where p.order_id = o.id), '[]'::json)`;

const refunds = sql`coalesce((select json_agg(json_build_object('id', r.id, 'paymentId', r.payment_id,
  'returnId', r.return_id, 'status', r.status,
    'amountMinor', r.amount_minor, 'reason', r.reason, 'note', r.note, 'lines', r.lines, 'shippingMinor',
    r.shipping_minor, 'version', r.version,
    'createdAt', ${formatUtcTimeSql(sql`r.created_at`)}, 'updatedAt', ${formatUtcTimeSql(sql`r.updated_at`)}) order by r.id)
  from refund r where r.order_id = o.id), '[]'::json)`;

const returns = sql`coalesce((select json_agg(json_build_object('id', r.id, 'kind', r.kind, 'status',
  r.status, 'reason', r.reason, 'note', r.note,
    'declineReason', r.decline_reason, 'inspectionNote', r.inspection_note, 'method', r.method, 'settlement',
    r.settlement,
    'refundMinor', r.refund_minor, 'feeMinor', r.fee_minor,
    'exchangeVariantId', r.exchange_variant_id, 'policyId', r.policy_id, 'requestedAt',
    ${formatUtcTimeSql(sql`r.requested_at`)}, 'closedAt', ${formatUtcTimeSql(sql`r.closed_at`)},
    'version', r.version, 'updatedAt', ${formatUtcTimeSql(sql`r.updated_at`)},
    'lines', (select json_agg(json_build_object('lineId', rl.order_line_id, 'quantity', rl.quantity,
    'received', rl.received, 'accepted', rl.accepted,
      'restocked', rl.restocked) order by l.position)
      from return_line rl join order_line l on l.id = rl.order_line_id where rl.return_id = r.id))
      order by r.id)
  from order_return r where r.order_id = o.id), '[]'::json)`;

const policies = sql`coalesce((select json_agg(json_build_object('id', s.id, 'type', s.type, 'summary',
  s.summary, 'summaries', s.summaries, 'url', s.url, 'rules', s.rules,
    'capturedAt', ${formatUtcTimeSql(sql`s.captured_at`)}) order by s.type) from policy_snapshot s
    where s.order_id = o.id), '[]'::json)`;

const warranties = sql`coalesce((select json_agg(json_build_object('id', w.id, 'lineId', w.order_line_id,
  'serialNumber', w.serial_number,
    'status', w.status, 'startsAt', ${formatUtcTimeSql(sql`w.starts_at`)}, 'endsAt', ${formatUtcTimeSql(sql`w.ends_at`)},
    'repairsLeft', w.repairs_left,
    'replacementsLeft', w.replacements_left, 'version', w.version, 'createdAt', ${formatUtcTimeSql(sql`w.created_at`)},
    'updatedAt', ${formatUtcTimeSql(sql`w.updated_at`)},
    'claims', coalesce((select json_agg(json_build_object('id', c.id, 'kind', c.kind, 'status', c.status,
    'description', c.description,
      'resolution', c.resolution, 'openedAt', ${formatUtcTimeSql(sql`c.opened_at`)}, 'resolvedAt',
      ${formatUtcTimeSql(sql`c.resolved_at`)}, 'returnId', c.return_id) order by c.id)
      from warranty_claim c where c.warranty_id = w.id), '[]'::json)) order by w.id)
  from warranty_registration w where w.order_id = o.id), '[]'::json)`;

const timeline = sql`coalesce((select json_agg(json_build_object('at', ${formatUtcTimeSql(sql`t.at`)}, 'type', t.type,
  'actor', t.actor) order by t.id)
  from (select * from order_timeline where order_id = o.id order by id desc limit 50) t), '[]'::json)`;

const aggregate = sql<OrderAggregate>`json_build_object(
  'id', o.id, 'number', o.number, 'version', o.version, 'status', o.status, 'paymentStatus', o.payment_status,
  'fulfillmentStatus', o.fulfillment_status, 'returnStatus', o.return_status,
  'merchant', json_build_object('id', m.id, 'slug', m.slug, 'name', m.name, 'status', m.status,
  'defaultLocale', m.default_locale,
    'referenceKey', m.reference_key),
  'cartId', o.cart_id, 'sessionId', o.session_id, 'marketId', o.market_id, 'country', o.country, 'timeZone',
  o.time_zone, 'currency', o.currency,
  'taxIncluded', o.tax_included, 'locale', o.locale, 'buyerReference', o.buyer_reference,
  'buyerSessionId', o.buyer_session_id,
  'buyerEmail', (select json_build_object('id', e.id, 'hint', e.masked->'emailHint') from personal_data e
  where e.id = o.buyer_email_id),
  'address', (select json_build_object('id', a.id, 'masked', a.masked) from personal_data a
  where a.id = o.address_id),
  'delivery', o.delivery, 'subtotalMinor', o.subtotal_minor, 'discountMinor', o.discount_minor,
  'shippingMinor', o.shipping_minor,
  'shippingDiscountMinor', o.shipping_discount_minor, 'shippingTaxes', o.shipping_taxes,
  'taxMinor', o.tax_minor, 'totalMinor', o.total_minor,
  'reducedMinor', o.reduced_minor,
  'shippingReducedMinor', o.shipping_reduced_minor, 'promotions', o.promotions, 'cancellationRequest',
  o.cancellation_request,
  'cancellation', case when o.canceled_at is not null then json_build_object('reason', o.canceled_reason,
  'note', o.canceled_note,
    'actor', o.canceled_actor, 'at', ${formatUtcTimeSql(sql`o.canceled_at`)}) end,
  'holdReason', o.hold_reason, 'placedAt', ${formatUtcTimeSql(sql`o.placed_at`)}, 'updatedAt',
  ${formatUtcTimeSql(sql`o.updated_at`)},
  'lines', ${lines}, 'fulfillments', ${fulfillments}, 'payments', ${payments}, 'refunds', ${refunds},
  'returns', ${returns},
  'policies', ${policies}, 'warranties', ${warranties}, 'timeline', ${timeline})`;

/**
 * Returns failure codes of payments, as a map by checkout session id. Contains only sessions whose latest
 * payment has failed.
 */
export async function findCheckoutSessionPaymentFailureCodes(
  reader: DatabaseOrTransaction,
  sessionIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ sessionId: string; failureCode: string | null }>`
    select distinct on (session_id) session_id, failure_code from payment
    where session_id = any(${sessionIds}::text[])
    order by session_id, created_at desc, id desc`.execute(reader);
  return new Map(
    rows.flatMap(({ sessionId, failureCode }) =>
      failureCode === null ? [] : [[sessionId, failureCode] as const],
    ),
  );
}
