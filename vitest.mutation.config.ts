/** The tests of one module, for `npm run mutation` (test/mutation/main.ts), which says which one. */
import { defineConfig } from "vitest/config";
import { modules } from "./test/mutation/modules.ts";

const module = modules.find(({ name }) => name === process.env["MUTATION_MODULE"]);

export default defineConfig({
  test: {
    include: [...(module?.tests ?? [])],
    setupFiles: ["test/support/properties.ts"],
    globalSetup: module?.hasDatabase === true ? ["test/support/postgres.ts"] : [],
    // As vitest.config.ts has it: a mutant is loaded as the service itself is.
    experimental: { viteModuleRunner: false },
    isolate: false,
    hookTimeout: 120_000,
    // A mutant that hangs is found sooner than the suite's own minute.
    testTimeout: 20_000,
    expect: { poll: { timeout: 5_000 } },
  },
});
