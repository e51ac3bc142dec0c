/**
 * The catalogue of events: what may happen, and to what kind of thing. A type stands here when something
 * emits it.
 */
export const eventTypes = {
  "cart.created": { subject: "cart", schemaVersion: 1, description: "A cart was made." },
  "cart.updated": {
    subject: "cart",
    schemaVersion: 1,
    description:
      "Lines, the buyer, the market or the way of delivery of a cart changed; once for each change, however many of them it touched.",
  },
  "cart.address_set": {
    subject: "cart",
    schemaVersion: 1,
    description: "A cart was given the address it goes to.",
  },
  "cart.promotion_applied": {
    subject: "cart",
    schemaVersion: 1,
    description: "A cart was given a promotion code.",
  },
  "cart.promotion_removed": {
    subject: "cart",
    schemaVersion: 1,
    description: "A cart lost its promotion code: it was taken away, has ended or is used up.",
  },
  "cart.promotion_suspended": {
    subject: "cart",
    schemaVersion: 1,
    description:
      "The promotion code of a cart is worth nothing for now, because a condition is no longer met.",
  },
  "cart.promotion_restored": {
    subject: "cart",
    schemaVersion: 1,
    description: "The promotion code of a cart counts again.",
  },
  "cart.locked": {
    subject: "cart",
    schemaVersion: 1,
    description: "A checkout began, and the cart can't be changed while it lasts.",
  },
  "cart.unlocked": {
    subject: "cart",
    schemaVersion: 1,
    description: "A checkout ended without an order, and the cart can be changed again.",
  },
  "cart.revoked": { subject: "cart", schemaVersion: 1, description: "A cart was given up for good." },
  "cart.expired": {
    subject: "cart",
    schemaVersion: 1,
    description: "A cart came to the end of its life unused.",
  },
  "cart.merged": {
    subject: "cart",
    schemaVersion: 1,
    description: "The lines of a cart went into another cart.",
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
    description: "A promotion is over for good: it was ended, or its window has passed.",
  },
  "promotion.exhausted": {
    subject: "promotion",
    schemaVersion: 1,
    description: "The last use of a promotion was taken.",
  },
  "checkout_session.created": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout was opened.",
  },
  "checkout_session.processing": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "The buyer submitted a checkout, and its payment is under way.",
  },
  "checkout_session.completed": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout became an order.",
  },
  "checkout_session.canceled": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout was given up before it was submitted.",
  },
  "checkout_session.expired": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "A checkout ran out of time.",
  },
  "checkout_session.payment_failed": {
    subject: "checkout_session",
    schemaVersion: 1,
    description: "The payment of a checkout was refused; while there is time the buyer may try another.",
  },
  "order.placed": { subject: "order", schemaVersion: 1, description: "An order was placed." },
  "order.confirmed": { subject: "order", schemaVersion: 1, description: "The merchant accepted an order." },
  "order.on_hold": {
    subject: "order",
    schemaVersion: 1,
    description: "An order was stopped until it is released.",
  },
  "order.updated": {
    subject: "order",
    schemaVersion: 1,
    description: "Something of an order changed that has no event of its own.",
  },
  "order.completed": {
    subject: "order",
    schemaVersion: 1,
    description: "Nothing of an order is left to be done.",
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
    description: "A buyer asked to cancel an order, and the merchant decides.",
  },
  "order.cancellation_declined": {
    subject: "order",
    schemaVersion: 1,
    description: "The merchant declined a buyer's wish to cancel an order.",
  },
  "payment.authorized": {
    subject: "payment",
    schemaVersion: 1,
    description: "The provider holds an amount ready for the merchant.",
  },
  "payment.captured": {
    subject: "payment",
    schemaVersion: 1,
    description: "An amount was taken from the buyer.",
  },
  "payment.failed": { subject: "payment", schemaVersion: 1, description: "The provider refused a payment." },
  "payment.canceled": {
    subject: "payment",
    schemaVersion: 1,
    description: "A payment was given up before anything was taken.",
  },
  "payment.disputed": {
    subject: "payment",
    schemaVersion: 1,
    description: "The buyer contests a payment with their bank.",
  },
  "payment.dispute_closed": {
    subject: "payment",
    schemaVersion: 1,
    description: "A dispute over a payment was decided.",
  },
  "payment.refund_required": {
    subject: "payment",
    schemaVersion: 1,
    description: "A payment succeeded that nothing is bought with any more; it is given back.",
  },
  "refund.created": { subject: "refund", schemaVersion: 1, description: "A refund was set going." },
  "refund.succeeded": {
    subject: "refund",
    schemaVersion: 1,
    description: "The provider gave an amount back to the buyer.",
  },
  "refund.failed": {
    subject: "refund",
    schemaVersion: 1,
    description: "The provider could not give an amount back.",
  },
  "fulfillment.created": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "Units of an order were put together to be sent.",
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
    description: "The carrier has a fulfillment on its way.",
  },
  "fulfillment.ready_for_pickup": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment waits where the buyer fetches it.",
  },
  "fulfillment.delivered": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment arrived.",
  },
  "fulfillment.failed": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment could not be delivered.",
  },
  "fulfillment.returned_to_sender": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "The carrier brings a fulfillment back to the merchant.",
  },
  "fulfillment.canceled": {
    subject: "fulfillment",
    schemaVersion: 1,
    description: "A fulfillment was called off before it left.",
  },
  "return.requested": {
    subject: "return",
    schemaVersion: 1,
    description: "A buyer asked to send units back.",
  },
  "return.approved": { subject: "return", schemaVersion: 1, description: "The merchant agreed to a return." },
  "return.declined": { subject: "return", schemaVersion: 1, description: "The merchant declined a return." },
  "return.in_transit": {
    subject: "return",
    schemaVersion: 1,
    description: "What is returned is on its way to the merchant.",
  },
  "return.received": {
    subject: "return",
    schemaVersion: 1,
    description: "What is returned arrived at the merchant.",
  },
  "return.inspected": {
    subject: "return",
    schemaVersion: 1,
    description: "What was returned was looked at, and it is decided what becomes of it.",
  },
  "return.closed": {
    subject: "return",
    schemaVersion: 1,
    description: "Nothing of a return is left to be done.",
  },
  "return.canceled": { subject: "return", schemaVersion: 1, description: "A return was called off." },
  "exchange.created": {
    subject: "return",
    schemaVersion: 1,
    description: "A return was agreed to that is an exchange, and the replacement is reserved.",
  },
  "exchange.completed": {
    subject: "return",
    schemaVersion: 1,
    description: "The replacement of an exchange was sent, and the return is done.",
  },
  "warranty.registered": {
    subject: "warranty",
    schemaVersion: 1,
    description: "A warranty was registered for units of an order.",
  },
  "warranty.claim_opened": {
    subject: "warranty",
    schemaVersion: 1,
    description: "A buyer claimed on a warranty.",
  },
  "warranty.claim_resolved": {
    subject: "warranty",
    schemaVersion: 1,
    description: "A claim on a warranty was decided.",
  },
  "product.created": { subject: "product", schemaVersion: 1, description: "A product was made." },
  "product.updated": {
    subject: "product",
    schemaVersion: 1,
    description:
      "Something of a product changed that has no event of its own; once for each change, however many fields it touched.",
  },
  "product.published": { subject: "product", schemaVersion: 1, description: "A product was put on sale." },
  "product.unpublished": {
    subject: "product",
    schemaVersion: 1,
    description: "A product was taken off sale.",
  },
  "product.deleted": {
    subject: "product",
    schemaVersion: 1,
    description: "A product was deleted, or put away because buyers have seen it.",
  },
  "product.price_changed": {
    subject: "product",
    schemaVersion: 1,
    description: "What variants of a product cost changed.",
  },
  "product.translation_updated": {
    subject: "product",
    schemaVersion: 1,
    description: "The texts of a product changed.",
  },
  "variant.out_of_stock": {
    subject: "variant",
    schemaVersion: 1,
    description: "Nothing of a variant can be sold any more.",
  },
  "variant.back_in_stock": {
    subject: "variant",
    schemaVersion: 1,
    description: "A variant that was sold out can be sold again.",
  },
  "variant.low_stock": {
    subject: "variant",
    schemaVersion: 1,
    description: "What can be sold of a variant fell to its threshold, or the threshold rose to it.",
  },
  "installation.scopes_changed": {
    subject: "installation",
    schemaVersion: 1,
    description: "An installation may do more or less than before.",
  },
  "installation.suspended": {
    subject: "installation",
    schemaVersion: 1,
    description: "The credentials of an installation were cut until it is resumed.",
  },
  "installation.resumed": {
    subject: "installation",
    schemaVersion: 1,
    description: "A suspended installation may call again.",
  },
  "installation.uninstalled": {
    subject: "installation",
    schemaVersion: 1,
    description: "An installation ended for good, and its keys were revoked.",
  },
  "api_key.created": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key was made for the installation.",
  },
  "api_key.rotated": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key got a successor, and ends itself when the overlap is over.",
  },
  "api_key.revoked": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key of the installation was revoked.",
  },
  "api_key.expiring": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key of the installation ends in seven days, or in one.",
  },
  "webhook_endpoint.degraded": {
    subject: "webhook_endpoint",
    schemaVersion: 1,
    description: "Nothing has arrived at another endpoint of the installation for 24 hours.",
  },
  "webhook_endpoint.auto_disabled": {
    subject: "webhook_endpoint",
    schemaVersion: 1,
    description: "Another endpoint of the installation was switched off because it did not work.",
  },
  "webhook_endpoint.secret_rotated": {
    subject: "webhook_endpoint",
    schemaVersion: 1,
    description: "Another endpoint of the installation has a new secret.",
  },
  "webhook.ping": {
    subject: "webhook_endpoint",
    schemaVersion: 1,
    description:
      "An endpoint was made, switched on or tested. It goes to that endpoint alone, whatever it listens to.",
  },
} as const satisfies Record<
  string,
  { readonly subject: string; readonly schemaVersion: number; readonly description: string }
>;

export type EventType = keyof typeof eventTypes;
export type SubjectType = (typeof eventTypes)[EventType]["subject"];

/** What is told only to installations that may read it (`catalog:read`). */
export const subjectsOfCatalog: readonly SubjectType[] = [
  "cart",
  "checkout_session",
  "order",
  "payment",
  "refund",
  "fulfillment",
  "return",
  "warranty",
];
