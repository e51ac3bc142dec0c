/**
 * What takes several operations, each of which needs what the one before it answered: a tab each, run
 * operation by operation.
 */
import type { ExampleQuery } from "./example-queries.ts";

/** A frontend's whole way: the operations of one tab, run one after the other. */
export const cartWorkflowExample: ExampleQuery = {
  title: "A cart's way",
  query: `# A frontend's whole way: with a storefront's or an admin's token, run
# one operation after the other (the play button lists them), and copy
# what they answer into the variables below: variantId from Find,
# cartId and lineId from Open, optionId from Address.
query Find {
  publicProduct(merchantSlug: "lindenhof", productSlug: "sund-4-family-tent") {
    title
    variants { id title availability }
  }
}

# The same idempotencyKey again answers the same cart.
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

# What comes back stands for the address; the address itself is never shown again.
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
    totals { subtotal { amountMinor } discount { amountMinor } shipping { amountMinor } tax { amountMinor } total { amountMinor } }
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
 * From a cart with an address and a delivery option to an order that came back: what staff and the buyer's
 * page do.
 */
export const orderWorkflowExample: ExampleQuery = {
  title: "An order's way",
  query: `# From a full cart (the tab before this one) to an order that comes back: with
# an admin's token, run one operation after the other, and copy what they
# answer into the variables below. Each change of an order needs an
# idempotencyKey: a new one for each, the same one to ask again.
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

# A moment later it is completed, and says which order it became.
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
  paymentCapture(paymentId: $paymentId, idempotencyKey: "capture-a-new-one-each", input: {}) { status capturedAmount { amountMinor } }
}

mutation Fulfill($orderId: ID!) {
  fulfillmentCreate(orderId: $orderId, idempotencyKey: "fulfill-a-new-one-each", input: {}) { id status lines { lineId quantity } }
}

mutation Pack($fulfillmentId: ID!) {
  fulfillmentPack(fulfillmentId: $fulfillmentId, idempotencyKey: "pack-a-new-one-each", input: {}) { status }
}

mutation Ship($fulfillmentId: ID!) {
  fulfillmentShip(fulfillmentId: $fulfillmentId, idempotencyKey: "ship-a-new-one-each", input: { tracking: { carrier: "DHL", number: "00340434" } }) {
    status
    trackingNumber
  }
}

mutation Deliver($fulfillmentId: ID!) {
  fulfillmentDeliver(fulfillmentId: $fulfillmentId, idempotencyKey: "deliver-a-new-one-each", input: {}) { status deliveredAt }
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
