import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/** True for `npm run test:browser`, which needs a browser. `npm test` needs only this project. */
const isBrowser = process.env["TEST_BROWSER"] === "1";

const all = isBrowser ? "test/browser/**/*.test.ts" : "test/**/*.test.ts";

/**
 * Test files that mock modules, or that need modules which no other file has loaded before. Loaded modules
 * and their mocks belong to a whole process, so each of these files has its own process. All other files
 * share processes, because loading the service takes longer than most tests.
 */
const mocking = globSync(all, { cwd: import.meta.dirname }).filter((file) =>
  /\bvi\.(?:mock|resetModules)\(/.test(readFileSync(join(import.meta.dirname, file), "utf8")),
);
const excluded = isBrowser ? configDefaults.exclude : [...configDefaults.exclude, "test/browser/**"];

export default defineConfig({
  test: {
    setupFiles: ["test/support/properties.ts"],
    globalSetup: ["test/support/postgres.ts"],
    // Modules are loaded by Node, as in production. Vite's loader would load a second copy of graphql ("from
    // another module or realm").
    experimental: { viteModuleRunner: false },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Awaited conditions are usually met at once; a busy machine may need longer.
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: "mocking", include: mocking, exclude: excluded, isolate: true } },
      {
        extends: true,
        test: { name: "all", include: [all], exclude: [...excluded, ...mocking], isolate: false },
      },
    ],
  },
});
