import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** True for `npm run test:browser`, which needs a browser. `npm test` needs only this project. */
const isBrowser = process.env["TEST_BROWSER"] === "1";

const all = isBrowser ? "test/browser/**/*.test.ts" : "test/**/*.test.ts";

/**
 * Test files that mock modules, need modules which no other file has loaded before, or call the garbage
 * collector. Loaded modules and their mocks belong to a whole process, and collecting the garbage of a shared
 * process takes a second, so each of these files has its own process. All other files share processes,
 * because loading the service takes longer than most tests.
 */
const alone = globSync(all, { cwd: import.meta.dirname }).filter((file) =>
  /\bvi\.(?:mock|resetModules)\(|--expose-gc/.test(readFileSync(join(import.meta.dirname, file), "utf8")),
);
const excluded = isBrowser ? configDefaults.exclude : [...configDefaults.exclude, "test/browser/**"];

/** Matches test files that start processes of the service, which take longest. */
const startsProcesses = /(?:support\/process|soak\/(?:service|cuts|simulation\/simulation))\.ts"/;

/** The place of a test file in the order: 0 runs first. */
function rankOf({ project, moduleId }: TestSpecification): number {
  if (project.name === "alone") return 0;
  return startsProcesses.test(readFileSync(moduleId, "utf8")) ? 1 : 2;
}

/**
 * Runs the files with processes of their own first, and those that start processes of the service next.
 * Without a cache of durations, vitest starts with the largest files, and would end with the short files of
 * `test/exactly-once`: the last of them would run alone for a minute, on one of the two cores.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranks = new Map(files.map((file) => [file, rankOf(file)]));
    // eslint-disable-next-line unicorn/no-array-sort -- The method of the sequencer sorts no array in place.
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  }
}

/**
 * Options of Node for the processes that run tests. Most objects of a test live until its end, longer than
 * V8's usual young generation (`semi-space`) keeps them, so that V8 copies them twice and searches the old
 * generation often. With these sizes in MB, the tests of `test/operations` and `test/gateway` took 8 to 12 %
 * less CPU time.
 */
const workerOptions = ["--min-semi-space-size=64", "--max-semi-space-size=64", "--initial-heap-size=1024"];

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
    expect: { poll: { timeout: 45_000 } },
    // One more than the two cores of CI: tests wait for processes, sockets and timers, so that two workers left a
    // tenth of the time of the cores unused (727 s with two, 694 s with three). Each browser takes a core.
    maxWorkers: isBrowser ? 2 : 3,
    execArgv: workerOptions,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "alone", include: alone, exclude: excluded, isolate: true } },
      {
        extends: true,
        test: { name: "all", include: [all], exclude: [...excluded, ...alone], isolate: false },
      },
    ],
  },
});
