/** Runs the tests of one module, which `npm run mutation` (test/mutation/main.ts) names in MUTATION_MODULE. */
import { defineConfig } from "vitest/config";
import { modules } from "./test/mutation/modules.ts";

const module = modules.find(({ name }) => name === process.env["MUTATION_MODULE"]);

export default defineConfig({
  test: {
    include: [...(module?.tests ?? [])],
    setupFiles: ["test/support/properties.ts"],
    globalSetup: module?.hasDatabase === true ? ["test/support/postgres.ts"] : [],
    // Modules are loaded by Node, as in vitest.config.ts.
    experimental: { viteModuleRunner: false },
    isolate: false,
    hookTimeout: 120_000,
    // Shorter than in vitest.config.ts, so that a mutant that hangs ends soon.
    testTimeout: 20_000,
    expect: { poll: { timeout: 5_000 } },
  },
});
