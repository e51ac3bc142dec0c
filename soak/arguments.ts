/** Parses the arguments of `npm run soak`. */
import { parseArgs } from "node:util";
import { addableTests } from "./record.ts";

export interface Arguments {
  readonly minutes: number;
  readonly only: readonly string[];
  /** The database engine to test on; undefined to run each test on all engines that it supports. */
  readonly engine: (typeof engines)[number] | undefined;
  /**
   * The maximum number of rounds of `oauth`, `contract`, `unchanged`, `serializability`, `simulation`,
   * `planted-faults` and `full-suite`; Infinity without `--rounds`.
   */
  readonly rounds: number;
  /** The first seed of `simulation`; undefined without `--seed`. */
  readonly firstSeed: number | undefined;
  /** True to write the results to docs/figures.json. */
  readonly isRecorded: boolean;
  /** True to add the results to the recorded ones. */
  readonly isAdded: boolean;
}

export class InvalidArgument extends Error {}

const engines = ["pglite", "postgres"] as const;

export const help = (
  known: readonly string[],
): string => `Usage: npm run soak -- --minutes N [--only LIST] [--engine NAME] [--rounds N] [--seed S] [--record [--add]]

Kills the service, repeats requests and changes the same carts concurrently, on both engines, for N minutes in total.
Exits with 1 if a test finds a violation.

  --minutes N   total duration of the load, shared by the tests
  --only LIST   runs only these tests, of: ${known.join(",")}.
                full-suite runs only if the list names it
  --engine NAME runs the tests on one engine, pglite or postgres
  --rounds N    ends oauth after N codes, contract after N requests, unchanged after N reads,
                serializability after N operations, simulation after N seeds, each fault of
                planted-faults after N seeds and full-suite after N runs, if they do not end before
  --seed S      the first seed of simulation, 1 by default
  --record      writes the results to docs/figures.json and docs/figures.md
  --add         with --record: adds the results to the recorded ones instead of replacing them; simulation then
                starts with the seed after the last recorded one. Possible for ${addableTests.join(", ")}
  --help        prints this text
`;

const minutesMax = 7 * 24 * 60;

interface SoakTestNames {
  readonly known: readonly string[];
  /** The tests that run without `--only`; all if left out. */
  readonly byDefault?: readonly string[];
}

/** Parses the arguments; returns undefined if help is requested. Throws InvalidArgument. */
export function readArguments(
  args: readonly string[],
  { known, byDefault = known }: SoakTestNames,
): Arguments | undefined {
  const { values } = parse(args);
  if (values.help === true) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= minutesMax))
    throw new InvalidArgument(`--minutes must be a number above 0 and up to ${minutesMax}.`);
  const rounds = values.rounds === undefined ? Infinity : Number(values.rounds);
  if (!(rounds > 0)) throw new InvalidArgument("--rounds must be a number above 0.");
  const only = values.only?.split(",") ?? byDefault;
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new InvalidArgument(`--only must list tests of ${known.join(", ")}, not ${unknown}.`);
  const engine = engines.find((name) => name === values.engine);
  if (values.engine !== undefined && engine === undefined)
    throw new InvalidArgument(`--engine must be one of ${engines.join(", ")}, not ${values.engine}.`);
  return {
    minutes,
    only,
    engine,
    rounds,
    isAdded: readIsAdded(values),
    firstSeed: readFirstSeed(values),
    isRecorded: values.record === true,
  };
}

/** Returns true for `--add`. Throws InvalidArgument if the results cannot be added to the recorded ones. */
function readIsAdded({ add = false, only, record, seed }: ReturnType<typeof parse>["values"]): boolean {
  if (!add) return false;
  if (record !== true) throw new InvalidArgument("--add needs --record.");
  const other = only?.split(",").find((name) => !addableTests.includes(name));
  if (only === undefined || other !== undefined)
    throw new InvalidArgument(
      `--add needs --only with tests of ${addableTests.join(", ")}${other === undefined ? "" : `, not ${other}`}.`,
    );
  if (seed !== undefined) throw new InvalidArgument("--add and --seed exclude each other.");
  return true;
}

function readFirstSeed({ seed, record }: ReturnType<typeof parse>["values"]): number | undefined {
  if (seed === undefined) return undefined;
  const firstSeed = Number(seed);
  if (!Number.isSafeInteger(firstSeed)) throw new InvalidArgument("--seed must be an integer.");
  if (record === true && firstSeed !== 1)
    throw new InvalidArgument("--record needs --seed 1, or --add to continue the recorded seeds.");
  return firstSeed;
}

function parse(args: readonly string[]): ReturnType<typeof parseArgs<typeof config>> {
  try {
    return parseArgs({ ...config, args: [...args] });
  } catch (error) {
    throw new InvalidArgument(error instanceof Error ? error.message : String(error));
  }
}

const config = {
  options: {
    minutes: { type: "string" },
    only: { type: "string" },
    engine: { type: "string" },
    rounds: { type: "string" },
    seed: { type: "string" },
    record: { type: "boolean" },
    add: { type: "boolean" },
    help: { type: "boolean" },
  },
} as const;
