/** The command's arguments. */
import { parseArgs } from "node:util";

export interface Arguments {
  readonly minutes: number;
  readonly only: readonly string[];
}

export class BadArgument extends Error {}

export const help = (known: readonly string[]): string => `Usage: npm run soak -- --minutes N [--only LIST]

Kills the service, sends everything twice and changes the same carts from all sides, on both engines, for N minutes together.
Ends with 1 when a promise was broken.

  --minutes N   how long, shared out among the figures
  --only LIST   figures, of: ${known.join(",")}
  --help        this text
`;

const minutesMax = 7 * 24 * 60;

/** Undefined: help is wanted. */
export function readArguments(args: readonly string[], known: readonly string[]): Arguments | undefined {
  const { values } = parse(args);
  if (values.help === true) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= minutesMax)) throw new BadArgument(`--minutes must be a number up to ${minutesMax}.`);
  const only = values.only?.split(",") ?? known;
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new BadArgument(`--only: there is no ${unknown}; there are ${known.join(", ")}.`);
  return { minutes, only };
}

function parse(args: readonly string[]): ReturnType<typeof parseArgs<typeof config>> {
  try {
    return parseArgs({ ...config, args: [...args] });
  } catch (error) {
    throw new BadArgument(error instanceof Error ? error.message : String(error));
  }
}

const config = { options: { minutes: { type: "string" }, only: { type: "string" }, help: { type: "boolean" } } } as const;
