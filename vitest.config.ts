import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/** `npm test` needs nothing but this project; what drives a browser is run by `npm run test:browser`. */
const isBrowser = process.env["TEST_BROWSER"] === "1";

const all = isBrowser ? "test/browser/**/*.test.ts" : "test/**/*.test.ts";

/**
 * A mocked module is one for the whole process: these files have one each. The others share theirs, since
 * loading the service takes longer than most of them.
 */
const mocking = globSync(all, { cwd: import.meta.dirname }).filter((file) =>
  /\bvi\.mock\(/.test(readFileSync(join(import.meta.dirname, file), "utf8")),
);
const excluded = isBrowser ? configDefaults.exclude : [...configDefaults.exclude, "test/browser/**"];

export default defineConfig({
  test: {
    setupFiles: ["test/support/properties.ts"],
    globalSetup: ["test/support/postgres.ts"],
    // Node's own loader, the same as in production: Vite's would load a second copy of graphql ("from another
    // module or realm").
    experimental: { viteModuleRunner: false },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for comes at once, but on a machine that has other things to do.
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
