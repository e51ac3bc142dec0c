/**
 * Inserts orders without a checkout: creates a cart through the API, then writes by SQL the rows that placing
 * an order leaves, so that later steps are tested in isolation.
 */
import { sql } from "kysely";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { PolicyType } from "#commerce/markets/change-policy.ts";
import { defaultPolicyRules, type PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import type { OrderAggregate, OrderLine, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import type { OrderStatus } from "#commerce/orders/order-states.ts";
import { findOrders } from "#commerce/orders/find-orders.ts";
import { deriveOrderStatuses } from "#commerce/orders/order-statuses.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { type DemoTableRowToInsert, insertTableRows } from "#demo/rows/insert-rows.ts";
import { createId } from "#foundation/ids.ts";
import { berlin, changeCart, deliveryOf, makeCart } from "#test/operations/cart-calls.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";
import type { World } from "./world.ts";

type Counted =
  | "canceled"
  | "allocated"
  | "shipped"
  | "delivered"
  | "returnRequested"
  | "returned"
  | "refunded";

export interface OrderOverrides {
  /** The buyer's reference in the frontend; null for a guest. */
  readonly buyer?: string | null;
  readonly email?: string;
  /** Quantities by SKU. */
  readonly lines?: Readonly<Record<string, number>>;
  /** Unit counts by SKU. All units are allocated by default. */
  readonly quantities?: Readonly<Record<string, Partial<Record<Counted, number>>>>;
  readonly restrictions?: Readonly<Record<string, readonly string[]>>;
  readonly payment?: "authorized" | "captured" | "none";
  readonly status?: OrderStatus;
  readonly placedAt?: Date;
  /** If set, one fulfillment delivered all units at this time. */
  readonly deliveredAt?: Date;
  /** The code of a delivery method. */
  readonly delivery?: string;
  /** Deviations from the policy rules in force when the order was placed. */
  readonly policies?: { readonly [Type in PolicyType]?: Partial<PolicyRulesByType[Type]> };
}

/** The policy rules of a merchant in Germany who has no rules of its own. */
const germanRules: PolicyRulesByType = {
  ...defaultPolicyRules,
  withdrawal: { windowDays: 14 },
  warranty: { months: 24, repairs: 2, replacements: 1 },
};

export const defaultBuyer = "buyer-1";

/** Inserts an order of the demo's first merchant in Germany. By default it is confirmed and paid. */
export async function insertOrder(world: World, overrides: OrderOverrides = {}): Promise<OrderAggregate> {
  const {
    lines = { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 2 },
    buyer = defaultBuyer,
    email,
    delivery = "standard",
  } = overrides;
  await receive(world, lines);
  const input = buyer === null ? {} : { buyerReference: buyer };
  const { id: cartId } = await makeCart(world, { token: "admin", lines, input });
  await changeCart(world, "cartAddressSet", { token: "admin", cartId, input: { address: berlin } });
  await changeCart(world, "cartDeliveryOptionSelect", {
    token: "admin",
    cartId,
    input: { optionId: await deliveryOf(world, delivery) },
  });
  if (email !== undefined)
    await changeCart(world, "cartBuyerSet", {
      token: "admin",
      cartId,
      input: { buyerReference: buyer, email },
    });
  const { db } = world.database;
  const cart = (await findCarts(db, [cartId], world.clock.now())).get(cartId);
  if (cart === undefined) throw new Error("The cart is not there.");
  const orderId = await runInTransaction(db, (transaction) =>
    place(transaction, { cart, overrides, now: world.clock.now() }),
  );
  return readOrder(world, orderId);
}

/** Adds the quantities about to be sold to the stock, so that tests do not sell each other's goods. */
async function receive({ database }: World, lines: Readonly<Record<string, number>>): Promise<void> {
  for (const [sku, quantity] of Object.entries(lines))
    await sql`
      with received as (
        update stock_level s set on_hand = s.on_hand + ${quantity}::int from variant v
        where v.id = s.variant_id and v.sku = ${sku} returning s.*)
      insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason, created_at)
      select merchant_id, variant_id, ${quantity}::int, on_hand, 'received', updated_at
      from received`.execute(database.db);
}

export async function readOrder({ database }: World, orderId: string): Promise<OrderAggregate> {
  const order = (await findOrders(database.db, [orderId])).get(orderId);
  if (order === undefined) throw new Error(`There is no order ${orderId}.`);
  return order;
}

interface Placing {
  readonly cart: CartAggregate;
  readonly overrides: OrderOverrides;
  readonly now: Date;
}

async function place(transaction: Transaction, { cart, overrides, now }: Placing): Promise<string> {
  const placedAt = overrides.placedAt ?? now;
  const orderId = createId("order", placedAt.getTime());
  const sessionId = createId("checkoutSession", placedAt.getTime());
  const ids = { orderId, sessionId, merchantId: cart.merchant.id };
  const lines = await linesOf(transaction, { cart, overrides, ids });
  const payments = paymentsOf({ cart, overrides, ids, placedAt });
  const { timeZone } = await transaction
    .selectFrom("market")
    .select("timeZone")
    .where("id", "=", cart.marketId)
    .executeTakeFirstOrThrow();
  await insertTableRows(transaction, {
    hostedCheckoutSession: [sessionRow(cart, { ...ids, placedAt })],
    salesOrder: [
      {
        ...orderRow({ cart, overrides, ids, placedAt }),
        ...statusesOf({ cart, overrides, lines, payments }),
        timeZone,
      },
    ],
    orderLine: lines,
    payment: payments,
    policySnapshot: policyRows({ overrides, ids, placedAt }),
    ...deliveryRows({ overrides, ids, lines }),
  });
  await sql`insert into order_timeline (order_id, at, type, actor)
    values (${orderId}, ${placedAt}, 'order_placed', 'system')`.execute(transaction);
  await sql`update cart set status = 'completed', order_id = ${orderId}, ended_at = ${placedAt}, version =
    version + 1 where id = ${cart.id}`.execute(transaction);
  for (const line of lines) await sell(transaction, line, placedAt);
  return orderId;
}

/** Takes allocated units out of the stock on hand and reserves the rest. */
async function sell(
  transaction: Transaction,
  { merchantId, variantId, ordered, canceled = 0, allocated = 0 }: LineRow,
  at: Date,
): Promise<void> {
  await sql`
    with sold as (
      update stock_level set on_hand = on_hand - ${allocated}::int, reserved = reserved +
      ${ordered - canceled - allocated}::int
      where variant_id = ${variantId} returning on_hand)
    insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason, created_at)
    select ${merchantId}, ${variantId}, ${-allocated}::int, on_hand, 'sold', ${at}::timestamptz from sold
    where ${allocated}::int > 0`.execute(transaction);
}

interface Ids {
  readonly orderId: string;
  readonly sessionId: string;
  readonly merchantId: string;
}

type LineRow = DemoTableRowToInsert<"orderLine">;
type PaymentRow = DemoTableRowToInsert<"payment">;

async function linesOf(
  transaction: Transaction,
  { cart, overrides, ids }: Pick<Placing, "cart" | "overrides"> & { readonly ids: Ids },
): Promise<LineRow[]> {
  const { rows } = await sql<{ productId: string; ids: string[] }>`
    with recursive above as (
      select pc.product_id, c.id, c.parent_id from product_category pc join category c
      on c.id = pc.category_id
      union select above.product_id, c.id, c.parent_id from above join category c on c.id = above.parent_id)
    select product_id, array_agg(id order by id) as ids from above
    where product_id = any(${cart.lines.map(({ productId }) => productId)}::text[])
    group by product_id`.execute(transaction);
  const categories = new Map(rows.map((row) => [row.productId, row.ids]));
  return cart.lines.map(({ display, quantity, ...line }): LineRow => {
    const counted = {
      canceled: 0,
      shipped: 0,
      delivered: 0,
      returnRequested: 0,
      returned: 0,
      refunded: 0,
      ...overrides.quantities?.[display.sku],
    };
    const sent =
      overrides.deliveredAt === undefined
        ? {}
        : { shipped: quantity - counted.canceled, delivered: quantity - counted.canceled };
    return {
      id: createId("orderLine"),
      orderId: ids.orderId,
      merchantId: ids.merchantId,
      position: line.position,
      productId: line.productId,
      variantId: line.variantId,
      categoryIds: categories.get(line.productId) ?? [],
      display: { ...display },
      requiresShipping: line.requiresShipping,
      restrictions: [...(overrides.restrictions?.[display.sku] ?? line.restrictions)],
      unitPriceMinor: line.unitPriceMinor,
      subtotalMinor: line.subtotalMinor,
      discountMinor: line.discountMinor,
      taxRate: line.taxRate,
      taxMinor: line.taxMinor,
      totalMinor: line.totalMinor,
      ordered: quantity,
      allocated: quantity - counted.canceled,
      ...counted,
      ...sent,
    };
  });
}

interface Dated extends Pick<Placing, "cart" | "overrides"> {
  readonly ids: Ids;
  readonly placedAt: Date;
}

function paymentsOf({ cart, overrides, ids, placedAt }: Dated): PaymentRow[] {
  const { payment = "captured" } = overrides;
  if (payment === "none" || cart.totalMinor === 0) return [];
  const { orderId, sessionId, merchantId } = ids;
  return [
    {
      id: createId("payment", placedAt.getTime()),
      merchantId,
      sessionId,
      orderId,
      provider: "test",
      methodType: "card",
      status: payment,
      currency: cart.currency,
      amountMinor: cart.totalMinor,
      capturedMinor: payment === "captured" ? cart.totalMinor : 0,
      voidedMinor: 0,
      refundedMinor: 0,
      createdAt: placedAt,
      updatedAt: placedAt,
      version: 1,
    },
  ];
}

function statusesOf({
  cart,
  overrides,
  lines,
  payments,
}: Pick<Placing, "cart" | "overrides"> & {
  readonly lines: readonly LineRow[];
  readonly payments: readonly PaymentRow[];
}): ReturnType<typeof deriveOrderStatuses> {
  return deriveOrderStatuses({
    status: overrides.status ?? "confirmed",
    totalMinor: cart.totalMinor,
    reducedMinor: 0,
    lines: lines as unknown as OrderLine[],
    payments: payments.map((row) => ({ disputedAt: null, ...row })) as unknown as OrderPayment[],
    fulfillments: [],
    returns: [],
  });
}

function orderRow({
  cart,
  overrides,
  ids,
  placedAt,
}: Dated): Omit<
  DemoTableRowToInsert<"salesOrder">,
  "timeZone" | "status" | "paymentStatus" | "fulfillmentStatus" | "returnStatus"
> {
  const { marketId, country, currency, taxIncluded, locale, buyerReference } = cart;
  const { subtotalMinor, discountMinor, shippingMinor, shippingDiscountMinor, shippingTaxes } = cart;
  const { taxMinor, totalMinor } = cart;
  const isCanceled = overrides.status === "canceled";
  return {
    id: ids.orderId,
    merchantId: ids.merchantId,
    cartId: cart.id,
    sessionId: ids.sessionId,
    version: 1,
    number: ids.orderId.slice(-10).toUpperCase(),
    marketId,
    country,
    currency,
    taxIncluded,
    locale,
    buyerReference,
    buyerEmailId: cart.buyerEmail?.id ?? null,
    addressId: cart.address?.id ?? null,
    delivery: { ...cart.deliveryOptions?.find(({ id }) => id === cart.deliveryMethodId) },
    subtotalMinor,
    discountMinor,
    shippingMinor,
    shippingDiscountMinor,
    shippingTaxes,
    taxMinor,
    totalMinor,
    reducedMinor: 0,
    shippingReducedMinor: 0,
    promotions: [],
    cancellationRequest: null,
    canceledReason: isCanceled ? "other" : null,
    canceledActor: isCanceled ? "merchant" : null,
    canceledAt: isCanceled ? placedAt : null,
    holdReason: overrides.status === "on_hold" ? "Being looked at." : null,
    placedAt,
    updatedAt: placedAt,
  };
}

function sessionRow(
  cart: CartAggregate,
  { orderId, sessionId, merchantId, placedAt }: Ids & { readonly placedAt: Date },
): DemoTableRowToInsert<"hostedCheckoutSession"> {
  const { country, currency, locale, totalMinor } = cart;
  return {
    id: sessionId,
    merchantId,
    cartId: cart.id,
    status: "completed",
    version: 3,
    orderId,
    expiresAt: new Date(placedAt.getTime() + 3_600_000),
    createdAt: placedAt,
    updatedAt: placedAt,
    submittedAt: placedAt,
    completedAt: placedAt,
    successUrl: "https://shop.example/thanks",
    cancelUrl: "https://shop.example/cart",
    country,
    currency,
    locale,
    amountTotalMinor: totalMinor,
  };
}

function policyRows({
  overrides,
  ids,
  placedAt,
}: Omit<Dated, "cart">): DemoTableRowToInsert<"policySnapshot">[] {
  return (Object.keys(germanRules) as PolicyType[]).map((type) => ({
    id: createId("policy"),
    orderId: ids.orderId,
    merchantId: ids.merchantId,
    type,
    summary: `How it is with ${type}.`,
    summaries: { en: `How it is with ${type}.` },
    url: null,
    rules: { ...germanRules[type], ...overrides.policies?.[type] },
    capturedAt: placedAt,
  }));
}

function deliveryRows({
  overrides: { deliveredAt },
  ids,
  lines,
}: Pick<Placing, "overrides"> & { readonly ids: Ids; readonly lines: readonly LineRow[] }): {
  fulfillment?: DemoTableRowToInsert<"fulfillment">[];
  fulfillmentLine?: DemoTableRowToInsert<"fulfillmentLine">[];
} {
  if (deliveredAt === undefined) return {};
  const id = createId("fulfillment", deliveredAt.getTime());
  const { orderId, merchantId } = ids;
  const times = {
    packingStartedAt: deliveredAt,
    shippedAt: deliveredAt,
    deliveredAt,
    createdAt: deliveredAt,
    updatedAt: deliveredAt,
  };
  return {
    fulfillment: [{ id, orderId, merchantId, status: "delivered", type: "shipping", version: 4, ...times }],
    fulfillmentLine: lines.map(({ id: orderLineId, ordered, canceled = 0 }) => ({
      fulfillmentId: id,
      orderLineId,
      quantity: ordered - canceled,
    })),
  };
}
