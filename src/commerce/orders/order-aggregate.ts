/**
 * The type of a stored order, with everything that the API and the rules of orders need. Products, prices and
 * policies are copies from the time of purchase.
 */
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import type { ReturnReason } from "#commerce/after-sales/reasons.ts";
import type { CartLineDisplayFields, StoredDeliveryOption } from "#commerce/carts/cart-aggregate.ts";
import type { LocalizedTextMap } from "#commerce/catalog/read-products.ts";
import type { PolicyType } from "#commerce/markets/change-policy.ts";
import type { MerchantPolicyRules } from "#commerce/markets/policy-rules.ts";
import type { PaymentProviderName } from "#commerce/payments/provider-list.ts";
import type { AppliedTaxRate, ShippingTax } from "#commerce/pricing/tax-amounts.ts";
import type { PromotionKind } from "#commerce/promotions/promotion-rule.ts";
import type {
  FulfillmentStatus,
  OrderActor,
  OrderFulfillmentStatus,
  OrderPaymentStatus,
  OrderReturnStatus,
  OrderStatus,
  PaymentStatus,
  RefundCause,
  RefundStatus,
  ReturnKind,
  ReturnStatus,
} from "./order-states.ts";
import type { CancellationReason } from "./cancellation/reasons.ts";

export interface OrderLine {
  readonly id: string;
  readonly position: number;
  readonly productId: string;
  readonly variantId: string;
  readonly categoryIds: readonly string[];
  readonly display: CartLineDisplayFields;
  readonly requiresShipping: boolean;
  readonly restrictions: readonly string[];
  readonly unitPriceMinor: number;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  /** The tax rate of the line; null if an earlier release, which did not store tax rates, placed the order. */
  readonly taxRate: AppliedTaxRate | null;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly reducedMinor: number;
  readonly ordered: number;
  readonly canceled: number;
  readonly allocated: number;
  readonly shipped: number;
  readonly delivered: number;
  readonly returnRequested: number;
  readonly returned: number;
  readonly refunded: number;
}

export interface OrderLineIdAndQuantity {
  readonly lineId: string;
  readonly quantity: number;
}

export interface FulfillmentLine extends OrderLineIdAndQuantity {
  /**
   * Number of units in this fulfillment line that must be sent again and have no reserved stock; 0 if left
   * out.
   */
  readonly unreserved?: number;
}

export interface OrderFulfillment {
  readonly id: string;
  readonly returnId: string | null;
  readonly status: FulfillmentStatus;
  readonly type: "shipping" | "pickup" | "digital";
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  readonly trackingUrl: string | null;
  readonly packingStartedAt: string | null;
  readonly shippedAt: string | null;
  readonly estimatedDeliveryAt: string | null;
  readonly deliveredAt: string | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lines: readonly FulfillmentLine[];
}

export interface OrderPayment {
  readonly id: string;
  readonly status: PaymentStatus;
  readonly provider: PaymentProviderName;
  readonly methodType: string;
  readonly amountMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
  readonly failureCode: string | null;
  readonly disputedAt: string | null;
  readonly disputeReason: string | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Requests to the payment provider about this payment whose outcomes are not known yet. */
  readonly pending: readonly {
    readonly kind: "authorize" | "capture" | "void" | "refund";
    readonly amountMinor: number;
  }[];
}

export interface OrderRefund {
  readonly id: string;
  readonly paymentId: string;
  readonly returnId: string | null;
  readonly status: RefundStatus;
  readonly amountMinor: number;
  readonly reason: RefundCause;
  readonly note: string | null;
  readonly lines: readonly (OrderLineIdAndQuantity & { readonly amountMinor: number })[];
  readonly shippingMinor: number;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ReturnLine extends OrderLineIdAndQuantity {
  readonly received: number;
  readonly accepted: number;
  readonly restocked: number;
}

export interface OrderReturn {
  readonly id: string;
  readonly kind: ReturnKind;
  readonly status: ReturnStatus;
  readonly reason: ReturnReason;
  readonly note: string | null;
  readonly declineReason: string | null;
  readonly inspectionNote: string | null;
  readonly method: "mail" | "store" | "pickup" | "keep_item" | null;
  readonly settlement: "original_payment" | "replacement" | null;
  readonly refundMinor: number;
  readonly feeMinor: number;
  readonly exchangeVariantId: string | null;
  readonly policyId: string | null;
  readonly requestedAt: string;
  readonly closedAt: string | null;
  readonly version: number;
  readonly updatedAt: string;
  readonly lines: readonly ReturnLine[];
}

export interface OrderPolicy {
  readonly id: string;
  readonly type: PolicyType;
  /** The merchant's summary of the policy in the order's locale, or else in a fallback locale of the merchant. */
  readonly summary: string;
  /**
   * The merchant's summaries of this return, cancellation or warranty policy, by locale. Empty if the
   * merchant had written no summary, or if an old version of the service placed the order and stored only
   * `summary`.
   */
  readonly summaries: Readonly<Record<string, string>>;
  readonly url: string | null;
  readonly rules: MerchantPolicyRules;
  readonly capturedAt: string;
}

export interface OrderWarranty {
  readonly id: string;
  readonly lineId: string;
  readonly serialNumber: string | null;
  readonly status: "active" | "void";
  readonly startsAt: string;
  readonly endsAt: string;
  readonly repairsLeft: number;
  readonly replacementsLeft: number;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly claims: readonly {
    readonly id: string;
    readonly kind: "repair" | "replacement";
    readonly status: "open" | "accepted" | "rejected";
    readonly description: string;
    readonly resolution: string | null;
    readonly openedAt: string;
    readonly resolvedAt: string | null;
    /** Id of the return that uses an accepted warranty claim; null if no return uses the claim. */
    readonly returnId: string | null;
  }[];
}

export interface CancellationRequest {
  readonly lines: readonly OrderLineIdAndQuantity[];
  readonly reason: CancellationReason;
  readonly note: string | null;
  readonly actor: OrderActor;
  readonly at: string;
}

/** The cancellation of a whole order: reason, actor and time. */
export interface OrderCancellationRecord {
  readonly reason: CancellationReason;
  readonly note: string | null;
  readonly actor: OrderActor;
  readonly at: string;
}

/**
 * The minimum subtotal or quantity that the lines with the given ids had to reach so that a promotion
 * applies.
 */
export interface OrderPromotionMinimum {
  readonly lineIds: readonly string[];
  readonly subtotalMinor: number | null;
  readonly quantity: number | null;
}

export interface OrderPromotion {
  readonly promotionId: string;
  readonly trigger: "code" | "automatic";
  readonly kind: PromotionKind;
  readonly code: string | null;
  readonly titles: LocalizedTextMap;
  readonly discountMinor: number;
  /**
   * The amounts that the promotion deducts from each order line. The entry with `lineId` null is the amount
   * that the promotion deducts from the shipping price.
   */
  readonly allocations: readonly { readonly lineId: string | null; readonly amountMinor: number }[];
  /** Ids of the lines that the buyer had to buy so that the promotion applies; empty if left out. */
  readonly boughtLineIds?: readonly string[];
  /**
   * The minimum subtotal or quantity that lines had to reach so that the promotion applies; null or left out
   * if there was none.
   */
  readonly minimum?: OrderPromotionMinimum | null;
}

export interface OrderAggregate {
  readonly id: string;
  readonly number: string;
  readonly version: number;
  readonly status: OrderStatus;
  readonly paymentStatus: OrderPaymentStatus;
  readonly fulfillmentStatus: OrderFulfillmentStatus;
  readonly returnStatus: OrderReturnStatus;
  readonly merchant: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly status: "active" | "suspended";
    readonly defaultLocale: string;
    /** Secret HMAC key of the merchant, from which the opaque references of its buyers are computed. */
    readonly referenceKey: string;
  };
  readonly cartId: string;
  readonly sessionId: string;
  readonly marketId: string;
  readonly country: string;
  readonly timeZone: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly locale: string;
  readonly buyerReference: string | null;
  /** The id of the buyer session that created the order's cart; null if the creator had no buyer session. */
  readonly buyerSessionId: string | null;
  readonly buyerEmail: { readonly id: string; readonly hint: string | null } | null;
  readonly address: { readonly id: string; readonly masked: MaskedAddress } | null;
  readonly delivery: StoredDeliveryOption | null;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  readonly shippingMinor: number | null;
  readonly shippingDiscountMinor: number;
  /**
   * The parts of the shipping price after discounts, each with its tax rate; null if an earlier release,
   * which did not store these parts, placed the order.
   */
  readonly shippingTaxes: readonly ShippingTax[] | null;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly reducedMinor: number;
  readonly shippingReducedMinor: number;
  readonly promotions: readonly OrderPromotion[];
  readonly cancellationRequest: CancellationRequest | null;
  readonly cancellation: OrderCancellationRecord | null;
  readonly holdReason: string | null;
  readonly placedAt: string;
  readonly updatedAt: string;
  /** The lines of the order, sorted by position. All other parts of the order are sorted by creation time. */
  readonly lines: readonly OrderLine[];
  readonly fulfillments: readonly OrderFulfillment[];
  readonly payments: readonly OrderPayment[];
  readonly refunds: readonly OrderRefund[];
  readonly returns: readonly OrderReturn[];
  readonly policies: readonly OrderPolicy[];
  readonly warranties: readonly OrderWarranty[];
  /** The 50 newest entries of the timeline, sorted from the oldest to the newest. */
  readonly timeline: readonly { readonly at: string; readonly type: string; readonly actor: OrderActor }[];
}
