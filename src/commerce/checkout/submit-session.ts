/**
 * Submits a checkout: the buyer confirms the total and gives a payment token. Before the payment, the cart is
 * checked against current prices and stock, and the stock and promotion uses of the order are taken. The
 * checkout cannot be changed until the payment provider has answered.
 */
import {
  cancelPlannedErasureOfOrderData,
  getPersonalDataIdsOfCartOrOrder,
} from "#commerce/addresses/personal-data.ts";
import type { CartAggregate, StoredCartWarning } from "#commerce/carts/cart-aggregate.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import {
  type InputFieldErrors,
  createRequestBodyErrorDetail,
  getIntegerFieldErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import type { ChosenPaymentProvider } from "#commerce/payments/connections.ts";
import { paymentProviderTraits } from "#commerce/payments/provider-list.ts";
import { startPayment } from "#commerce/payments/payment-rows.ts";
import type { PromotionRefusalReason } from "#commerce/promotions/promotion-rule.ts";
import { reservePromotionUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import { type Failure, createFailureWithDetail } from "#foundation/failure.ts";
import { amountMinorMax, isCurrencyCode, createMoney } from "#foundation/money.ts";
import {
  lockCartAndCheckoutSession,
  repriceCheckoutSessionCart,
  saveCheckoutSession,
  copyCheckoutSessionFieldsFromCart,
  publishCheckoutSessionEvent,
} from "./change-session.ts";
import { requireAvailableCartLines, requireStockForAllCartLines } from "./session-stock.ts";
import {
  createCheckoutSessionConflictFailure,
  requireOpenCheckoutSession,
  type CheckoutSessionAggregate,
  type LockedCartAndCheckoutSession,
} from "./session-aggregate.ts";

export interface SubmitCheckoutSessionInput extends ExpectedVersionInput {
  readonly sessionId: string;
  /**
   * The total amount that the buyer has confirmed, in minor units of the currency. Submitting fails if the
   * current total is different.
   */
  readonly expectedAmount: { readonly amountMinor: number; readonly currency: string };
  /**
   * The token from the payment provider's payment form. Not needed if the total is 0, and ignored if the
   * buyer pays on a page of the provider.
   */
  readonly paymentToken?: string | null | undefined;
}

export interface CheckoutSessionSubmitResult extends LockedCartAndCheckoutSession {
  /** True if submitting changed the prices of the cart, so that the changed cart was saved. */
  readonly isCartChanged: boolean;
}

export async function submitCheckoutSession(
  transaction: Transaction,
  context: CartCommandContext,
  input: SubmitCheckoutSessionInput,
): Promise<CheckoutSessionSubmitResult> {
  requireNoInputFieldErrors(submitFaults(input));
  const locked = await lockCartAndCheckoutSession(transaction, context, input.sessionId);
  const { session } = locked;
  requireOpenCheckoutSession(session, input, context.now);
  const { cart, warnings, isChanged } = await repriceCheckoutSessionCart(transaction, context, {
    ...locked,
    isSubmitted: true,
  });
  const { chosen } = session.paymentSetup;
  // A session that cannot be paid causes a failure, which rolls back this change of the cart. The failure
  // therefore contains the cart's version before the change.
  requireReadyToPay(
    { cart: { ...cart, version: locked.cart.version }, session, warnings, chosen },
    input,
    context.now,
  );
  await takeCartPromotionUses(transaction, context, { cart, session });
  await cancelPlannedErasureOfOrderData(transaction, getPersonalDataIdsOfCartOrOrder(cart));
  const token = input.paymentToken ?? null;
  await startSessionPayment(transaction, context, { cart, session, chosen, token });
  const patch = {
    ...copyCheckoutSessionFieldsFromCart(cart),
    status: "processing",
    submittedAt: context.now,
  } as const;
  const after = await saveCheckoutSession(transaction, context, { session, patch });
  const submitted = { cart: withSessionStatus(cart, after), session: after };
  publishCheckoutSessionEvent(context, "checkout_session.processing", {
    before: session,
    after,
    carts: { before: locked.cart, after: cart },
    // If the total is 0, the order is placed in the same transaction, which changes both again.
    final: cart.totalMinor > 0 ? submitted : undefined,
  });
  return { ...submitted, isCartChanged: isChanged };
}

const withSessionStatus = (cart: CartAggregate, { status }: CheckoutSessionAggregate): CartAggregate => ({
  ...cart,
  session: cart.session === null ? null : { ...cart.session, status },
});

const tokenPattern = /^[\x21-\x7e]{1,255}$/;

function submitFaults({
  expectedAmount: { amountMinor, currency },
  paymentToken,
}: SubmitCheckoutSessionInput): InputFieldErrors {
  const isToken = paymentToken === null || paymentToken === undefined || tokenPattern.test(paymentToken);
  return [
    ...getIntegerFieldErrors("/expectedAmount/amountMinor", amountMinor, { min: 0, max: amountMinorMax }),
    ...(isCurrencyCode(currency)
      ? []
      : [
          createRequestBodyErrorDetail(
            "/expectedAmount/currency",
            "unknown_currency",
            '"currency" must be a currency code of ISO 4217.',
          ),
        ]),
    ...(isToken
      ? []
      : [
          createRequestBodyErrorDetail(
            "/paymentToken",
            "pattern_mismatch",
            '"paymentToken" must have 1 to 255 printable ASCII characters.',
          ),
        ]),
  ];
}

interface PricedSession extends LockedCartAndCheckoutSession {
  readonly warnings: readonly StoredCartWarning[];
  /** The payment provider of the checkout; null if the merchant has disconnected its provider. */
  readonly chosen: ChosenPaymentProvider | null;
}

/**
 * Throws if the checkout session cannot be paid, for example because the cart is empty or no delivery option
 * is chosen. Most of these reasons are checked before the confirmed total is compared, because they can be
 * the cause of a different total.
 */
function requireReadyToPay(
  priced: PricedSession,
  { expectedAmount, paymentToken }: SubmitCheckoutSessionInput,
  now: Date,
): void {
  const { cart, session, warnings, chosen } = priced;
  if (cart.lines.length === 0)
    throw createCheckoutSessionConflictFailure("invalid_state", session, { now, reason: "cart_empty" });
  requireAvailableCartLines(cart, warnings, now);
  requireStockForAllCartLines(cart, warnings, now);
  requireDeliveryChosen(cart, session, now);
  requirePromotionCodeLeft(priced, now);
  const { totalMinor, currency } = cart;
  if (totalMinor !== expectedAmount.amountMinor || currency !== expectedAmount.currency)
    throw createCheckoutSessionConflictFailure("checkout_amount_changed", session, {
      now,
      data: { amountTotal: createMoney(totalMinor, currency) },
    });
  if (totalMinor === 0) return;
  if (chosen === null)
    throw createCheckoutSessionConflictFailure("invalid_state", session, {
      now,
      reason: "payment_provider_missing",
    });
  const { hasPaymentPage, canCharge } = paymentProviderTraits[chosen.provider];
  if (!canCharge(totalMinor, currency))
    throw createCheckoutSessionConflictFailure("invalid_state", session, {
      now,
      reason: "currency_not_payable",
      data: { amountTotal: createMoney(totalMinor, currency) },
    });
  if (!hasPaymentPage && (paymentToken === null || paymentToken === undefined)) {
    const message = '"paymentToken" is required, because the total is above 0.';
    throw createFailureWithDetail("missing_field", {
      in: "body",
      field: "/paymentToken",
      code: "required",
      message,
    });
  }
}

function requireDeliveryChosen(cart: CartAggregate, session: CheckoutSessionAggregate, now: Date): void {
  const lineIds = cart.lines.filter(({ requiresShipping }) => requiresShipping).map(({ id }) => id);
  if (lineIds.length === 0) return;
  if (cart.address === null)
    throw createCheckoutSessionConflictFailure("invalid_state", session, {
      now,
      reason: "address_required",
      data: { lineIds },
    });
  if (cart.deliveryMethodId === null)
    throw createCheckoutSessionConflictFailure("invalid_state", session, {
      now,
      reason: "delivery_option_required",
      data: { lineIds },
    });
}

const usageLimitReasons: ReadonlySet<unknown> = new Set<PromotionRefusalReason>([
  "usage_limit_reached",
  "customer_usage_limit_reached",
]);

/**
 * Throws if the cart has just lost its promotion code because a usage limit of the code was reached. Other
 * buyers may have used the code meanwhile.
 */
function requirePromotionCodeLeft({ session, warnings }: PricedSession, now: Date): void {
  const removed = warnings.find(
    ({ code, data }) => code === "promotion_removed" && usageLimitReasons.has(data["reason"]),
  );
  if (removed !== undefined)
    throw promotionFailure(session, {
      now,
      reason: String(removed.data["reason"]),
      data: { code: removed.data["code"] ?? null },
    });
}

function promotionFailure(
  session: CheckoutSessionAggregate,
  details: Parameters<typeof createCheckoutSessionConflictFailure>[2],
): Failure {
  return createCheckoutSessionConflictFailure("promotion_not_applicable", session, details);
}

async function takeCartPromotionUses(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, session }: LockedCartAndCheckoutSession,
): Promise<void> {
  const { buyerReference } = cart;
  const promotions = cart.promotions
    .filter(({ state }) => state === "applied")
    .map(({ promotionId, promotionCodeId }) => ({ promotionId, promotionCodeId }));
  const refusal = (reason: PromotionRefusalReason, promotionId: string): Failure =>
    promotionFailure(session, { now: context.now, reason, data: { promotionId } });
  await reservePromotionUses(transaction, {
    context,
    sessionId: session.id,
    buyerReference,
    promotions,
    refusal,
  });
}

interface PaymentChoice {
  readonly chosen: ChosenPaymentProvider | null;
  readonly token: string | null;
}

async function startSessionPayment(
  transaction: Transaction,
  { merchantId, keyring, now, events }: CartCommandContext,
  { cart, session, chosen, token }: LockedCartAndCheckoutSession & PaymentChoice,
): Promise<void> {
  const { totalMinor: amountMinor, currency } = cart;
  if (amountMinor === 0 || chosen === null) return;
  await startPayment(transaction, {
    merchantId,
    sessionId: session.id,
    amountMinor,
    currency,
    chosen,
    // The payment token is dropped if the buyer pays on a page of the payment provider.
    token: paymentProviderTraits[chosen.provider].hasPaymentPage ? null : token,
    keyring,
    now,
    events,
  });
}
