/**
 * Generates orders at any time after they were placed: every line with units in all stages that its counts
 * allow, under any policy rules.
 */
import fc from "fast-check";
import type { ReturnRules, PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import type { AfterSalesDataOutsideOrder } from "#commerce/after-sales/after-sales-option.ts";
import type {
  OrderAggregate,
  OrderFulfillment,
  OrderLine,
  OrderPayment,
  OrderPolicy,
} from "#commerce/orders/order-aggregate.ts";

const dayMs = 86_400_000;
const placedAt = Date.parse("2026-03-01T10:00:00.000Z");
const at = (days: number): string => new Date(placedAt + days * dayMs).toISOString();

/** Returns the first value in three of four cases. */
function mostly<Value>(usual: Value, ...others: readonly Value[]): fc.Arbitrary<Value> {
  return fc.oneof(
    { arbitrary: fc.constant(usual), weight: 3 },
    { arbitrary: fc.constantFrom(...others), weight: 1 },
  );
}

const restrictions: (string | null)[] = [
  "final_sale",
  "custom_made",
  "perishable",
  "hygiene_sealed",
  "digital",
  "gift_card",
];
/** None of these lines is shipped. */
const service = "service";

/** An integer from zero to a maximum, chosen by a share. */
const upTo = (most: number, share: number): number => Math.floor(most * share);

const anyLine = fc
  .record({
    shares: fc.array(fc.constantFrom(1, 1, 1, 1, 0.75, 0.4, 0), { minLength: 6, maxLength: 6 }),
    ordered: fc.integer({ min: 1, max: 4 }),
    totalMinor: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9_999 })),
    restricted: mostly(null, ...restrictions, service),
    forgiven: mostly(0, 1, 0.3),
    productId: fc.constantFrom("prd_a", "prd_b"),
  })
  .map(({ shares, ordered, totalMinor, restricted, productId, forgiven }, index = 0): OrderLine => {
    const [canceling = 0, sending = 0, arriving = 0, asking = 0, returning = 0, refunding = 0] = shares;
    const canceled = upTo(ordered, 1 - Math.max(canceling, 0.4));
    const shipped = restricted === service ? 0 : upTo(ordered - canceled, sending);
    const delivered = upTo(shipped, arriving);
    const returned = upTo(delivered, 1 - Math.max(returning, 0.4));
    const returnRequested = upTo(delivered - returned, 1 - Math.max(asking, 0.4));
    return {
      id: `oln_${index}`,
      position: index,
      productId,
      variantId: `var_${productId}_1`,
      categoryIds: ["cat_a"],
      display: { productSlug: "x", sku: "X", title: "X", variantTitle: null, image: null },
      requiresShipping: restricted !== "digital" && restricted !== service,
      restrictions: restricted === null || restricted === service ? [] : [restricted],
      unitPriceMinor: Math.ceil(totalMinor / ordered),
      subtotalMinor: totalMinor,
      discountMinor: 0,
      taxRate: null,
      taxMinor: null,
      totalMinor,
      reducedMinor: upTo(totalMinor, forgiven),
      ordered,
      canceled,
      allocated: ordered - canceled,
      shipped,
      delivered,
      returnRequested,
      returned,
      refunded: Math.min(shipped, Math.max(returned, upTo(shipped, 1 - Math.max(refunding, 0.4)))),
    };
  });

const anyReturnRules: fc.Arbitrary<ReturnRules> = fc.record({
  mode: mostly("immediate", "request", "none"),
  windowDays: fc.constantFrom(14, 30, null),
  exchangeWindowDays: fc.constantFrom(14, 30, null),
  methods: fc.constantFrom(["mail"], ["mail", "store"], ["pickup", "keep_item"]),
  restockingBasisPoints: fc.constantFrom(0, 1250),
  returnShippingMinor: fc.constantFrom(0, 490),
  keepItemMinor: fc.constantFrom(null, 1000, 99_999),
  extendUntil: fc.constantFrom(null, "2026-06-30"),
  excludedCategoryIds: mostly([], ["cat_a"]),
  excludedCountries: mostly([], ["DE"]),
  returnsPerBuyerMax: mostly(null, 2),
  photoRequired: fc.boolean(),
});

const anyRules: fc.Arbitrary<PolicyRulesByType> = fc.record({
  cancellation: fc.constant({ mode: "immediate", windowMinutes: 60, afterWindow: "request" } as const),
  return: anyReturnRules,
  withdrawal: fc.record({ windowDays: mostly(14, 0) }),
  warranty: fc.record({
    months: mostly(24, 0),
    repairs: fc.constantFrom(0, 2),
    replacements: fc.constantFrom(0, 1),
  }),
});

function fulfillmentsOf(lines: readonly OrderLine[]): OrderFulfillment[] {
  const of = (
    id: string,
    status: OrderFulfillment["status"],
    count: (line: OrderLine) => number,
  ): OrderFulfillment[] => {
    const sent = lines
      .map((line) => ({ lineId: line.id, quantity: count(line) }))
      .filter(({ quantity }) => quantity > 0);
    const delivered = status === "delivered" ? at(3) : null;
    const common = {
      returnId: null,
      type: "shipping" as const,
      carrier: null,
      trackingNumber: null,
      trackingUrl: null,
      version: 1,
    };
    const times = {
      packingStartedAt: at(1),
      shippedAt: at(1),
      estimatedDeliveryAt: at(3),
      deliveredAt: delivered,
      createdAt: at(1),
      updatedAt: at(3),
    };
    return sent.length === 0 ? [] : [{ id, status, ...common, ...times, lines: sent }];
  };
  return [
    ...of("ful_1", "delivered", ({ delivered }) => delivered),
    ...of("ful_2", "in_transit", ({ shipped, delivered }) => shipped - delivered),
  ];
}

export const anyOrder: fc.Arbitrary<OrderAggregate> = fc
  .record({
    lines: fc.array(anyLine, { minLength: 1, maxLength: 3 }),
    rules: anyRules,
    shippingMinor: fc.constantFrom(0, 490),
    goodwill: mostly(0, 1, 0.5),
    isPaid: mostly(true, false),
    status: mostly("confirmed", "completed", "on_hold", "canceled"),
    isDisputed: mostly(false, true),
    country: mostly("DE", "US"),
  })
  .map(({ lines: drawn, rules, shippingMinor, status, isDisputed, country, goodwill, isPaid }) => {
    const lines = drawn.map((line, position) => ({ ...line, id: `oln_${position}`, position }));
    const totalMinor = lines.reduce<number>((sum, line) => sum + line.totalMinor, shippingMinor);
    const linesReducedMinor = lines.reduce((sum, line) => sum + line.reducedMinor, 0);
    const reducedMinor = linesReducedMinor + upTo(totalMinor - linesReducedMinor, goodwill);
    const payment = {
      id: "pay_1",
      status: isPaid ? "captured" : "authorized",
      amountMinor: totalMinor,
      capturedMinor: isPaid ? totalMinor - reducedMinor : 0,
      voidedMinor: 0,
      refundedMinor: 0,
      pending: [],
    };
    return {
      id: "ord_1",
      number: "N1",
      version: 1,
      status,
      paymentStatus: isDisputed ? "disputed" : isPaid ? "paid" : "authorized",
      fulfillmentStatus: "partially_delivered",
      returnStatus: "none",
      country,
      timeZone: "Europe/Berlin",
      currency: "EUR",
      totalMinor,
      reducedMinor,
      shippingReducedMinor: 0,
      shippingMinor,
      placedAt: at(0),
      lines,
      fulfillments: fulfillmentsOf(lines),
      payments:
        totalMinor === 0
          ? []
          : [{ ...payment, disputedAt: isDisputed ? at(4) : null } as unknown as OrderPayment],
      refunds: [],
      returns: [],
      policies: (Object.keys(rules) as (keyof PolicyRulesByType)[]).map((type): OrderPolicy => ({
        id: `pol_${type}`,
        type,
        summary: type,
        summaries: {},
        url: null,
        rules: rules[type],
        capturedAt: at(0),
      })),
      warranties: [],
      timeline: [],
    } as unknown as OrderAggregate;
  });

/** After-sales facts at up to three years after the order. */
export const anyFacts: fc.Arbitrary<AfterSalesDataOutsideOrder> = fc.record({
  now: fc
    .oneof(
      fc.integer({ min: 4, max: 20 }),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 60, max: 1100 }),
    )
    .map((days) => new Date(placedAt + days * dayMs + 3_600_000)),
  siblingsInStock: fc.constantFrom(
    new Map<string, string[]>(),
    new Map([["prd_a", ["var_prd_a_1"]]]),
    new Map([
      ["prd_a", ["var_prd_a_1", "var_prd_a_2"]],
      ["prd_b", ["var_prd_b_2"]],
    ]),
  ),
  returnsOfBuyer: fc.constantFrom(0, 2),
  changeTimes: fc.constant([]),
});
