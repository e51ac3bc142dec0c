/** Inserts an order with its lines and its promotions. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { toJsonbValue } from "#database/sql-fragments.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  findLinesMeetingPromotionConditions,
  type LinesMeetingPromotionConditions,
} from "#commerce/promotions/choose-promotions.ts";
import { findPromotionRules } from "#commerce/promotions/read-promotions.ts";
import type { OrderCommandContext } from "./change-order.ts";
import type { OrderLine, OrderPayment, OrderPromotion } from "./order-aggregate.ts";
import { toStoredTaxLines } from "./order-tax-lines.ts";
import { deriveOrderStatuses } from "./order-statuses.ts";

/** An order line, with the id of the cart line from which it was created. */
export type OrderLineWithCartLineId = OrderLine & { readonly cartLineId: string };

interface OrderToInsert {
  readonly id: string;
  readonly number: string;
  readonly cart: CartAggregate;
  readonly sessionId: string;
  readonly lines: readonly OrderLineWithCartLineId[];
  readonly payment: OrderPayment | null;
}

export async function insertOrder(
  transaction: Transaction,
  { merchantId, now }: OrderCommandContext,
  order: OrderToInsert,
): Promise<void> {
  const { id, number, cart, sessionId, lines, payment } = order;
  const { timeZone } = await transaction
    .selectFrom("market")
    .select("timeZone")
    .where("id", "=", cart.marketId)
    .executeTakeFirstOrThrow();
  const { totalMinor } = cart;
  const payments = payment === null ? [] : [payment];
  const promotions = await placedPromotions(transaction, cart, lines);
  const statuses = deriveOrderStatuses({
    status: "pending",
    totalMinor,
    reducedMinor: 0,
    lines,
    fulfillments: [],
    payments,
    returns: [],
  });
  const delivery = cart.deliveryOptions?.find((option) => option.id === cart.deliveryMethodId);
  await transaction
    .insertInto("salesOrder")
    .values({
      id,
      merchantId,
      number,
      ...statuses,
      cartId: cart.id,
      sessionId,
      marketId: cart.marketId,
      country: cart.country,
      timeZone,
      currency: cart.currency,
      taxIncluded: cart.taxIncluded,
      locale: cart.locale,
      buyerReference: cart.buyerReference,
      buyerSessionId: cart.buyerSessionId,
      buyerEmailId: cart.buyerEmail?.id ?? null,
      addressId: cart.address?.id ?? null,
      delivery: delivery === undefined ? null : JSON.stringify(delivery),
      subtotalMinor: cart.subtotalMinor,
      discountMinor: cart.discountMinor,
      shippingMinor: cart.shippingMinor,
      shippingDiscountMinor: cart.shippingDiscountMinor,
      shippingTaxes: toJsonbValue(cart.shippingTaxes),
      taxLines: JSON.stringify(
        toStoredTaxLines({ ...cart, lines, reducedMinor: 0, shippingReducedMinor: 0 }),
      ),
      taxMinor: cart.taxMinor,
      totalMinor,
      units: lines.reduce((sum, { ordered }) => sum + ordered, 0),
      promotions: JSON.stringify(promotions),
      cancellationRequest: null,
      canceledReason: null,
      canceledActor: null,
      canceledAt: null,
      holdReason: null,
      placedAt: now,
      updatedAt: now,
    })
    .execute();
}

export async function insertOrderLines(
  transaction: Transaction,
  { merchantId }: OrderCommandContext,
  { orderId, lines }: { readonly orderId: string; readonly lines: readonly OrderLineWithCartLineId[] },
): Promise<void> {
  await transaction
    .insertInto("orderLine")
    .values(
      lines.map(({ cartLineId: _cartLine, display, categoryIds, restrictions, taxRate, ...line }) => ({
        ...line,
        taxRate: toJsonbValue(taxRate),
        orderId,
        merchantId,
        categoryIds: [...categoryIds],
        restrictions: [...restrictions],
        display: JSON.stringify(display),
      })),
    )
    .execute();
}

/**
 * Returns the promotions that were applied to the cart, each with its discount for every order line and with
 * the conditions that the order fulfilled.
 */
async function placedPromotions(
  transaction: Transaction,
  cart: CartAggregate,
  lines: readonly OrderLineWithCartLineId[],
): Promise<OrderPromotion[]> {
  const applied = cart.promotions.filter(({ state }) => state === "applied");
  const rules = await findPromotionRules(
    transaction,
    applied.map(({ promotionId }) => promotionId),
  );
  const orderLines = new Map(lines.map(({ id, cartLineId }) => [cartLineId, id]));
  const conditionLines = lines.map(({ id, productId, categoryIds, ordered }) => ({
    id,
    productId,
    categoryIds,
    quantity: ordered,
  }));
  return applied.map(({ promotionId, trigger, kind, code, titles, discountMinor, allocations }) => {
    const rule = rules.get(promotionId);
    const { boughtLineIds, minimum } =
      rule === undefined ? noConditions : findLinesMeetingPromotionConditions(rule, conditionLines);
    return {
      promotionId,
      trigger,
      kind,
      code,
      titles,
      discountMinor,
      allocations: allocations.map(({ lineId, amountMinor }) => ({
        lineId: lineId === null ? null : (orderLines.get(lineId) ?? null),
        amountMinor,
      })),
      boughtLineIds,
      minimum,
    };
  });
}

const noConditions: LinesMeetingPromotionConditions = { boughtLineIds: [], minimum: null };
