import { defineConfig, type OxlintOverride } from "oxlint";

/**
 * The layers, lowest first, each with the layers that it may import. Imports only point to layers listed
 * before; test/architecture.test.ts adds an import of a higher layer and checks that it is refused.
 */
const layers = {
  foundation: [],
  database: ["foundation"],
  access: ["database", "foundation"],
  webhooks: ["database", "foundation"],
  commerce: ["webhooks", "database", "foundation"],
  graph: ["commerce", "webhooks", "access", "database", "foundation"],
  mesh: ["graph", "access", "database", "foundation"],
  http: ["access", "database", "foundation"],
  demo: ["commerce", "webhooks", "access", "database", "foundation"],
  gateway: ["mesh", "http", "graph", "webhooks", "access", "database", "foundation"],
  graphql: ["mesh", "http", "graph", "access", "database", "foundation"],
  pages: ["mesh", "http", "demo", "graph", "commerce", "access", "database", "foundation"],
  oauth: ["pages", "http", "graph", "access", "database", "foundation"],
  mcp: ["pages", "gateway", "http", "webhooks", "access", "foundation"],
  observability: ["http", "webhooks", "access", "database", "foundation"],
  app: [
    "observability",
    "mcp",
    "oauth",
    "pages",
    "graphql",
    "gateway",
    "demo",
    "http",
    "mesh",
    "graph",
    "commerce",
    "webhooks",
    "access",
    "database",
    "foundation",
  ],
  cli: [
    "app",
    "observability",
    "demo",
    "http",
    "mesh",
    "graph",
    "commerce",
    "webhooks",
    "access",
    "database",
    "foundation",
    // The commands for integrators, which are a package of their own.
    "integrator",
  ],
};

/** The only folder that may import the package of Stripe. */
const stripeFolder = "src/commerce/payments/stripe/**";
const onlyStripeFolder = {
  group: ["stripe"],
  message: `Only ${stripeFolder} may import the package stripe.`,
};

const onlyFrom = (files: string, open: readonly string[], message: string): OxlintOverride => ({
  files: [files],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          { group: ["../**", "#*", "#*/**", ...open.map((path) => `!${path}`)], message },
          ...(files === stripeFolder ? [] : [onlyStripeFolder]),
        ],
      },
    ],
  },
});

const layerRules = Object.entries(layers).map(([layer, below]) =>
  onlyFrom(
    `src/${layer}/**`,
    [layer, ...below].map((open) => `#${open}/**`),
    `${layer}/ may import: ${below.join(", ") || "nothing"}.`,
  ),
);

/** Browser code must not import server code or code of another page. */
const browserRules = ["checkout", "console", "docs", "graphiql", "shared"].map((page) =>
  onlyFrom(
    `src/pages/${page}/browser/**`,
    [`#pages/${page}/browser/**`, "#pages/shared/browser/**"],
    `${page}/browser/ may import pages/shared/browser/ alone.`,
  ),
);

/**
 * Files with type assertions that the compiler cannot check: for rows of the database, parsed JSON, drivers,
 * and untyped parts of GraphQL. All other files must check values instead. test/architecture.test.ts refuses
 * entries that are no longer needed.
 */
export const filesWithUnsafeAssertions = [
  "src/access/audit.ts",
  "src/access/merchants.ts",
  "src/access/oauth/oauth-items.ts",
  "src/access/oauth/signing-keys.ts",
  "src/access/readiness/readiness.ts",
  "src/app/services.ts",
  "src/commerce/addresses/personal-data.ts",
  "src/commerce/addresses/postal-address.ts",
  "src/commerce/addresses/saved-addresses.ts",
  "src/commerce/after-sales/return-line-counts.ts",
  "src/commerce/carts/cart-aggregate.ts",
  "src/commerce/carts/cart-draft.ts",
  "src/commerce/carts/open-cart.ts",
  "src/commerce/carts/to-saved-cart.ts",
  "src/commerce/catalog/change-variants.ts",
  "src/commerce/catalog/product-options.ts",
  "src/commerce/checkout/open-session.ts",
  "src/commerce/orders/order-terms.ts",
  "src/commerce/orders/render-order.ts",
  "src/commerce/orders/snapshot-policies.ts",
  "src/commerce/promotions/change-promotion.ts",
  "src/commerce/promotions/promotion-fields.ts",
  "src/database/idempotency.ts",
  "src/database/migrate.ts",
  "src/database/cancel-statement.ts",
  "src/database/statement-pool.ts",
  "src/database/statement-sender.ts",
  "src/database/transaction.ts",
  "src/demo/carts/seed-carts.ts",
  "src/demo/orders/seed-orders.ts",
  "src/demo/pictures/pictures.ts",
  "src/demo/prepare-demo.ts",
  "src/demo/rows/product-rows.ts",
  "src/foundation/ids.ts",
  "src/foundation/tracing.ts",
  "src/gateway/contract.ts",
  "src/gateway/openapi-parts.ts",
  "src/gateway/openapi.ts",
  "src/gateway/plugin.ts",
  "src/gateway/json-schemas.ts",
  "src/gateway/steps/execute.ts",
  "src/gateway/steps/validate.ts",
  "src/graph/field-costs.ts",
  "src/graph/carts/cart-parts.ts",
  "src/graph/catalog/categories.ts",
  "src/graph/catalog/admin-variants.ts",
  "src/graph/catalog/product-detail.ts",
  "src/graph/catalog/products.ts",
  "src/graph/connections.ts",
  "src/graph/loaders.ts",
  "src/graph/markets/markets.ts",
  "src/graph/orders/order-pieces.ts",
  "src/graph/promotions/promotions.ts",
  "src/graphql/failures.ts",
  "src/graphql/plugin.ts",
  "src/graphql/reports/csv-reports.ts",
  "src/graphql/subscriptions.ts",
  "src/http/body.ts",
  "src/http/server.ts",
  "src/mcp/operation-tools.ts",
  "src/mesh/contract-schema.ts",
  "src/mesh/open-mesh.ts",
  "src/mesh/operation-security.ts",
  "src/mesh/plugins/caller.ts",
  "src/mesh/plugins/idempotency.ts",
  "src/mesh/plugins/scope.ts",
  "src/mesh/run.ts",
  "src/oauth/adapter.ts",
  "src/oauth/interaction-request.ts",
  "src/oauth/error-handlers.ts",
  "src/observability/gather-metrics.ts",
  "src/observability/service-metrics.ts",
  "src/pages/checkout/amounts.ts",
  "src/pages/checkout/browser/address-check.ts",
  "src/pages/checkout/browser/main.ts",
  "src/pages/checkout/checkout-services.ts",
  "src/pages/checkout/checkout-view.ts",
  "src/pages/checkout/payment-page.ts",
  "src/pages/checkout/plugin.ts",
  "src/pages/checkout/visit.ts",
  "src/pages/console/browser/graph/client.ts",
  "src/pages/console/browser/graph/documents.ts",
  "src/pages/console/browser/graph/hooks.ts",
  "src/pages/console/console-pages.ts",
  "src/pages/docs/browser/try-operation.ts",
  "src/pages/docs/errors-page.ts",
  "src/pages/docs/examples.ts",
  "src/pages/docs/markdown.ts",
  "src/pages/docs/operation-page.ts",
  "src/pages/docs/plugin.ts",
  "src/pages/docs/try-form.ts",
  "src/pages/graphiql/browser/editor.ts",
  "src/pages/graphiql/browser/fetcher.ts",
  "src/pages/graphiql/browser/main.tsx",
  "src/pages/graphiql/browser/token-keeper.ts",
  "src/pages/graphiql/browser/type-map/main.tsx",
  "src/pages/shared/assets.ts",
  "src/pages/shared/browser/live-subscription.ts",
  "src/webhooks/endpoints/change-endpoint.ts",
  "src/webhooks/endpoints/endpoint-aggregate.ts",
  "src/webhooks/endpoints/endpoint-commands.ts",
  "src/webhooks/event-catalogue.ts",
];

export default defineConfig({
  options: { typeAware: true },
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
    "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
    "max-params": ["error", 3],
    "max-depth": ["error", 3],
    complexity: ["error", 12],
    "no-console": "error",
    // Most awaited steps in loops must run one after another. Independent steps use Promise.all.
    "no-await-in-loop": "off",
    "typescript/no-unsafe-type-assertion": "error",
    // pg declares its type ids as an enum, but passes them to callbacks as numbers.
    "typescript/no-unsafe-enum-comparison": "off",
    "import/no-named-as-default-member": "off",
    "typescript/consistent-type-imports": "error",
    "typescript/explicit-module-boundary-types": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
  },
  overrides: [
    ...layerRules,
    onlyFrom(
      stripeFolder,
      ["commerce", ...layers.commerce].map((open) => `#${open}/**`),
      `commerce/ may import: ${layers.commerce.join(", ")}.`,
    ),
    ...browserRules,
    {
      files: [...filesWithUnsafeAssertions, "test/**", "bench/**", "soak/**", "clients/**"],
      rules: { "typescript/no-unsafe-type-assertion": "off" },
    },
    // Generated files.
    {
      files: [
        "src/database/tables.ts",
        "clients/typescript/src/schema.ts",
        "clients/graphql/src/generated/**",
      ],
      rules: { "max-lines": "off" },
    },
    {
      files: ["*.config.ts", "clients/graphql/codegen.ts", "src/mesh/plugins/**", "src/graph/schema.ts"],
      rules: { "import/no-default-export": "off" },
    },
    {
      files: ["test/**", "bench/**"],
      rules: {
        "max-lines": ["error", { max: 500, skipBlankLines: true, skipComments: true }],
        "max-lines-per-function": "off",
        // Helpers of a test suite may be inside the suite.
        "unicorn/consistent-function-scoping": "off",
        "vitest/expect-expect": ["error", { assertFunctionNames: ["expect", "expect*"] }],
      },
    },
    // Tables of test cases: a row may have many values, an explanation of the expectation, and a condition.
    {
      files: ["test/**"],
      rules: {
        "max-params": "off",
        "vitest/no-conditional-expect": "off",
        "vitest/valid-expect": ["error", { maxArgs: 2 }],
      },
    },
  ],
});
