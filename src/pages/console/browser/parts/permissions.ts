/**
 * The permissions of apps, API keys and OAuth grants in readable words. In the API, permissions are called
 * scopes.
 */
interface Permission {
  /** The name of the permission's scope in the API, for example `catalog:read`. */
  readonly name: string;
  readonly title: string;
  readonly hint: string;
}

export const grantableScopes: readonly Permission[] = [
  {
    name: "catalog:read",
    title: "Read carts and orders, and end checkouts",
    hint: "Also read the products. Ending means to revoke carts and to cancel checkouts.",
  },
  {
    name: "checkout:quote",
    title: "Change carts before checkout",
    hint: "Set the address of a cart, and apply or remove a promotion code.",
  },
  {
    name: "webhooks:read",
    title: "See webhooks",
    hint: "Read the webhook endpoints, the events and the data to test signatures.",
  },
  {
    name: "webhooks:write",
    title: "Manage webhooks",
    hint: "Register webhook endpoints and send deliveries again.",
  },
];

/**
 * Returns the choices of a form for permissions, each in words with its scope, for example “Manage webhooks
 * (webhooks:write)”.
 */
export const listPermissionChoices = (
  allowed: readonly string[] = grantableScopes.map(({ name }) => name),
): readonly { readonly value: string; readonly label: string; readonly hint: string }[] =>
  grantableScopes
    .filter(({ name }) => allowed.includes(name))
    .map(({ name, title, hint }) => ({ value: name, label: `${title} (${name})`, hint }));

/** Converts a scope into its GraphQL enum value: `catalog:read` → `CATALOG_READ`. */
export const toGraphqlScopeEnumValue = (scope: string): string => scope.replace(":", "_").toUpperCase();
