/** The modules that a serving process loads: an unused module would cost start time and memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { createDatabase } from "#test/support/create-database.ts";
import { runCommand, temporaryFolder } from "#test/support/process.ts";

const hook = new URL("../support/note-modules.ts", import.meta.url).href;

/**
 * Returns the loaded modules: packages by name, the service's own by path. When the process fails because its
 * port is taken, everything has been loaded.
 */
async function modulesOf(environment: Readonly<Record<string, string>>): Promise<Set<string>> {
  const folder = temporaryFolder();
  const file = join(folder, "modules");
  const { port } = new URL(inject("postgresUrl"));
  const ended = await runCommand(["serve"], {
    ...environment,
    DATA_DIR: folder,
    PORT: port,
    NODE_OPTIONS: `--import ${hook}`,
    NOTED_MODULES: file,
  });
  expect(ended.stderr).toMatch(/^PORT is used by another process/);
  const urls = readFileSync(file, "utf8").trim().split("\n");
  return new Set(
    urls.map(
      (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? /\/src\/(.*)/.exec(url)?.[1] ?? url,
    ),
  );
}

it("on PostgreSQL without the demo: not PGlite, the demo, Redis, webhooks, sign-in or GraphiQL", async () => {
  const modules = await modulesOf({
    DATABASE_URL: await createDatabase(),
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    DEMO: "0",
  });
  expect(modules).toContain("graphql-jit");
  expect(modules).toContain("gateway/operations.ts");
  for (const name of [
    "@electric-sql/pglite",
    "@graphql-codegen/core",
    "@graphql-mesh/cli",
    "@graphql-mesh/openapi",
    "@graphql-yoga/render-graphiql",
    "cli-progress",
    "cosmiconfig",
    "ioredis",
    "oidc-provider",
    "pino-pretty",
    "rate-limiter-flexible",
    "typescript",
    "undici",
    "demo/demo-data.ts",
    "demo/prepare-demo.ts",
    "http/redis-limiter.ts",
    "observability/tracing.ts",
  ])
    expect(modules).not.toContain(name);
  // The OpenTelemetry API without an SDK, which the metrics library requires.
  expect([...modules].filter((name) => name.startsWith("@opentelemetry/"))).toEqual(["@opentelemetry/api"]);
});

it("on the embedded database: PGlite too", async () => {
  expect(await modulesOf({ DEMO: "0" })).toContain("@electric-sql/pglite");
});
