/**
 * `npm run mutation`: makes every small change of the code that breaks it, and counts how many changes a test
 * notices. See docs/mutation.md.
 */
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { writeFiguresPage } from "#soak/figure-table.ts";
import { readRecords, recordFigures } from "#soak/record.ts";
import { type MutatedModule, modules } from "./modules.ts";

const figure = 17;
const leastScore = 85;

interface Score {
  readonly name: string;
  readonly minutes: number;
  readonly mutants: number;
  readonly noticed: number;
  /** The share of noticed mutants in per cent. */
  readonly score: number;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const help = `Usage: npm run mutation [-- --only LIST] [--fresh] [--record]

Mutates the modules that everything rests on and runs their tests against each mutant. Ends with 1 when a
module has less than ${leastScore} %.

  --only LIST    of: ${modules.map(({ name }) => name).join(",")}
  --processes N  tries N mutants at the same time; 1 if left out
  --fresh        tries every mutant again, also those that nothing has changed for since the last time
  --record       keeps the scores in docs/figures.json; of mutants that nothing has changed for, what the last run found`;

interface RunOptions {
  readonly isFresh: boolean;
  /** The number of mutants that are tried at the same time. */
  readonly processes: number;
}

async function mutate(
  { name, mutate: files }: MutatedModule,
  { isFresh, processes }: RunOptions,
): Promise<Score> {
  const startedAt = performance.now();
  // The test runner's processes find their tests by this variable (vitest.mutation.config.ts). With Stryker's
  // own `testFiles`, mutants in code that runs at import time are never active.
  process.env["MUTATION_MODULE"] = name;
  const results = await new Stryker({
    mutate: [...files],
    testRunner: "vitest",
    vitest: { configFile: "vitest.mutation.config.ts", related: false, pool: "threads" },
    plugins: ["@stryker-mutator/vitest-runner"],
    coverageAnalysis: "perTest",
    dryRunTimeoutMinutes: 10,
    concurrency: processes,
    // Stryker's rewriting of tsconfig.json needs a TypeScript with a compiler API; nothing in the copy reads
    // that file.
    ignorePatterns: ["/tsconfig.json", "/bench", "/dist", "/docs", "/reports"],
    incremental: true,
    incrementalFile: `reports/mutation/${name}-last.json`,
    force: isFresh,
    reporters: ["progress-append-only", "json", "html", "clear-text"],
    jsonReporter: { fileName: `reports/mutation/${name}.json` },
    htmlReporter: { fileName: `reports/mutation/${name}.html` },
    clearTextReporter: { logTests: false, allowColor: false, allowEmojis: false },
    allowConsoleColors: false,
    disableTypeChecks: false,
  }).runMutationTest();
  const noticed = results.filter(({ status }) => status === "Killed" || status === "Timeout").length;
  // Mutants that fail to load do not count.
  const mutants =
    noticed + results.filter(({ status }) => status === "Survived" || status === "NoCoverage").length;
  return {
    name,
    minutes: (performance.now() - startedAt) / 60_000,
    mutants,
    noticed,
    score: mutants === 0 ? 0 : (noticed / mutants) * 100,
  };
}

function record({ name, minutes, mutants, noticed, score }: Score): void {
  const counts = { mutants, noticed, scorePercent: Math.round(score * 10) / 10 };
  recordFigures([
    {
      figure,
      name: `mutation-${name}`,
      engine: null,
      minutes,
      counts,
      violations: score < leastScore ? 1 : 0,
    },
  ]);
  writeFiguresPage(readRecords());
}

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    processes: { type: "string", default: "1" },
    fresh: { type: "boolean" },
    record: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const names = values.only?.split(",") ?? modules.map(({ name }) => name);
const asked = modules.filter(({ name }) => names.includes(name));
if (values.help === true || asked.length < names.length || !/^[1-9]$/.test(values.processes)) {
  say(help);
  process.exitCode = values.help === true ? 0 : 2;
} else {
  const scores: Score[] = [];
  for (const module of asked) {
    const score = await mutate(module, {
      isFresh: values.fresh === true,
      processes: Number(values.processes),
    });
    scores.push(score);
    if (values.record === true) record(score);
  }
  for (const { name, mutants, noticed, score } of scores)
    say(`${name.padEnd(16)}${score.toFixed(1).padStart(6)} %  ${noticed} of ${mutants}`);
  process.exitCode = scores.every(({ score }) => score >= leastScore) ? 0 : 1;
}
