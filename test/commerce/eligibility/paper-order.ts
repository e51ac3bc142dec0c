/**
 * In-memory orders for eligibility tests without a database. By default: two lines, paid, placed at noon in
 * Berlin.
 */
import type { AfterSalesDataOutsideOrder } from "#commerce/after-sales/after-sales-option.ts";
import { defaultPolicyRules, type PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import { policyTypes } from "#commerce/markets/change-policy.ts";
import type {
  OrderAggregate,
  OrderFulfillment,
  OrderLine,
  OrderPayment,
  OrderPolicy,
  OrderPromotion,
  OrderRefund,
  OrderReturn,
  OrderWarranty,
} from "#commerce/orders/order-aggregate.ts";
import { deriveOrderStatuses } from "#commerce/orders/order-statuses.ts";

export const placedAt = "2026-03-02T11:00:00.000Z";

export interface PaperOrder {
  readonly order?: Partial<OrderAggregate>;
  readonly lines?: readonly Partial<OrderLine>[];
  readonly rules?: { readonly [Type in keyof PolicyRulesByType]?: Partial<PolicyRulesByType[Type]> };
  readonly fulfillments?: readonly Partial<OrderFulfillment>[];
  readonly payment?: Partial<OrderPayment> | null;
  readonly returns?: readonly Partial<OrderReturn>[];
}

const european = {
  ...defaultPolicyRules,
  withdrawal: { windowDays: 14 },
  warranty: { months: 24, repairs: 2, replacements: 1 },
};

export function paperOrder({
  order = {},
  lines = [{}, { ordered: 2 }],
  rules = {},
  fulfillments = [],
  payment = {},
  returns = [],
}: PaperOrder = {}): OrderAggregate {
  const all = lines.map(paperLine);
  const shippingMinor = 500;
  const totalMinor = all.reduce((sum, line) => sum + line.totalMinor, shippingMinor);
  const base: Omit<OrderAggregate, keyof ReturnType<typeof deriveOrderStatuses>> &
    Pick<OrderAggregate, "status"> = {
    id: "ord_1",
    number: "A1",
    version: 3,
    status: "confirmed",
    merchant: {
      id: "mer_1",
      slug: "shop",
      name: "Shop",
      status: "active",
      defaultLocale: "de",
      referenceKey: "secret",
    },
    cartId: "cart_1",
    sessionId: "chs_1",
    marketId: "mkt_1",
    country: "DE",
    timeZone: "Europe/Berlin",
    currency: "EUR",
    taxIncluded: true,
    locale: "de",
    buyerReference: "buyer-1",
    buyerSessionId: null,
    buyerEmail: null,
    address: null,
    delivery: null,
    subtotalMinor: totalMinor - shippingMinor,
    discountMinor: 0,
    shippingMinor,
    shippingDiscountMinor: 0,
    shippingTaxes: [],
    taxMinor: 0,
    totalMinor,
    reducedMinor: 0,
    shippingReducedMinor: 0,
    promotions: [],
    cancellationRequest: null,
    cancellation: null,
    holdReason: null,
    placedAt,
    updatedAt: placedAt,
    lines: all,
    fulfillments: fulfillments.map((one, index) => paperFulfillment(one, { index, all })),
    payments:
      payment === null
        ? []
        : [paperPayment({ amountMinor: totalMinor, capturedMinor: totalMinor, ...payment })],
    refunds: [],
    returns: returns.map(paperReturn),
    policies: policyTypes.map((type) => paperPolicy(type, rules)),
    warranties: [],
    timeline: [],
  };
  const drafted = { ...base, ...order };
  return { ...drafted, ...deriveOrderStatuses(drafted), ...order };
}

function paperPolicy(type: OrderPolicy["type"], given: NonNullable<PaperOrder["rules"]>): OrderPolicy {
  const rules = Object.assign({}, european[type], given[type]);
  return {
    id: `pol_${type}`,
    type,
    summary: `How it is with ${type}.`,
    summaries: { en: `How it is with ${type}.` },
    url: null,
    rules,
    capturedAt: placedAt,
  };
}

/** A line with a unit price of 10.00; the ids are `oln_0`, `oln_1` … */
function paperLine(line: Partial<OrderLine>, index: number): OrderLine {
  const { ordered = 1, canceled = 0 } = line;
  return {
    id: `oln_${index}`,
    position: index,
    productId: `prd_${index}`,
    variantId: `var_${index}`,
    categoryIds: [`cat_${index}`],
    display: { productSlug: "a", sku: `SKU-${index}`, title: "A", variantTitle: null, image: null },
    requiresShipping: true,
    restrictions: [],
    unitPriceMinor: 1000,
    subtotalMinor: 1000 * ordered,
    discountMinor: 0,
    taxRate: null,
    taxMinor: 0,
    totalMinor: 1000 * ordered,
    reducedMinor: 0,
    ordered,
    canceled,
    allocated: ordered - canceled,
    shipped: 0,
    delivered: 0,
    returnRequested: 0,
    returned: 0,
    refunded: 0,
    ...line,
  };
}

function paperFulfillment(
  one: Partial<OrderFulfillment>,
  { index, all }: { readonly index: number; readonly all: readonly OrderLine[] },
): OrderFulfillment {
  return {
    id: `ful_${index}`,
    returnId: null,
    status: "pending",
    type: "shipping",
    carrier: null,
    trackingNumber: null,
    trackingUrl: null,
    packingStartedAt: null,
    shippedAt: null,
    estimatedDeliveryAt: null,
    deliveredAt: null,
    version: 1,
    createdAt: placedAt,
    updatedAt: placedAt,
    lines: all.map(({ id, ordered, canceled }) => ({ lineId: id, quantity: ordered - canceled })),
    ...one,
  };
}

export function paperPayment(payment: Partial<OrderPayment>): OrderPayment {
  return {
    id: "pay_1",
    status: "captured",
    provider: "test",
    methodType: "card",
    amountMinor: 0,
    capturedMinor: 0,
    voidedMinor: 0,
    refundedMinor: 0,
    failureCode: null,
    disputedAt: null,
    disputeReason: null,
    version: 1,
    createdAt: placedAt,
    updatedAt: placedAt,
    pending: [],
    ...payment,
  };
}

function paperReturn(one: Partial<OrderReturn>, index: number): OrderReturn {
  return {
    id: `ret_${index}`,
    kind: "return_refund",
    status: "requested",
    reason: "unwanted",
    note: null,
    declineReason: null,
    inspectionNote: null,
    method: "mail",
    settlement: "original_payment",
    refundMinor: 0,
    feeMinor: 0,
    exchangeVariantId: null,
    policyId: null,
    requestedAt: placedAt,
    closedAt: null,
    version: 1,
    updatedAt: placedAt,
    lines: [{ lineId: "oln_0", quantity: 1, received: 0, accepted: 0, restocked: 0 }],
    ...one,
  };
}

export const pendingRefund: OrderRefund = {
  id: "rfd_1",
  paymentId: "pay_1",
  returnId: null,
  status: "pending",
  amountMinor: 100,
  reason: "other",
  note: null,
  lines: [],
  shippingMinor: 0,
  version: 1,
  createdAt: placedAt,
  updatedAt: placedAt,
};

export function paperPromotion(
  kind: OrderPromotion["kind"],
  allocations: OrderPromotion["allocations"],
): OrderPromotion {
  const discountMinor = allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return {
    promotionId: "prm_1",
    trigger: "automatic",
    kind,
    code: null,
    titles: {},
    discountMinor,
    allocations,
  };
}

export function paperWarranty(warranty: Partial<OrderWarranty>): OrderWarranty {
  return {
    id: "wty_1",
    lineId: "oln_0",
    serialNumber: "S1",
    status: "active",
    startsAt: placedAt,
    endsAt: "2028-03-02T22:59:59.999Z",
    repairsLeft: 2,
    replacementsLeft: 1,
    version: 1,
    createdAt: placedAt,
    updatedAt: placedAt,
    claims: [],
    ...warranty,
  };
}

/** An order whose units were all shipped and delivered at the given time. */
export function delivered(at: string, rest: PaperOrder = {}): PaperOrder {
  const lines = (rest.lines ?? [{}, { ordered: 2 }]).map((line) => {
    const wanted = (line.ordered ?? 1) - (line.canceled ?? 0);
    return Object.assign({ shipped: wanted, delivered: wanted }, line);
  });
  const sent = { packingStartedAt: at, shippedAt: at, deliveredAt: at };
  return { fulfillments: [{ status: "delivered", ...sent }], ...rest, lines };
}

export function factsAt(
  now: string,
  facts: Partial<AfterSalesDataOutsideOrder> = {},
): AfterSalesDataOutsideOrder {
  return { now: new Date(now), siblingsInStock: new Map(), returnsOfBuyer: 0, changeTimes: [], ...facts };
}

export const later = (instant: string, milliseconds: number): Date =>
  new Date(Date.parse(instant) + milliseconds);
