/** The event types about carts, promotions, checkouts, orders, payments, fulfillments, returns and warranties. */
import type { EventTypeDefinition } from "./event-type-definition.ts";

export const commerceEventTypes = {
  "cart.created": { subject: "cart", schemaVersion: 1, description: "A cart was created." },
  "cart.updated": {
    subject: "cart",
    schemaVersion: 1,
    description:
      "The lines, buyer, market or delivery method of a cart changed. Sent once per change, even if " +
      "several of these changed.",
  },
  "cart.address_set": {
    subject: "cart",
    schemaVersion: 1,
    description: "The delivery address of a cart was set.",
  },
  "cart.promotion_applied": {
    subject: "cart",
    schemaVersion: 1,
    description: "A promotion code was applied to a cart.",
  },
  "cart.promotion_removed": {
    subject: "cart",
    schemaVersion: 1,
    description:
      "The promotion code of a cart was removed: by request, or because the promotion ended or was used up.",
  },
  "cart.promotion_suspended": {
    subject: "cart",
    schemaVersion: 1,
    description:
      "The promotion code of a cart gives no discount at present, because a condition is no longer met.",
  },
  "cart.promotion_restored": {
    subject: "cart",
    schemaVersion: 1,
    description: "The suspended promotion code of a cart gives its discount again.",
  },
  "cart.locked": {
    subject: "cart",
    schemaVersion: 1,
    description: "A checkout began. The cart cannot be changed until the checkout ends.",
  },
  "cart.unlocked": {
    subject: "cart",
    schemaVersion: 1,
    description: "A checkout ended without an order, and the cart can be changed again.",
  },
  "cart.revoked": { subject: "cart", schemaVersion: 1, description: "A cart was revoked permanently." },
  "cart.expired": {
    subject: "cart",
    schemaVersion: 1,
    description: "A cart expired without an order.",
  },
  "cart.merged": {
    subject: "cart",
    schemaVersion: 1,
    description: "The lines of a cart were moved into another cart.",
  },
  "cart.completed": { subject: "cart", schemaVersion: 1, description: "A cart became an order." },
  "promotion.started": { subject: "promotion", schemaVersion: 1, description: "A promotion began to apply." },
  "promotion.updated": {
    subject: "promotion",
    schemaVersion: 1,
    description: "A promotion was changed, paused, or activated for later.",
  },
  "promotion.ended": {
    subject: "promotion",
    schemaVersion: 1,
    description: "A promotion ended permanently, because someone ended it or because its period is over.",
  },
  "promotion.exhausted": {
    subject: "promotion",
    schemaVersion: 1,
    description: "The last permitted use of a promotion was taken.",
  },
  "checkout_session.created": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout session was created.",
  },
  "checkout_session.processing": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "The buyer submitted a checkout, and its payment is in progress.",
  },
  "checkout_session.completed": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout became an order.",
  },
  "checkout_session.canceled": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout was canceled before it was submitted.",
  },
  "checkout_session.expired": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout reached its time limit without an order.",
  },
  "checkout_session.payment_failed": {
    subject: "checkout_session",
    schemaVersion: 1,
    description:
      "The payment of a checkout was refused. The buyer may try another payment until the checkout expires.",
  },
  "order.placed": { subject: "order", schemaVersion: 1, description: "An order was placed." },
  "order.confirmed": { subject: "order", schemaVersion: 1, description: "The merchant accepted an order." },
  "order.on_hold": {
    subject: "order",
    schemaVersion: 1,
    description: "An order was put on hold until it is released.",
  },
  "order.updated": {
    subject: "order",
    schemaVersion: 1,
    description: "An order changed in a way that no other event type covers.",
  },
  "order.completed": {
    subject: "order",
    schemaVersion: 1,
    description: "An order was completed: no further work on it is open.",
  },
  "order.canceled": { subject: "order", schemaVersion: 1, description: "An order was canceled as a whole." },
  "order.partially_canceled": {
    subject: "order",
    schemaVersion: 1,
    description: "Some units of an order were canceled.",
  },
  "order.cancellation_requested": {
    subject: "order",
    schemaVersion: 1,
    description: "A buyer requested the cancellation of an order. The merchant decides.",
  },
  "order.cancellation_declined": {
    subject: "order",
    schemaVersion: 1,
    description: "The merchant declined a buyer's request to cancel an order.",
  },
  "payment.authorized": {
    subject: "payment",
    schemaVersion: 1,
    description: "The payment provider authorized an amount for the merchant.",
  },
  "payment.captured": {
    subject: "payment",
    schemaVersion: 1,
    description: "An amount was captured from the buyer.",
  },
  "payment.failed": {
    subject: "payment",
    schemaVersion: 1,
    description: "The payment provider refused a payment.",
  },
  "payment.canceled": {
    subject: "payment",
    schemaVersion: 1,
    description: "A payment was canceled before any amount was captured.",
  },
  "payment.disputed": {
    subject: "payment",
    schemaVersion: 1,
    description: "The buyer disputed a payment with their bank.",
  },
  "payment.dispute_closed": {
    subject: "payment",
    schemaVersion: 1,
    description: "A dispute over a payment was decided.",
  },
  "payment.refund_required": {
    subject: "payment",
    schemaVersion: 1,
    description:
      "A payment that can no longer lead to an order holds money, or may hold money if its failure code " +
      "is unresolved. Captured money is refunded automatically. If such a refund fails after it had " +
      "succeeded, the event is published again, and the merchant must pay the buyer back in another way.",
  },
  "refund.created": { subject: "refund", schemaVersion: 1, description: "A refund was created." },
  "refund.succeeded": {
    subject: "refund",
    schemaVersion: 1,
    description: "The payment provider refunded an amount to the buyer.",
  },
  "refund.failed": {
    subject: "refund",
    schemaVersion: 1,
    description: "The payment provider could not refund an amount.",
  },
  "fulfillment.created": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment was created for units of an order.",
  },
  "fulfillment.packed": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "The packing of a fulfillment began.",
  },
  "fulfillment.shipped": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment was handed to the carrier.",
  },
  "fulfillment.in_transit": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "The carrier is transporting a fulfillment.",
  },
  "fulfillment.ready_for_pickup": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment is ready for the buyer to pick up.",
  },
  "fulfillment.delivered": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment was delivered.",
  },
  "fulfillment.failed": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment could not be delivered.",
  },
  "fulfillment.returned_to_sender": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "The carrier is returning a fulfillment to the merchant.",
  },
  "fulfillment.canceled": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment was canceled before it was shipped.",
  },
  "return.requested": {
    subject: "return",
    schemaVersion: 1,
    description: "A buyer requested a return.",
  },
  "return.approved": { subject: "return", schemaVersion: 1, description: "The merchant approved a return." },
  "return.declined": { subject: "return", schemaVersion: 1, description: "The merchant declined a return." },
  "return.in_transit": {
    subject: "return",
    schemaVersion: 1,
    description: "The returned items are being transported to the merchant.",
  },
  "return.received": {
    subject: "return",
    schemaVersion: 1,
    description: "The returned items arrived at the merchant.",
  },
  "return.inspected": {
    subject: "return",
    schemaVersion: 1,
    description: "The merchant inspected the returned items and decided what to do with them.",
  },
  "return.closed": {
    subject: "return",
    schemaVersion: 1,
    description: "A return was closed: no further work on it is open.",
  },
  "return.canceled": { subject: "return", schemaVersion: 1, description: "A return was canceled." },
  "exchange.created": {
    subject: "return",
    schemaVersion: 1,
    description: "The merchant approved a return as an exchange, and the replacement was reserved.",
  },
  "exchange.completed": {
    subject: "return",
    schemaVersion: 1,
    description: "The replacement of an exchange was shipped, and the return is completed.",
  },
  "warranty.registered": {
    subject: "warranty",
    schemaVersion: 1,
    description: "A warranty was registered for units of an order.",
  },
  "warranty.claim_opened": {
    subject: "warranty",
    schemaVersion: 1,
    description: "A buyer opened a claim on a warranty.",
  },
  "warranty.claim_resolved": {
    subject: "warranty",
    schemaVersion: 1,
    description: "A claim on a warranty was decided.",
  },
} as const satisfies Record<string, EventTypeDefinition>;
