import { defineConfig, type OxlintOverride } from "oxlint";

/**
 * The layers, lowest first, each with the layers that it may import. Imports only point to layers listed before; test/architecture.test.ts plants an import
 * that points up and checks that it is refused.
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
  observability: ["http", "webhooks", "access", "database", "foundation"],
  app: [
    "observability",
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
  cli: ["app", "observability", "demo", "http", "mesh", "graph", "commerce", "webhooks", "access", "database", "foundation"],
};

const onlyFrom = (files: string, open: readonly string[], message: string): OxlintOverride => ({
  files: [files],
  rules: {
    "no-restricted-imports": ["error", { patterns: [{ group: ["../**", "#*", "#*/**", ...open.map((path) => `!${path}`)], message }] }],
  },
});

const layerRules = Object.entries(layers).map(([layer, below]) =>
  onlyFrom(
    `src/${layer}/**`,
    [layer, ...below].map((open) => `#${open}/**`),
    `${layer}/ may import: ${below.join(", ") || "nothing"}.`,
  ),
);

/** What runs in browsers imports nothing of what runs on the server, nor of another page. */
const browserRules = ["checkout", "console", "docs", "graphiql", "shared"].map((page) =>
  onlyFrom(
    `src/pages/${page}/browser/**`,
    [`#pages/${page}/browser/**`, "#pages/shared/browser/**"],
    `${page}/browser/ may import pages/shared/browser/ alone.`,
  ),
);

export default defineConfig({
  options: { typeAware: true },
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
    "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
    "max-params": ["error", 3],
    "max-depth": ["error", 3],
    complexity: ["error", 12],
    "no-console": "error",
    // Steps that must follow each other are the common case here; where they need not, the code says Promise.all.
    "no-await-in-loop": "off",
    // Rows, drivers and parsed JSON enter through assertions at the border, each next to its check.
    "typescript/no-unsafe-type-assertion": "off",
    // pg declares its type numbers as an enum that its own callbacks pass as numbers.
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
    ...browserRules,
    // Generated.
    { files: ["src/database/tables.ts", "clients/typescript/src/schema.ts"], rules: { "max-lines": "off" } },
    { files: ["*.config.ts", "src/mesh/plugins/**", "src/graph/schema.ts"], rules: { "import/no-default-export": "off" } },
    {
      files: ["test/**", "bench/**"],
      rules: {
        "max-lines-per-function": "off",
        // A suite's helpers stand with its tests.
        "unicorn/consistent-function-scoping": "off",
        "vitest/expect-expect": ["error", { assertFunctionNames: ["expect", "expect*"] }],
      },
    },
    // Tables of cases: a row has as many parts as it needs, says what was expected, and decides between an answer and a refusal.
    { files: ["test/**"], rules: { "max-params": "off", "vitest/no-conditional-expect": "off", "vitest/valid-expect": ["error", { maxArgs: 2 }] } },
  ],
});
