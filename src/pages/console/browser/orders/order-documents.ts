/** GraphQL documents and result types of the order pages. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";
import type { MoneyAmount } from "#pages/console/browser/parts/formats.tsx";
import type { ConsoleOrderTaxLine } from "./tax-rows.ts";

export const orderStates = ["PENDING", "CONFIRMED", "ON_HOLD", "COMPLETED", "CANCELED"] as const;
export type ConsoleOrderStatus = (typeof orderStates)[number];

const money = "{ amountMinor currency exponent }";

export interface OrderListItem {
  readonly id: string;
  readonly number: string;
  readonly status: ConsoleOrderStatus;
  readonly paymentStatus: string;
  readonly fulfillmentStatus: string;
  readonly returnStatus: string;
  readonly placedAt: string;
  readonly buyer: OrderBuyerIdentity;
  readonly totals: { readonly total: MoneyAmount };
}

export interface OrderBuyerIdentity {
  readonly guest: boolean;
  readonly emailHint: string | null;
}

export interface OrderListVariables {
  readonly status: ConsoleOrderStatus | null;
  readonly number: string | null;
  readonly placedFrom: string | null;
  readonly placedTo: string | null;
  readonly last: number;
  readonly before: string | null;
}

export const ordersDocument = createConsoleGraphqlDocument<
  { orders: GraphqlConnection<OrderListItem> },
  OrderListVariables
>(`
  query ConsoleOrders($status: OrderStatus, $number: String, $placedFrom: DateTime, $placedTo: DateTime,
    $last: Int!, $before: String) {
    orders(status: $status, number: $number, placedFrom: $placedFrom, placedTo: $placedTo, last: $last,
      before: $before) {
      edges { node {
        id number status paymentStatus fulfillmentStatus returnStatus placedAt
        buyer { guest emailHint }
        totals { total ${money} }
      } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export interface ConsoleOrderLine {
  readonly id: string;
  readonly sku: string;
  readonly title: string;
  readonly variantTitle: string | null;
  readonly unitPrice: MoneyAmount;
  readonly total: MoneyAmount;
  readonly refundable: MoneyAmount;
  readonly quantities: Readonly<
    Record<"ordered" | "canceled" | "shipped" | "delivered" | "returned" | "refunded", number>
  >;
}

export interface ConsoleOrderLineIdAndQuantity {
  readonly lineId: string;
  readonly quantity: number;
}

export interface ConsoleOrderPayment {
  readonly id: string;
  readonly status: string;
  readonly methodType: string;
  readonly amount: MoneyAmount;
  readonly capturedAmount: MoneyAmount;
  readonly refundedAmount: MoneyAmount;
  readonly failureCode: string | null;
  readonly disputedAt: string | null;
  readonly createdAt: string;
}

export interface ConsoleOrderRefund {
  readonly id: string;
  readonly status: string;
  readonly amount: MoneyAmount;
  readonly reason: string;
  readonly note: string | null;
  readonly createdAt: string;
}

export interface ConsoleOrderFulfillment {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  readonly trackingUrl: string | null;
  readonly shippedAt: string | null;
  readonly deliveredAt: string | null;
  readonly lines: readonly ConsoleOrderLineIdAndQuantity[];
}

export interface ConsoleOrderReturn {
  readonly id: string;
  readonly status: string;
  readonly kind: string;
  readonly reason: string;
  readonly refund: MoneyAmount;
  readonly requestedAt: string;
  readonly lines: readonly ConsoleOrderLineIdAndQuantity[];
}

export interface ConsoleOrderEligibilityReason {
  readonly code: string;
  readonly message: string;
}

export interface ConsoleOrderCancellationEligibility {
  readonly decision: string;
  readonly scope: string;
  readonly reasons: readonly ConsoleOrderEligibilityReason[];
  readonly refund: { readonly estimated: MoneyAmount } | null;
  readonly deadline: { readonly at: string | null } | null;
  readonly lines: readonly { readonly lineId: string; readonly cancelableQuantity: number }[];
}

export interface ConsoleOrderAfterSalesEligibility {
  readonly decision: string;
  readonly lines: readonly {
    readonly lineId: string;
    readonly options: readonly {
      readonly kind: string;
      readonly decision: string;
      readonly eligibleQuantity: number;
      readonly reasons: readonly ConsoleOrderEligibilityReason[];
    }[];
  }[];
}

export interface ConsoleOrder extends Omit<OrderListItem, "totals"> {
  readonly version: number;
  readonly market: string;
  readonly locale: string;
  readonly currency: string;
  readonly cartId: string | null;
  readonly holdReason: string | null;
  readonly updatedAt: string;
  readonly buyerReference: string | null;
  readonly deliveryAddress: {
    readonly countryCode: string;
    readonly city: string | null;
    readonly postalCodePrefix: string | null;
    readonly recipientInitials: string | null;
  } | null;
  readonly delivery: { readonly name: string } | null;
  readonly cancellation: {
    readonly reason: string;
    readonly note: string | null;
    readonly at: string;
  } | null;
  readonly totals: Readonly<
    Record<"subtotal" | "discount" | "total" | "refunded" | "outstanding", MoneyAmount>
  > & {
    readonly shipping: MoneyAmount | null;
    readonly tax: MoneyAmount | null;
    readonly taxIncluded: boolean;
  };
  readonly taxLines: readonly ConsoleOrderTaxLine<MoneyAmount>[];
  readonly lines: readonly ConsoleOrderLine[];
  readonly payments: readonly ConsoleOrderPayment[];
  readonly refunds: readonly ConsoleOrderRefund[];
  readonly fulfillments: readonly ConsoleOrderFulfillment[];
  readonly returns: readonly ConsoleOrderReturn[];
  readonly timeline: readonly { readonly at: string; readonly type: string; readonly actor: string }[];
  readonly cancellationEligibility: ConsoleOrderCancellationEligibility;
  readonly afterSalesEligibility: ConsoleOrderAfterSalesEligibility;
}

export const orderDocument = createConsoleGraphqlDocument<{ order: ConsoleOrder | null }, { id: string }>(`
  query ConsoleOrder($id: ID!) {
    order(id: $id) {
      id number version status paymentStatus fulfillmentStatus returnStatus market locale currency cartId
      holdReason placedAt updatedAt buyerReference
      buyer { guest emailHint }
      deliveryAddress { countryCode city postalCodePrefix recipientInitials }
      delivery { name }
      cancellation { reason note at }
      totals {
        subtotal ${money} discount ${money} shipping ${money} tax ${money} taxIncluded total ${money}
        refunded ${money} outstanding ${money}
      }
      taxLines { name basisPoints tax ${money} }
      lines {
        id sku title variantTitle unitPrice ${money} total ${money} refundable ${money}
        quantities { ordered canceled shipped delivered returned refunded }
      }
      payments {
        id status methodType amount ${money} capturedAmount ${money} refundedAmount ${money} failureCode
        disputedAt createdAt
      }
      refunds { id status amount ${money} reason note createdAt }
      fulfillments {
        id status type carrier trackingNumber trackingUrl shippedAt deliveredAt lines { lineId quantity }
      }
      returns { id status kind reason refund ${money} requestedAt lines { lineId quantity } }
      timeline { at type actor }
      cancellationEligibility(languages: ["en"]) {
        decision scope reasons { code message } refund { estimated ${money} } deadline { at }
        lines { lineId cancelableQuantity }
      }
      afterSalesEligibility(languages: ["en"]) {
        decision lines { lineId options { kind decision eligibleQuantity reasons { code message } } }
      }
    }
  }
`);

interface CancelOrderVariables {
  readonly orderId: string;
  readonly input: { readonly expectedVersion: number; readonly reason: string; readonly note: string | null };
}

export const cancelOrderDocument = createConsoleGraphqlDocument<
  { orderCancel: { id: string } },
  GraphqlVariablesWithIdempotencyKey & CancelOrderVariables
>(`
  mutation ConsoleOrderCancel($idempotencyKey: String!, $orderId: ID!, $input: OrderCancelInput!) {
    orderCancel(idempotencyKey: $idempotencyKey, orderId: $orderId, input: $input) { id }
  }
`);

interface RefundVariables {
  readonly orderId: string;
  readonly input: {
    readonly expectedVersion: number;
    readonly amount: { readonly amountMinor: number; readonly currency: string };
    readonly reason: string;
    readonly note: string | null;
  };
}

export const refundOrderDocument = createConsoleGraphqlDocument<
  { refundCreate: { id: string } },
  GraphqlVariablesWithIdempotencyKey & RefundVariables
>(`
  mutation ConsoleRefundCreate($idempotencyKey: String!, $orderId: ID!, $input: RefundCreateInput!) {
    refundCreate(idempotencyKey: $idempotencyKey, orderId: $orderId, input: $input) { id }
  }
`);
