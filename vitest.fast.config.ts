/**
 * The configuration of `npm run test:fast`: about a minute of tests for the work between two commits.
 * `test/support/fast.ts` selects the tests.
 */
import { defineConfig } from "vitest/config";
import { fastFiles, fastNames } from "./test/support/fast.ts";

export default defineConfig({
  test: {
    include: fastFiles,
    testNamePattern: fastNames,
    bail: 1,
    isolate: false,
    maxWorkers: 2,
    setupFiles: ["test/support/properties.ts"],
    globalSetup: ["test/support/postgres.ts", "test/support/fast.ts"],
    // Modules are loaded by Node, for the same reason as in vitest.config.ts.
    experimental: { viteModuleRunner: false },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 45_000 } },
  },
});
