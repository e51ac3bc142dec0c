/**
 * Examples that consist of several GraphQL operations. Each operation needs values from the answer of the
 * operation before it. GraphiQL opens each example in one tab, where the reader runs the operations one after
 * the other.
 */
import type { ExampleGraphqlQuery } from "./example-queries.ts";

/** An example for storefronts with several operations: from finding a product to a filled cart. */
export const cartWorkflowExample: ExampleGraphqlQuery = {
  title: "From product to cart",
  query: `# From a product to a filled cart. Use a storefront's or an admin's token and run
# the operations in order (the play button lists them). Copy values from the
# answers into the variables below: variantId from Find, cartId and lineId
# from Open, optionId from Address.
query Find {
  publicProduct(merchantSlug: "lindenhof", productSlug: "sund-4-family-tent") {
    title
    variants { id title availability }
  }
}

# A second request with the same idempotencyKey returns the same cart.
mutation Open($variantId: ID!) {
  cartCreate(
    idempotencyKey: "a-new-one-for-each-cart"
    input: { market: "DE", lines: [{ variantId: $variantId, quantity: 1 }] }
  ) {
    id
    version
    lines { id title quantity unitPrice { amountMinor currency } }
  }
}

mutation Fill($cartId: ID!, $lineId: ID!) {
  cartLinesUpdate(cartId: $cartId, input: { lines: [{ lineId: $lineId, quantity: 2 }] }) {
    version
    totalQuantity
    totals { total { amountMinor currency } estimated }
    warnings { code message }
  }
}

# The answer has a token for the address. The full address is never returned.
mutation Address($cartId: ID!) {
  cartAddressSet(
    cartId: $cartId
    input: {
      address: {
        recipientName: "Anna Beispiel"
        line1: "Musterweg 1"
        postalCode: "10115"
        city: "Berlin"
        countryCode: "DE"
      }
    }
  ) {
    addressToken
    expiresAt
    address { city postalCodePrefix recipientInitials }
    serviceability { status }
    quote { deliveryOptions { id name price { amountMinor } minDays maxDays } }
  }
}

mutation Deliver($cartId: ID!, $optionId: ID!) {
  cartDeliveryOptionSelect(cartId: $cartId, input: { optionId: $optionId }) {
    version
    delivery { selectedOptionId }
    totals { shipping { amountMinor } tax { amountMinor } total { amountMinor } estimated }
  }
}

mutation Promotion($cartId: ID!, $code: String!) {
  cartPromotionApply(cartId: $cartId, input: { code: $code }) {
    state
    promotion { title kind }
    discount { amountMinor }
    totals { total { amountMinor currency } }
  }
}

query Look($cartId: ID!) {
  cart(id: $cartId) {
    status
    version
    lines { title quantity total { amountMinor } discountAllocations { source amount { amountMinor } } }
    totals {
      subtotal { amountMinor }
      discount { amountMinor }
      shipping { amountMinor }
      tax { amountMinor }
      total { amountMinor }
    }
    address { city postalCodePrefix }
    expiresAt
  }
}`,
  variables: `{
  "variantId": "",
  "cartId": "",
  "lineId": "",
  "optionId": "",
  "code": "LINDEN10"
}`,
};

/**
 * An example with several operations of staff and of the checkout page: from a cart with a delivery option to
 * a returned order.
 */
export const orderWorkflowExample: ExampleGraphqlQuery = {
  title: "From checkout to return",
  query: `# From a filled cart (see the example "From product to cart") to a returned order.
# Use an admin's token, run the operations in order, and copy values from the
# answers into the variables below. Each change of an order needs an
# idempotencyKey: a new key for each change, the same key to repeat a request.
mutation Checkout($cartId: ID!) {
  hostedCheckoutSessionCreate(
    input: { cartId: $cartId, successUrl: "https://example.com/thanks", cancelUrl: "https://example.com/cart" }
  ) {
    id
    url
    expiresAt
    amountTotal { amountMinor currency }
  }
}

# The test provider's tokens: tok_success, tok_decline, tok_slow, tok_late_success.
mutation Submit($sessionId: ID!, $amountMinor: MinorUnits!, $currency: String!) {
  hostedCheckoutSessionSubmit(
    sessionId: $sessionId
    idempotencyKey: "submit-a-new-one-each"
    input: { expectedAmount: { amountMinor: $amountMinor, currency: $currency }, paymentToken: "tok_success" }
  ) {
    status
    paymentStatus
  }
}

# A moment later the session is completed and has the id of its order.
query Session($sessionId: ID!) {
  hostedCheckoutSession(id: $sessionId) { status paymentStatus orderId cart { status } }
}

query Order($orderId: ID!) {
  order(id: $orderId) {
    number
    version
    status
    paymentStatus
    lines { id title quantities { ordered } }
    payments { id status amount { amountMinor } }
    cancellationEligibility { decision scope deadline { at } refund { estimated { amountMinor } method } validUntil }
  }
}

mutation Confirm($orderId: ID!) {
  orderConfirm(orderId: $orderId, idempotencyKey: "confirm-a-new-one-each", input: {}) { status }
}

mutation Capture($paymentId: ID!) {
  paymentCapture(paymentId: $paymentId, idempotencyKey: "capture-a-new-one-each", input: {}) {
    status
    capturedAmount { amountMinor }
  }
}

mutation Fulfill($orderId: ID!) {
  fulfillmentCreate(orderId: $orderId, idempotencyKey: "fulfill-a-new-one-each", input: {}) {
    id
    status
    lines { lineId quantity }
  }
}

mutation Pack($fulfillmentId: ID!) {
  fulfillmentPack(fulfillmentId: $fulfillmentId, idempotencyKey: "pack-a-new-one-each", input: {}) { status }
}

mutation Ship($fulfillmentId: ID!) {
  fulfillmentShip(
    fulfillmentId: $fulfillmentId
    idempotencyKey: "ship-a-new-one-each"
    input: { tracking: { carrier: "DHL", number: "00340434" } }
  ) {
    status
    trackingNumber
  }
}

mutation Deliver($fulfillmentId: ID!) {
  fulfillmentDeliver(fulfillmentId: $fulfillmentId, idempotencyKey: "deliver-a-new-one-each", input: {}) {
    status
    deliveredAt
  }
}

query AfterSales($orderId: ID!) {
  order(id: $orderId) {
    status
    afterSalesEligibility {
      decision
      lines { lineId options { kind decision eligibleQuantity window { endsAt } estimatedRefund { amountMinor } } }
    }
  }
}

mutation Return($orderId: ID!, $lineId: ID!) {
  returnRequest(
    orderId: $orderId
    idempotencyKey: "return-a-new-one-each"
    input: { kind: RETURN_REFUND, reason: UNWANTED, lines: [{ lineId: $lineId, quantity: 1 }] }
  ) {
    id
    status
  }
}`,
  variables: `{
  "cartId": "",
  "sessionId": "",
  "amountMinor": 0,
  "currency": "EUR",
  "orderId": "",
  "paymentId": "",
  "fulfillmentId": "",
  "lineId": ""
}`,
};
