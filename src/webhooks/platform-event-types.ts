/** The event types about products, variants, installations, API keys and webhook endpoints. */
import type { EventTypeDefinition } from "./event-type-definition.ts";

export const platformEventTypes = {
  "product.created": { subject: "product", schemaVersion: 1, description: "A product was created." },
  "product.updated": {
    subject: "product",
    schemaVersion: 1,
    description:
      "A product changed in a way that no other event type covers. Sent once per change, even if several " +
      "fields changed.",
  },
  "product.published": {
    subject: "product",
    schemaVersion: 1,
    description: "A product was published for sale.",
  },
  "product.unpublished": {
    subject: "product",
    schemaVersion: 1,
    description: "A product was taken off sale.",
  },
  "product.deleted": {
    subject: "product",
    schemaVersion: 1,
    description: "A product was deleted, or archived because it had been published before.",
  },
  "product.price_changed": {
    subject: "product",
    schemaVersion: 1,
    description: "Prices of a product's variants changed.",
  },
  "product.translation_updated": {
    subject: "product",
    schemaVersion: 1,
    description: "The texts of a product changed.",
  },
  "variant.out_of_stock": {
    subject: "variant",
    schemaVersion: 1,
    description: "A variant is sold out.",
  },
  "variant.back_in_stock": {
    subject: "variant",
    schemaVersion: 1,
    description: "A variant that was sold out can be sold again.",
  },
  "variant.low_stock": {
    subject: "variant",
    schemaVersion: 1,
    description:
      "The available quantity of a variant fell to the low-stock threshold, or the threshold was raised " +
      "to that quantity.",
  },
  "installation.scopes_changed": {
    subject: "installation",
    schemaVersion: 1,
    description: "The scopes of an installation changed.",
  },
  "installation.suspended": {
    subject: "installation",
    schemaVersion: 1,
    description: "An installation was suspended: its credentials are refused until it is resumed.",
  },
  "installation.resumed": {
    subject: "installation",
    schemaVersion: 1,
    description: "A suspended installation was resumed: its credentials are accepted again.",
  },
  "installation.uninstalled": {
    subject: "installation",
    schemaVersion: 1,
    description: "An installation was uninstalled permanently, and its API keys were revoked.",
  },
  "api_key.created": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key was created for the installation.",
  },
  "api_key.rotated": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key was replaced by a new key. The old key expires when the overlap ends.",
  },
  "api_key.revoked": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key of the installation was revoked.",
  },
  "api_key.expiring": {
    subject: "api_key",
    schemaVersion: 1,
    description: "An API key of the installation expires in seven days or in one day.",
  },
  "webhook_endpoint.degraded": {
    subject: "webhook_endpoint",
    schemaVersion: 1,
    description: "No delivery to another endpoint of the installation has succeeded for 24 hours.",
  },
  "webhook_endpoint.auto_disabled": {
    subject: "webhook_endpoint",
    schemaVersion: 1,
    description:
      "Another endpoint of the installation was disabled automatically because its deliveries failed.",
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
      "An endpoint was created, enabled or tested. The ping is sent only to that endpoint, regardless of " +
      "its event types.",
  },
} as const satisfies Record<string, EventTypeDefinition>;
