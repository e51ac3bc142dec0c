/** The catalogue of events: what may happen, and to what kind of thing. A type stands here when something emits it. */
export const eventTypes = {
  "cart.created": { subject: "cart", schemaVersion: 1 },
  "cart.updated": { subject: "cart", schemaVersion: 1 },
  "cart.address_set": { subject: "cart", schemaVersion: 1 },
  "cart.promotion_applied": { subject: "cart", schemaVersion: 1 },
  "cart.promotion_removed": { subject: "cart", schemaVersion: 1 },
  "cart.promotion_suspended": { subject: "cart", schemaVersion: 1 },
  "cart.promotion_restored": { subject: "cart", schemaVersion: 1 },
  "cart.unlocked": { subject: "cart", schemaVersion: 1 },
  "cart.revoked": { subject: "cart", schemaVersion: 1 },
  "cart.expired": { subject: "cart", schemaVersion: 1 },
  "cart.merged": { subject: "cart", schemaVersion: 1 },
  "promotion.started": { subject: "promotion", schemaVersion: 1 },
  "promotion.updated": { subject: "promotion", schemaVersion: 1 },
  "promotion.ended": { subject: "promotion", schemaVersion: 1 },
  "promotion.exhausted": { subject: "promotion", schemaVersion: 1 },
} as const satisfies Record<string, { readonly subject: string; readonly schemaVersion: number }>;

export type EventType = keyof typeof eventTypes;
export type SubjectType = (typeof eventTypes)[EventType]["subject"];
