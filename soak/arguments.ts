/** Parses the arguments of `npm run soak`. */
import { parseArgs } from "node:util";

export interface Arguments {
  readonly minutes: number;
  readonly only: readonly string[];
  /** The database engine to test on; undefined to run each test on all engines that it supports. */
  readonly engine: (typeof engines)[number] | undefined;
  /**
   * The maximum number of rounds of `oauth`, `contract`, `unchanged`, `serializability`, `simulation` and
   * `planted-faults`; Infinity without `--rounds`.
   */
  readonly rounds: number;
  /** The first seed of `simulation`. */
  readonly firstSeed: number;
  /** True to write the results to docs/figures.json. */
  readonly isRecorded: boolean;
}

export class InvalidArgument extends Error {}

const engines = ["pglite", "postgres"] as const;

export const help = (
  known: readonly string[],
): string => `Usage: npm run soak -- --minutes N [--only LIST] [--engine NAME] [--rounds N] [--seed S] [--record]

Kills the service, repeats requests and changes the same carts concurrently, on both engines, for N minutes in total.
Exits with 1 if a test finds a violation.

  --minutes N   total duration of the load, shared by the tests
  --only LIST   runs only these tests, of: ${known.join(",")}
  --engine NAME runs the tests on one engine, pglite or postgres
  --rounds N    ends oauth after N codes, contract after N requests, unchanged after N reads,
                serializability after N operations, simulation after N seeds and each fault of
                planted-faults after N seeds, if they do not end before
  --seed S      the first seed of simulation, 1 by default
  --record      writes the results to docs/figures.json, from which "npm run generate" writes docs/figures.md.
                The results of simulation are added to the recorded ones if S is the seed after the last
                recorded one
  --help        prints this text
`;

const minutesMax = 7 * 24 * 60;

/** Parses the arguments; returns undefined if help is requested. Throws InvalidArgument. */
export function readArguments(args: readonly string[], known: readonly string[]): Arguments | undefined {
  const { values } = parse(args);
  if (values.help === true) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= minutesMax))
    throw new InvalidArgument(`--minutes must be a number above 0 and up to ${minutesMax}.`);
  const rounds = values.rounds === undefined ? Infinity : Number(values.rounds);
  if (!(rounds > 0)) throw new InvalidArgument("--rounds must be a number above 0.");
  const only = values.only?.split(",") ?? known;
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
    firstSeed: readFirstSeed(values.seed),
    isRecorded: values.record === true,
  };
}

function readFirstSeed(seed = "1"): number {
  const firstSeed = Number(seed);
  if (!Number.isSafeInteger(firstSeed)) throw new InvalidArgument("--seed must be an integer.");
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
    help: { type: "boolean" },
  },
} as const;
