/** The closed lists of codes: which codes exist, that each has a text, and which reasons a buyer may give. */
import { describe, expect, it } from "vitest";
import * as afterSales from "#commerce/after-sales/reasons.ts";
import * as cancellation from "#commerce/orders/cancellation/reasons.ts";

describe("the blocking codes", () => {
  it("of a cancellation are exactly these", () => {
    expect(Object.keys(cancellation.cancellationObstacles)).toEqual([
      "order_already_canceled",
      "order_completed",
      "order_on_hold",
      "cancellation_already_requested",
      "cancellation_window_elapsed",
      "self_service_disabled",
      "fulfillment_in_progress",
      "fulfillment_shipped",
      "fulfillment_delivered",
      "payment_processing",
      "payment_disputed",
      "refund_in_progress",
      "return_open",
      "line_already_canceled",
      "line_custom_made",
      "line_digital_delivered",
      "line_not_separable",
      "merchant_suspended",
    ]);
  });

  it("of after-sales requests are exactly these", () => {
    expect(Object.keys(afterSales.afterSalesObstacleMessages)).toEqual([
      "not_fulfilled",
      "not_delivered_yet",
      "already_returned",
      "return_in_progress",
      "quantity_exhausted",
      "return_window_elapsed",
      "return_window_not_started",
      "final_sale",
      "category_excluded",
      "custom_made",
      "perishable",
      "hygiene_unsealed",
      "digital_content_used",
      "gift_card",
      "order_canceled",
      "order_refunded",
      "payment_disputed",
      "order_on_hold",
      "exchange_out_of_stock",
      "exchange_not_offered",
      "warranty_not_registered",
      "warranty_expired",
      "warranty_void",
      "benefit_exhausted",
      "region_not_supported",
      "self_service_disabled",
      "buyer_limit_reached",
    ]);
  });

  it.each([
    ["a cancellation", cancellation.cancellationObstacles],
    ["after the sale", afterSales.afterSalesObstacleMessages],
  ])("of %s each have a message", (_name, obstacles) => {
    const sentences = Object.values<string>(obstacles);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].{8,}\.$/);
    expect(new Set(sentences).size).toBe(sentences.length);
  });

  it("block and have no data by default", () => {
    const message = afterSales.afterSalesObstacleMessages.gift_card;
    expect(afterSales.createAfterSalesObstacle("gift_card")).toEqual({
      code: "gift_card",
      message,
      blocking: true,
      data: {},
    });
    const asked = { blocking: false, data: { limit: 1 } };
    expect(afterSales.createAfterSalesObstacle("gift_card", asked)).toEqual({
      code: "gift_card",
      message,
      ...asked,
    });
    const over = cancellation.cancellationObstacles.order_completed;
    expect(cancellation.createCancellationObstacle("order_completed")).toEqual({
      code: "order_completed",
      message: over,
      blocking: true,
      data: {},
    });
    expect(cancellation.createCancellationObstacle("order_completed", asked)).toEqual({
      code: "order_completed",
      message: over,
      ...asked,
    });
  });
});

describe("the reasons", () => {
  it("for canceling an order are six of buyers and five of merchants, each with a distinct label", () => {
    const choices = cancellation.cancellationReasonOptions;
    expect(choices.map(({ actor, code }) => `${actor} ${code}`)).toEqual([
      "buyer ordered_by_mistake",
      "buyer changed_mind",
      "buyer better_price",
      "buyer arrives_too_late",
      "buyer wrong_address",
      "buyer other",
      "merchant out_of_stock",
      "merchant fraud_suspected",
      "merchant price_error",
      "merchant buyer_unreachable",
      "merchant other",
    ]);
    for (const { label } of choices) expect(label).toMatch(/^[A-Z].{4,}[^.]$/);
    // Both lists share the reason `other`.
    expect(new Set(choices.map(({ label }) => label)).size).toBe(choices.length - 1);
  });

  it("for after-sales requests include six that are the merchant's fault", () => {
    expect(afterSales.returnReasons.filter((reason) => !afterSales.isMerchantFaultReason(reason))).toEqual([
      "size_too_small",
      "size_too_large",
      "color",
      "style",
      "unwanted",
      "arrived_late",
      "better_price",
      "ordered_by_mistake",
      "other",
    ]);
    expect(afterSales.returnReasons.filter(afterSales.isMerchantFaultReason)).toEqual([
      "not_as_described",
      "wrong_item",
      "missing_item",
      "defective",
      "damaged_in_transit",
      "not_received",
    ]);
  });

  it("that each kind accepts", () => {
    const {
      exchange,
      refund_only: kept,
      repair,
      replacement,
      return_refund: returned,
      withdrawal,
    } = afterSales.returnReasonsByKind;
    // A unit that never arrived or is missing cannot be sent back.
    const all = afterSales.returnReasons;
    expect(all.filter((reason) => !returned.includes(reason))).toEqual(["missing_item", "not_received"]);
    expect([kept, withdrawal]).toEqual([all, returned]);
    const sizes = ["size_too_small", "size_too_large", "color", "style"];
    expect(exchange).toEqual([
      ...sizes,
      "not_as_described",
      "wrong_item",
      "defective",
      "damaged_in_transit",
      "other",
    ]);
    const broken = ["defective", "damaged_in_transit", "not_as_described"];
    expect([repair, replacement]).toEqual([broken, [...broken, "wrong_item", "missing_item"]]);
  });

  it("for a refund without return is only that the units were lost", () => {
    const { isRefundRequestForUndeliveredUnits } = afterSales;
    expect(isRefundRequestForUndeliveredUnits({ kind: "refund_only", reason: "not_received" })).toBe(true);
    expect(isRefundRequestForUndeliveredUnits({ kind: "refund_only", reason: "defective" })).toBe(false);
    expect(isRefundRequestForUndeliveredUnits({ kind: "return_refund", reason: "not_received" })).toBe(false);
  });
});
