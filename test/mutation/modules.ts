/**
 * The mutated modules and the tests that must notice: only the closest tests, so that a mutant takes a
 * second.
 */

export interface MutatedModule {
  readonly name: string;
  /** Paths or patterns of files. */
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /** Whether the tests need a PostgreSQL beside PGlite. */
  readonly hasDatabase: boolean;
}

const afterSales = "{eligibility,option,return-options,warranty-options,obstacles,reasons}.ts";

export const modules: readonly MutatedModule[] = [
  {
    name: "money",
    mutate: ["src/foundation/money.ts", "src/commerce/pricing/*.ts", "src/commerce/orders/order-value.ts"],
    tests: [
      "test/foundation/values.test.ts",
      "test/commerce/pricing/*.test.ts",
      "test/commerce/orders/{unit-share,order-value}.test.ts",
    ],
    hasDatabase: false,
  },
  {
    name: "signing",
    mutate: ["src/webhooks/signatures.ts", "src/foundation/encryption.ts"],
    tests: ["test/webhooks/signatures.test.ts", "test/foundation/encryption.test.ts"],
    hasDatabase: false,
  },
  {
    name: "ssrf",
    mutate: ["src/webhooks/{safe-addresses,safe-connector,safe-request,endpoint-url}.ts"],
    tests: [
      "test/webhooks/{safe-addresses,safe-request,endpoint-url}.test.ts",
      "test/webhooks/{resolve-name,blocked-targets,guarded-connections}.test.ts",
    ],
    hasDatabase: false,
  },
  {
    name: "idempotency",
    mutate: ["src/database/idempotency.ts"],
    tests: ["test/foundation/idempotency-key.test.ts", "test/database/idempotency*.test.ts"],
    hasDatabase: true,
  },
  {
    // Credentials in requests, and what they prove.
    name: "authentication",
    mutate: ["src/access/authorization.ts", "src/http/caller.ts", "src/access/oauth/{dpop,access-tokens}.ts"],
    tests: [
      "test/access/{secret-form,authorization,access-tokens,grant-state,dpop}.test.ts",
      "test/gateway/client-address.test.ts",
    ],
    hasDatabase: true,
  },
  {
    // The life cycle of keys and tokens, and their cache.
    name: "keys",
    mutate: ["src/access/credentials.ts", "src/access/keys/*.ts"],
    tests: [
      "test/access/{secret-form,key-verdicts,api-keys,credentials,credential-cache,rotation}.test.ts",
      "test/access/internal-tokens.test.ts",
    ],
    hasDatabase: true,
  },
  {
    // Whether an order can be canceled.
    name: "cancellation",
    mutate: [
      "src/commerce/orders/cancellation/{eligibility,obstacles,reasons}.ts",
      "src/commerce/orders/eligibility-reason.ts",
    ],
    tests: [
      "test/commerce/eligibility/{cancellation*,words,properties}.test.ts",
      "test/commerce/orders/decide-cancellation.test.ts",
    ],
    hasDatabase: false,
  },
  {
    // Which after-sales requests are possible, and until when.
    name: "after-sales",
    mutate: [`src/commerce/after-sales/${afterSales}`, "src/commerce/orders/order-terms.ts"],
    tests: [
      "test/commerce/eligibility/{after-sales*,line-units,order-level,terms,warranty}.test.ts",
      "test/commerce/eligibility/{deadlines,windows,words,properties}.test.ts",
      "test/commerce/after-sales/plan-return.test.ts",
    ],
    hasDatabase: false,
  },
  {
    // What callers may execute through GraphQL Mesh: scopes, idempotency keys, limits, and kept results.
    name: "mesh-policies",
    mutate: [
      "src/mesh/plugins/{scope,idempotency,limits,validation,reuse,failures,caller}.ts",
      "src/mesh/{operation-security,idempotent-document,clean-text}.ts",
    ],
    tests: ["test/mesh/policies/*.test.ts"],
    hasDatabase: false,
  },
  {
    // What the service asks Stripe for, and what it makes of the answers.
    name: "payment-adapter",
    mutate: [
      "src/commerce/payments/stripe/*.ts",
      "src/commerce/payments/{provider,execute-payment-operation}.ts",
      "src/commerce/payments/test/test-provider-decisions.ts",
    ],
    tests: [
      "test/stripe/{stripe-provider,stripe-events-and-keys,stripe-amounts}.test.ts",
      "test/commerce/payments/execute-payment-operation.test.ts",
    ],
    hasDatabase: false,
  },
  {
    // Which words a search corrects and leaves out, and which documents it finds. The scores of the found
    // documents are computed in SQL, which mutants do not change.
    name: "search-relevance",
    mutate: ["src/commerce/search/{match-query,relax-query,correct-words,typo-keys}.ts"],
    tests: ["test/commerce/search/{relevance-rules,typo-keys}.test.ts"],
    hasDatabase: false,
  },
];
