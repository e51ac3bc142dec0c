/**
 * The English texts of eligibility answers, by code. The type `EligibilityTexts` is derived from these texts,
 * so that the compiler reports a text that is missing in another language.
 */

/**
 * The texts that explain in one language whether an order can be canceled or returned. Some obstacles have a
 * second text, for requests that the merchant must approve; it is under a key with the suffix `ToApprove`.
 */
export type EligibilityTexts = {
  readonly [Section in keyof typeof englishTexts]: {
    readonly [Code in keyof (typeof englishTexts)[Section]]: string;
  };
};

export const englishTexts = {
  cancellationReasons: {
    ordered_by_mistake: "Ordered by mistake",
    changed_mind: "Changed my mind",
    better_price: "Found a better price",
    arrives_too_late: "Arrives too late",
    wrong_address: "Wrong address",
    other: "Another reason",
    out_of_stock: "Out of stock",
    fraud_suspected: "Fraud suspected",
    price_error: "Wrong price",
    buyer_unreachable: "The buyer cannot be reached",
  },
  cancellationObstacles: {
    order_already_canceled: "The order is canceled.",
    order_completed: "The order is completed.",
    order_on_hold:
      "The merchant has put the order on hold. It cannot be canceled until the hold is released.",
    cancellation_already_requested: "A cancellation request already waits for the merchant's decision.",
    cancellation_window_elapsed: "The time in which the order can be canceled is over.",
    self_service_disabled: "The merchant does not offer cancellations by the buyer.",
    fulfillment_in_progress: "The line is being packed.",
    fulfillment_shipped: "The line has been shipped.",
    fulfillment_delivered: "The line has been delivered.",
    payment_processing: "The payment is being processed.",
    payment_disputed: "The payment is disputed.",
    refund_in_progress: "A refund is in progress.",
    return_open: "A return of the line is open.",
    line_already_canceled: "The line is already canceled.",
    line_custom_made: "The line is custom-made, and its production has started.",
    line_digital_delivered: "The line has been delivered digitally.",
    line_not_separable: "A promotion joins the line with other lines: they can only be canceled together.",
    merchant_suspended: "The merchant is suspended.",
  },
  cancellationObstaclesToApprove: {
    cancellation_window_elapsed: "The time limit for cancellations has passed. The merchant decides.",
    self_service_disabled: "Cancellations need the merchant's approval.",
    line_not_separable: "A promotion joins the line with other lines that can no longer be canceled.",
  },
  afterSalesObstacles: {
    not_fulfilled:
      "The item has not been sent yet. The order's cancellation eligibility says whether it can be canceled.",
    not_delivered_yet: "The item has not been delivered yet.",
    already_returned: "The item has already been returned.",
    return_in_progress: "A return or warranty claim for this item is open.",
    quantity_exhausted: "No units of this item are left to return.",
    return_window_elapsed: "The time limit for this request has passed.",
    return_window_not_started: "This request cannot be made yet.",
    final_sale: "The item was sold as a final sale.",
    category_excluded: "The merchant does not accept returns of this product category.",
    custom_made: "The item was custom-made for the buyer.",
    perishable: "The item is perishable.",
    hygiene_unsealed:
      "The item can be returned only with an unbroken seal. The merchant checks the seal when the item arrives.",
    digital_content_used: "The item was delivered digitally.",
    gift_card: "The item is a gift card.",
    order_canceled: "The order is canceled.",
    order_refunded: "The order has been fully refunded.",
    payment_disputed: "The payment is disputed.",
    order_on_hold: "The merchant has put the order on hold.",
    exchange_out_of_stock: "No variant that the item could be exchanged for is in stock.",
    exchange_not_offered: "The merchant does not offer exchanges.",
    warranty_not_registered: "No warranty is registered for the item.",
    warranty_expired: "The warranty or statutory guarantee has expired.",
    warranty_void: "The warranty is void.",
    benefit_exhausted: "The warranty has no repairs or replacements of this kind left.",
    region_not_supported: "This request is not offered in the order's country.",
    self_service_disabled: "The merchant does not offer this request.",
    buyer_limit_reached: "The maximum number of returns has been reached.",
  },
  afterSalesObstaclesToApprove: {
    return_window_elapsed: "The ordinary time limit for this request has passed. The merchant decides.",
    category_excluded: "The merchant decides about returns of this product category.",
    region_not_supported: "The merchant decides about this request in the order's country.",
    self_service_disabled: "The merchant decides about this request.",
  },
} as const;
