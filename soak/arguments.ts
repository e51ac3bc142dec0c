/** The command's arguments. */
import { parseArgs } from "node:util";

export interface Arguments {
  readonly minutes: number;
  readonly only: readonly string[];
  /** Undefined: each figure on all of its engines. */
  readonly engine: (typeof engines)[number] | undefined;
  /** Infinity where nothing is said of it. */
  readonly rounds: number;
  /** Whether docs/figures.json gets what was found. */
  readonly isRecorded: boolean;
}

export class BadArgument extends Error {}

const engines = ["pglite", "postgres"] as const;

export const help = (
  known: readonly string[],
): string => `Usage: npm run soak -- --minutes N [--only LIST] [--engine NAME] [--rounds N] [--record]

Kills the service, sends everything twice and changes the same carts from all sides, on both engines, for N minutes together.
Ends with 1 when a promise was broken.

  --minutes N   how long, shared out among the figures
  --only LIST   figures, of: ${known.join(",")}
  --engine NAME pglite or postgres: figures on this engine alone
  --rounds N    of oauth its codes, of contract its requests: the end on each engine, should it come before the time is over
  --record      writes what was found into docs/figures.json, which docs/figures.md is made of (npm run generate)
  --help        this text
`;

const minutesMax = 7 * 24 * 60;

/** Undefined: help is wanted. */
export function readArguments(args: readonly string[], known: readonly string[]): Arguments | undefined {
  const { values } = parse(args);
  if (values.help === true) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= minutesMax))
    throw new BadArgument(`--minutes must be a number up to ${minutesMax}.`);
  const rounds = values.rounds === undefined ? Infinity : Number(values.rounds);
  if (!(rounds > 0)) throw new BadArgument("--rounds must be a number above 0.");
  const only = values.only?.split(",") ?? known;
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new BadArgument(`--only: there is no ${unknown}; there are ${known.join(", ")}.`);
  const engine = engines.find((name) => name === values.engine);
  if (values.engine !== undefined && engine === undefined)
    throw new BadArgument(`--engine: there is no ${values.engine}; there are ${engines.join(", ")}.`);
  return { minutes, only, engine, rounds, isRecorded: values.record === true };
}

function parse(args: readonly string[]): ReturnType<typeof parseArgs<typeof config>> {
  try {
    return parseArgs({ ...config, args: [...args] });
  } catch (error) {
    throw new BadArgument(error instanceof Error ? error.message : String(error));
  }
}

const config = {
  options: {
    minutes: { type: "string" },
    only: { type: "string" },
    engine: { type: "string" },
    rounds: { type: "string" },
    record: { type: "boolean" },
    help: { type: "boolean" },
  },
} as const;
