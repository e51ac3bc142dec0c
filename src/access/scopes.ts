/** What a credential may be allowed: the four scopes of the contract for integrators, a role for internal tokens. */
export const scopes = ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"] as const;
export type Scope = (typeof scopes)[number];

export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  "catalog:read": "Read carts and orders, revoke carts and cancel hosted checkout sessions.",
  "checkout:quote": "Set a cart's address and change its promotion.",
  "webhooks:read": "Read webhook endpoints, events and signature fixtures.",
  "webhooks:write": "Create webhook endpoints and replay deliveries.",
};

export const roles = ["storefront", "admin", "analyst", "operator"] as const;
export type Role = (typeof roles)[number];

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}
