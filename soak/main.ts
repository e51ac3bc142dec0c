/** The command `npm run soak -- --minutes N`, described in README.md of this folder. */
import { type Arguments, InvalidArgument, help, readArguments } from "./arguments.ts";
import { measuredGuarantees } from "./figure-list.ts";
import { writeFiguresPage } from "./figure-table.ts";
import { soakTests, runSoakTest } from "./soak-tests.ts";
import { findNextSeed, readRecords, recordFigures } from "./record.ts";
import { type Report, formatTable, formatViolations } from "./report.ts";

const known = soakTests.map(({ name }) => name);
const byDefault = soakTests.filter(({ isOnlyByName }) => isOnlyByName !== true).map(({ name }) => name);
const printResult = (text: string): void => void process.stdout.write(`${text}\n`);
const printStep = (text: string): void => void process.stderr.write(`· ${text}\n`);

/** Runs the selected soak tests. Returns true if none found a violation. */
async function soak(parsed: Arguments): Promise<boolean> {
  const { minutes, only, engine: wanted, rounds, isAdded } = parsed;
  const firstSeed = parsed.firstSeed ?? (isAdded ? findNextSeed(readRecords()) : 1);
  const runs = soakTests
    .filter(({ name }) => only.includes(name))
    .flatMap((figure) =>
      figure.engines.map((engine) => ({ figure, engine, share: figure.weight / figure.engines.length })),
    )
    .filter(({ engine }) => wanted === undefined || engine === wanted);
  // Tests that run test files have the weight 0, so the sum is 0 if only these tests are selected.
  const totalShare = runs.reduce((sum, { share }) => sum + share, 0) || 1;
  const reports: Report[] = [];
  for (const { figure, engine, share } of runs) {
    const missing = figure.findMissingPackages?.() ?? [];
    if (missing.length > 0) {
      printStep(`${figure.name} is skipped: install the Debian packages ${missing.join(", ")}`);
      continue;
    }
    const startedAt = performance.now();
    // The time starts with the first call of `isOver`, so that preparations do not count.
    let until: number | undefined;
    printStep(`${figure.name} on ${engine}, for ${((minutes * share) / totalShare).toFixed(1)} minutes`);
    const isOver = (): boolean =>
      performance.now() > (until ??= performance.now() + (minutes * 60_000 * share) / totalShare);
    const report = await runSoakTest(figure, engine, {
      isOver,
      roundsMax: rounds,
      firstSeed,
      onStep: (text) => printStep(`${figure.name} on ${text}`),
    });
    reports.push(report);
    if (parsed.isRecorded) record(report, (performance.now() - startedAt) / 60_000, isAdded);
  }
  printResult(`\n${formatTable(reports)}`);
  const broken = formatViolations(reports);
  if (broken !== "") printResult(`\n${broken}`);
  return broken === "";
}

/** Records the result of a measurement at once, so that an interrupted run keeps its earlier results. */
function record(report: Report, minutes: number, isAdded: boolean): void {
  const { figure: name, engine, counts, violations } = report;
  const figure = findGuaranteeNumber(name);
  if (figure === undefined) return;
  recordFigures([{ figure, name, engine, minutes, counts, violations: violations.length }], isAdded);
  writeFiguresPage(readRecords());
}

/** Ends this process on a signal. Exit handlers then kill the service, and PostgreSQL ends by itself. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

try {
  const parsed = readArguments(process.argv.slice(2), { known, byDefault });
  if (parsed === undefined) printResult(help(known));
  else process.exitCode = (await soak(parsed)) ? 0 : 1;
} catch (error) {
  process.stderr.write(
    `${error instanceof InvalidArgument ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = error instanceof InvalidArgument ? 2 : 1;
}

/** Returns the number of the guarantee that uses a measurement; undefined if no guarantee uses it. */
function findGuaranteeNumber(name: string): number | undefined {
  return measuredGuarantees.find(({ measurements }) => measurements.some((shown) => shown.name === name))
    ?.number;
}
