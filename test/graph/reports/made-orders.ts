/** Orders written directly into the database, so that a report's figures can be calculated by hand. */
import { createId } from "#foundation/ids.ts";
import type { World } from "#test/support/world.ts";

export interface MadeOrder {
  readonly merchantId: string;
  readonly marketId: string;
  readonly currency: string;
  readonly placedAt: string;
  readonly totalMinor: number;
  readonly reducedMinor?: number;
  readonly discountMinor?: number;
  readonly shippingMinor?: number;
  readonly taxMinor?: number;
  readonly isCanceled?: boolean;
  /** Default DE. */
  readonly country?: string;
  readonly buyerReference?: string;
  /** The quantities, one per line. */
  readonly units?: readonly number[];
  readonly refunds?: readonly { readonly amountMinor: number; readonly status: "succeeded" | "failed" }[];
  readonly promotions?: readonly { readonly promotionId: string; readonly discountMinor: number }[];
  readonly returns?: readonly MadeReturn[];
}

export interface MadeReturn {
  readonly kind: string;
  readonly reason: string;
  readonly status: string;
  readonly units: number;
  readonly refundMinor: number;
  readonly feeMinor: number;
  readonly refundedMinor?: number;
}

/** The parts of an order with all default values. */
interface OrderParts extends Required<Omit<MadeOrder, Nullable>> {
  readonly buyerReference: string | null;
  readonly shippingMinor: number | null;
  readonly taxMinor: number | null;
}

type Nullable = "buyerReference" | "shippingMinor" | "taxMinor";

const defaults = {
  country: "DE",
  buyerReference: null,
  isCanceled: false,
  discountMinor: 0,
  shippingMinor: null,
  taxMinor: null,
  reducedMinor: 0,
  units: [1],
  refunds: [],
  promotions: [],
  returns: [],
};

const id = (kind: Parameters<typeof createId>[0]): string => createId(kind);
const text = (value: string): string => `'${value}'`;

/** Writes the order and its parts in one transaction. Returns are requested a day after the order. */
export async function makeOrder(world: World, order: MadeOrder): Promise<void> {
  await world.database.script((run) =>
    run(`begin; ${statements({ ...defaults, ...order }).join("; ")}; commit`),
  );
}

function statements(order: OrderParts): string[] {
  const { merchantId, marketId, currency, placedAt, totalMinor, isCanceled } = order;
  const [cart, session, made] = [id("cart"), id("checkoutSession"), id("order")];
  const common = `${text(merchantId)}, ${text(order.country)}, ${text(currency)}`;
  const at = `timestamptz ${text(placedAt)}`;
  const lines = order.units.map((units, position) => ({ id: id("orderLine"), units, position }));
  const payment = id("payment");
  const refund = (amountMinor: number, status: string, returnId = "null"): string[] => {
    const operation = id("paymentOperation");
    return [
      `insert into payment_operation (id, merchant_id, payment_id, kind, amount_minor, status, due_at,
        created_at, settled_at)
        values ('${operation}', '${merchantId}', '${payment}', 'refund', ${amountMinor}, '${status}', ${at},
        ${at}, ${at})`,
      `insert into refund (id, merchant_id, payment_id, order_id, return_id, operation_id, status,
        amount_minor, currency, reason, created_at, updated_at)
        values ('${id("refund")}', '${merchantId}', '${payment}', '${made}', ${returnId}, '${operation}',
        '${status}', ${amountMinor}, '${currency}', 'other', ${at}, ${at})`,
    ];
  };
  return [
    `insert into cart (id, merchant_id, country, currency, market_id, tax_included, locale, status, order_id,
      ended_at, created_at, updated_at, expires_at)
      values ('${cart}', ${common}, '${marketId}', true, 'en', 'completed', '${made}', ${at}, ${at}, ${at}, ${at})`,
    `insert into hosted_checkout_session (id, merchant_id, country, currency, cart_id, status, locale,
      amount_total_minor, success_url, cancel_url, submitted_at, completed_at, created_at, updated_at,
      expires_at)
      values ('${session}', ${common}, '${cart}', 'completed', 'en', ${totalMinor}, 'https://x.example',
      'https://x.example', ${at}, ${at}, ${at}, ${at}, ${at})`,
    `insert into sales_order (id, merchant_id, country, currency, number, status, payment_status,
      fulfillment_status, return_status, cart_id, session_id, market_id,
        time_zone, tax_included, locale, subtotal_minor, discount_minor, shipping_minor,
        shipping_discount_minor, tax_minor, total_minor, reduced_minor,
        promotions, canceled_at, buyer_reference, placed_at, updated_at)
      values ('${made}', ${common}, '${made.slice(-12)}', '${isCanceled ? "canceled" : "confirmed"}', 'paid',
      'unfulfilled', 'none', '${cart}', '${session}', '${marketId}',
        'UTC', true, 'en', ${totalMinor}, ${order.discountMinor}, ${order.shippingMinor}, 0,
        ${order.taxMinor}, ${totalMinor}, ${order.reducedMinor},
        '${JSON.stringify(order.promotions)}', ${isCanceled ? at : "null"},
        ${order.buyerReference === null ? "null" : text(order.buyerReference)}, ${at}, ${at})`,
    ...lines.map(
      (
        line,
      ) => `insert into order_line (id, order_id, merchant_id, position, product_id, variant_id, category_ids,
        display, requires_shipping, restrictions,
          unit_price_minor, subtotal_minor, discount_minor, total_minor, ordered)
        values ('${line.id}', '${made}', '${merchantId}', ${line.position}, 'prd_x', 'var_x', '{}', '{}',
        true, '{}', 1, 1, 0, 1, ${line.units})`,
    ),
    ...(totalMinor === 0
      ? []
      : [
          `insert into payment (id, merchant_id, session_id, order_id, provider, method_type, status, currency,
      amount_minor, captured_minor, created_at, updated_at)
      values ('${payment}', '${merchantId}', '${session}', '${made}', 'test', 'card', 'captured',
      '${currency}', ${totalMinor}, ${totalMinor}, ${at}, ${at})`,
        ]),
    ...order.refunds.flatMap(({ amountMinor, status }) => refund(amountMinor, status)),
    ...order.returns.flatMap((back) => {
      const returnId = id("return");
      const rows = [
        `insert into order_return (id, order_id, merchant_id, kind, status, reason, refund_minor, fee_minor,
          requested_at, updated_at)
          values ('${returnId}', '${made}', '${merchantId}', '${back.kind}', '${back.status}',
          '${back.reason}', ${back.refundMinor}, ${back.feeMinor}, ${at} + interval '1 day', ${at})`,
        `insert into return_line (return_id, order_line_id, quantity)
          values ('${returnId}', '${lines[0]?.id}', ${back.units})`,
      ];
      return back.refundedMinor === undefined
        ? rows
        : rows.concat(refund(back.refundedMinor, "succeeded", text(returnId)));
    }),
  ];
}

export interface MarketIds {
  readonly merchantId: string;
  readonly marketId: string;
  readonly handle: string;
}

/** A merchant's markets by their currency. */
export async function marketsOf(world: World, merchantId: string): Promise<ReadonlyMap<string, MarketIds>> {
  const rows = await world.database.db
    .selectFrom("market")
    .select(["id", "handle", "currency"])
    .where("merchantId", "=", merchantId)
    .orderBy("id")
    .execute();
  return new Map(rows.map((row) => [row.currency, { merchantId, marketId: row.id, handle: row.handle }]));
}
