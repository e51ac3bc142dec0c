/** The modules that a serving process loads: an unused module would cost start time and memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { migratedFolder } from "#test/support/copies.ts";
import { createDatabase } from "#test/support/create-database.ts";
import { runCommand, temporaryFolder } from "#test/support/process.ts";

const hook = new URL("../support/note-modules.ts", import.meta.url).href;

interface LoadedModules {
  /** The loaded packages by name, and the service's own modules by path. */
  readonly names: ReadonlySet<string>;
  /** The number of loaded modules. */
  readonly count: number;
  /** The packages that are loaded from several folders, because different versions are installed. */
  readonly inSeveralVersions: readonly string[];
}

const packagePath = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/;

/** Starts the service. When the process fails because its port is taken, everything has been loaded. */
async function modulesOf(environment: Readonly<Record<string, string>>): Promise<LoadedModules> {
  const folder = temporaryFolder();
  const file = join(folder, "modules");
  const { port } = new URL(inject("postgresUrl"));
  const ended = await runCommand(["serve"], {
    DATA_DIR: folder,
    ...environment,
    PORT: port,
    NODE_OPTIONS: `--import ${hook}`,
    NOTED_MODULES: file,
  });
  expect(ended.stderr).toMatch(/^PORT is used by another process/);
  const urls = new Set(readFileSync(file, "utf8").trim().split("\n"));
  const nameOf = (url: string): string => packagePath.exec(url)?.[1] ?? /\/src\/(.*)/.exec(url)?.[1] ?? url;
  const folders = new Set(
    [...urls].map((url) => packagePath.exec(url)?.[0]).filter((path) => path !== undefined),
  );
  const copies = Map.groupBy(folders, nameOf);
  return {
    names: new Set([...urls].map(nameOf)),
    count: urls.size,
    inSeveralVersions: [...copies]
      .filter(([, paths]) => paths.length > 1)
      .map(([name]) => name)
      .toSorted(),
  };
}

it("on PostgreSQL: no module of PGlite, the demo, Redis, webhooks, sign-in, GraphiQL, MCP or docs", async () => {
  const { names, count, inSeveralVersions } = await modulesOf({
    DATABASE_URL: await createDatabase(),
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    DEMO: "0",
  });
  expect(names).toContain("graphql-jit");
  expect(names).toContain("gateway/operations.ts");
  for (const name of [
    "@electric-sql/pglite",
    "@graphql-codegen/core",
    "@graphql-mesh/cli",
    "@graphql-mesh/openapi",
    "@graphql-yoga/render-graphiql",
    "@modelcontextprotocol/server",
    "cli-progress",
    "cosmiconfig",
    "highlight.js",
    "ioredis",
    "marked",
    "oidc-provider",
    "pino-pretty",
    "rate-limiter-flexible",
    "typescript",
    "undici",
    "demo/demo-data.ts",
    "demo/prepare-demo.ts",
    "http/redis-limiter.ts",
    "observability/tracing.ts",
    "pages/docs/docs-site.ts",
  ])
    expect(names).not.toContain(name);
  // The OpenTelemetry API without an SDK, which the metrics library requires.
  expect([...names].filter((name) => name.startsWith("@opentelemetry/"))).toEqual(["@opentelemetry/api"]);
  expect(count).toBeLessThan(2_720);
  // Each further version of a package costs memory and time at every start. `overrides` in package.json can
  // make packages share one version. Only the executor of Mesh keeps version 11 of `@graphql-tools/utils`:
  // with version 12, it found no values for the variables of directives.
  expect(inSeveralVersions).toEqual([
    "@graphql-mesh/store",
    "@graphql-mesh/types",
    "@graphql-mesh/utils",
    "@graphql-tools/executor",
    "@graphql-tools/utils",
    "@whatwg-node/disposablestack",
    "@whatwg-node/fetch",
    "@whatwg-node/node-fetch",
    "@whatwg-node/promise-helpers",
    "fast-uri",
    "lru-cache",
  ]);
});

it("on the embedded database: PGlite too", async () => {
  expect((await modulesOf({ DATA_DIR: await migratedFolder(), DEMO: "0" })).names).toContain(
    "@electric-sql/pglite",
  );
});
