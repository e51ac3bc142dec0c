/**
 * Checks guarantees that are tested with lists of cases, not with load. Runs the test files with vitest and
 * counts the results.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "./report.ts";

export const suites = {
  scopes: [
    "test/gateway/every-scope.test.ts",
    "test/gateway/foreign-ids.test.ts",
    "test/graph/foreign-ids.test.ts",
    "test/graph/roles.test.ts",
  ],
  receivers: [
    "test/webhooks/safe-request.test.ts",
    "test/webhooks/dispatcher.test.ts",
    "test/webhooks/retries.test.ts",
  ],
  ssrf: [
    "test/webhooks/blocked-targets.test.ts",
    "test/webhooks/safe-addresses.test.ts",
    "test/webhooks/resolved-names.test.ts",
  ],
  dpop: [
    "test/gateway/dpop-proofs.test.ts",
    "test/gateway/dpop-tokens.test.ts",
    "test/gateway/dpop-second-opinion.test.ts",
  ],
  conformance: ["test/oauth/conformance.test.ts"],
  "supply-chain": ["test/supply-chain/supply-chain.test.ts"],
  "hostile-tool-calls": ["test/mcp/hostile-calls.test.ts"],
  "tax-histories": ["test/commerce/orders/order-tax-histories.test.ts"],
  "encryption-keys": ["test/maintenance/encryption-canaries.test.ts", "test/process/encryption-keys.test.ts"],
  "statement-limits": [
    "test/database/unanswered.test.ts",
    "test/database/migrate.test.ts",
    "test/deploy/roles.test.ts",
  ],
  "drain-and-watchdog": ["test/faults/stop.test.ts", "test/process/watchdog.test.ts"],
  "folder-lock": ["test/database/folder-lock.test.ts"],
  replica: [
    "test/database/replica.test.ts",
    "test/database/replica-lag.test.ts",
    "test/database/replica-fallback.test.ts",
  ],
  poolers: ["test/database/pooler.test.ts"],
  deployment: [
    "test/deploy/compose.test.ts",
    "test/deploy/helm.test.ts",
    "test/deploy/systemd.test.ts",
    "test/process/settings.test.ts",
    "test/process/encrypted-connections.test.ts",
    "test/tracing/sql-comments.test.ts",
  ],
  growth: ["test/database/sharding.test.ts", "test/sweeps.test.ts"],
  quotas: [
    "test/graph/quotas.test.ts",
    "test/attacks/duplicate-members.test.ts",
    "test/attacks/http-attacks.test.ts",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Environment variables with which a suite runs at full size, and the sizes that are reported. */
const fullSizes: Readonly<Partial<Record<keyof typeof suites, Readonly<Record<string, number>>>>> = {
  "hostile-tool-calls": { HOSTILE_CALLS: 10_000 },
  "tax-histories": { TAX_HISTORIES: 100_000 },
};

const project = new URL("../", import.meta.url).pathname;

/** The part of vitest's JSON report that this file reads. */
interface VitestResult {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

export async function runSuite(name: keyof typeof suites): Promise<Report> {
  const sizes = fullSizes[name] ?? {};
  const { counts, violations } = await runTestFiles(suites[name], sizes);
  const { files, seconds, ...results } = counts;
  return {
    figure: name,
    engine: "both",
    counts: {
      files,
      ...results,
      ...(sizes["HOSTILE_CALLS"] === undefined ? {} : { calls: sizes["HOSTILE_CALLS"] }),
      ...(sizes["TAX_HISTORIES"] === undefined ? {} : { orders: sizes["TAX_HISTORIES"] }),
      seconds,
    },
    violations,
  };
}

export interface FullSuitePlan {
  readonly roundsMax: number;
  readonly isOver: () => boolean;
  readonly onStep: (text: string) => void;
}

/** Runs all test files of `npm test` again and again, at least once, until a run fails. */
export async function runFullSuite({ roundsMax, isOver, onStep }: FullSuitePlan): Promise<Report> {
  const sums = { "full runs": 0, passed: 0, failed: 0, skipped: 0, "slowest run s": 0 };
  const violations: string[] = [];
  // The time starts with the first call.
  isOver();
  do {
    const { counts, violations: found } = await runTestFiles([], {});
    sums["full runs"] += 1;
    for (const name of ["passed", "failed", "skipped"] as const) sums[name] += counts[name];
    sums["slowest run s"] = Math.max(sums["slowest run s"], counts.seconds);
    violations.push(...found);
    onStep(`all databases: ${sums["full runs"]} full runs, the last in ${counts.seconds} s`);
  } while (violations.length === 0 && sums["full runs"] < roundsMax && !isOver());
  return { figure: "full-suite", engine: "both", counts: sums, violations };
}

/** Runs vitest like `npm test`, and returns its exit code; null if a signal has ended it. */
async function runVitest(
  args: readonly string[],
  sizes: Readonly<Record<string, number>>,
): Promise<number | null> {
  const variables = Object.entries(sizes).map(([variable, size]) => [variable, String(size)]);
  const child = spawn(process.execPath, args, {
    cwd: project,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      NODE_COMPILE_CACHE: join(project, "node_modules/.cache/node"),
      ...process.env,
      ...Object.fromEntries(variables),
    },
  });
  const killAtEnd = (): void => void child.kill();
  process.once("exit", killAtEnd);
  const [exitCode] = (await once(child, "exit")) as [number | null];
  process.off("exit", killAtEnd);
  return exitCode;
}

/** Reads the report. vitest writes none if it is killed or has too little memory. */
function readResult(file: string): VitestResult {
  if (!existsSync(file)) return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [] };
  return JSON.parse(readFileSync(file, "utf8")) as VitestResult;
}

interface TestFilesResult extends Pick<Report, "violations"> {
  readonly counts: Readonly<Record<"files" | "passed" | "failed" | "skipped" | "seconds", number>>;
}

/** Runs test files with vitest, all of `npm test` if the list is empty, with environment variables. */
async function runTestFiles(
  files: readonly string[],
  sizes: Readonly<Record<string, number>>,
): Promise<TestFilesResult> {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-soak-"));
  const file = join(folder, "outcome.json");
  const args = [
    join(project, "node_modules/vitest/vitest.mjs"),
    "run",
    ...files,
    "--reporter=json",
    `--outputFile=${file}`,
  ];
  const startedAt = performance.now();
  try {
    const exitCode = await runVitest(args, sizes);
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = readResult(file);
    const failed = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === "failed"),
    );
    // A file that cannot be loaded has no results, and therefore no failed tests.
    const expectedFiles = files.length === 0 ? testResults.length : files.length;
    const filesWithoutResults =
      expectedFiles - testResults.filter(({ assertionResults }) => assertionResults.length > 0).length;
    return {
      counts: {
        files: expectedFiles,
        passed: numPassedTests,
        failed: numFailedTests,
        skipped: numPendingTests,
        seconds: Math.round((performance.now() - startedAt) / 1000),
      },
      violations: [
        ...failed.map(({ fullName, failureMessages: [message = ""] }) => {
          const [reason = ""] = message.split("\n", 1);
          return `Failed: ${fullName}: ${reason}`;
        }),
        ...(filesWithoutResults > 0 ? [`${filesWithoutResults} files could not be run.`] : []),
        // vitest also fails after an error outside of tests, for example after the last test.
        ...(exitCode !== 0 && failed.length === 0 && filesWithoutResults === 0
          ? [`vitest ended with exit code ${exitCode}, although no test failed.`]
          : []),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
