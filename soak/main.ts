/** `npm run soak -- --minutes N`: see README.md beside it. */
import { type Arguments, BadArgument, help, readArguments } from "./arguments.ts";
import { figureNumberOf } from "./figure-list.ts";
import { figures, runFigure } from "./figures.ts";
import { recordFigures } from "./record.ts";
import { type Report, formatTable, formatViolations } from "./report.ts";

const known = figures.map(({ name }) => name);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const step = (text: string): void => void process.stderr.write(`· ${text}\n`);

/** Gives whether every promise was kept. */
async function soak({ minutes, only, engine: wanted, rounds, isRecorded }: Arguments): Promise<boolean> {
  const runs = figures
    .filter(({ name }) => only.includes(name))
    .flatMap((figure) =>
      figure.engines.map((engine) => ({ figure, engine, share: figure.weight / figure.engines.length })),
    )
    .filter(({ engine }) => wanted === undefined || engine === wanted);
  // Suites alone have no share: they take what they take.
  const whole = runs.reduce((sum, { share }) => sum + share, 0) || 1;
  const reports: Report[] = [];
  for (const { figure, engine, share } of runs) {
    const startedAt = performance.now();
    // What it takes to begin is not counted.
    let until: number | undefined;
    step(`${figure.name} on ${engine}, for ${((minutes * share) / whole).toFixed(1)} minutes`);
    const isOver = (): boolean =>
      performance.now() > (until ??= performance.now() + (minutes * 60_000 * share) / whole);
    const report = await runFigure(figure, engine, {
      isOver,
      roundsMax: rounds,
      onStep: (text) => step(`${figure.name} on ${text}`),
    });
    reports.push(report);
    if (isRecorded) record(report, (performance.now() - startedAt) / 60_000);
  }
  say(`\n${formatTable(reports)}`);
  const broken = formatViolations(reports);
  if (broken !== "") say(`\n${broken}`);
  return broken === "";
}

/** At once: who ends a long run keeps what it has found so far. */
function record({ figure: name, engine, counts, violations }: Report, minutes: number): void {
  const figure = figureNumberOf(name);
  if (figure !== undefined)
    recordFigures([{ figure, name, engine, minutes, counts, violations: violations.length }]);
}

/** What was started ends with this process: the service by its pid, PostgreSQL by itself. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

try {
  const asked = readArguments(process.argv.slice(2), known);
  if (asked === undefined) say(help(known));
  else process.exitCode = (await soak(asked)) ? 0 : 1;
} catch (error) {
  process.stderr.write(
    `${error instanceof BadArgument ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = error instanceof BadArgument ? 2 : 1;
}
