import { configDefaults, defineConfig } from "vitest/config";

/** `npm test` needs nothing but this project; what drives a browser is run by `npm run test:browser`. */
const isBrowser = process.env["TEST_BROWSER"] === "1";

export default defineConfig({
  test: {
    include: [isBrowser ? "test/browser/**/*.test.ts" : "test/**/*.test.ts"],
    exclude: isBrowser ? configDefaults.exclude : [...configDefaults.exclude, "test/browser/**"],
    setupFiles: ["test/support/properties.ts"],
    globalSetup: ["test/support/postgres.ts"],
    // Node's own loader, the same as in production: Vite's would load a second copy of graphql ("from another module or realm").
    experimental: { viteModuleRunner: false },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for comes at once, but on a machine that has other things to do.
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
  },
});
