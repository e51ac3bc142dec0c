/** The command's arguments. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Arguments {
  readonly isQuick: boolean;
  readonly only: readonly string[];
  readonly servers: readonly string[];
  readonly jsonPath: string | undefined;
  readonly products: number;
  readonly profileFolder: string | undefined;
}

export interface Known {
  readonly scenarios: readonly string[];
  readonly servers: readonly string[];
}

export class BadArgument extends Error {}

export const help = ({ scenarios, servers }: Known): string => `Usage: npm run bench -- [options]

Compares the servers on a throw-away PostgreSQL. The first server, the yardstick, always runs.

  --quick           2 short rounds and 2000 products: for a first look, not for figures to keep
  --only LIST       scenarios, of: ${scenarios.join(",")}
  --servers LIST    servers, of: ${servers.join(",")}
  --products N      generated products beside the demo's (10000; with --quick 2000)
  --json FILE       writes the figures there as well
  --profile FOLDER  writes a CPU profile of each server there (the figures are then no good)
  --help            this text
`;

const productsMax = 1_000_000;

/** Undefined: help is wanted. */
export function readArguments(args: readonly string[], known: Known): Arguments | undefined {
  const { values } = parse(args);
  if (values.help === true) return undefined;
  const isQuick = values.quick === true;
  const products = values.products === undefined ? (isQuick ? 2000 : 10_000) : Number(values.products);
  if (!Number.isInteger(products) || products < 0 || products > productsMax)
    throw new BadArgument(`--products must be a whole number from 0 to ${productsMax}.`);
  return {
    isQuick,
    only: choose(values.only, known.scenarios, "--only"),
    servers: choose(values.servers, known.servers, "--servers"),
    jsonPath: values.json === undefined ? undefined : resolve(values.json),
    products,
    profileFolder: values.profile === undefined ? undefined : resolve(values.profile),
  };
}

interface Values {
  readonly quick?: boolean | undefined;
  readonly help?: boolean | undefined;
  readonly only?: string | undefined;
  readonly servers?: string | undefined;
  readonly products?: string | undefined;
  readonly json?: string | undefined;
  readonly profile?: string | undefined;
}

function parse(args: readonly string[]): { readonly values: Values } {
  const [text, flag] = [{ type: "string" }, { type: "boolean" }] as const;
  try {
    return parseArgs({
      args: [...args],
      options: { quick: flag, help: flag, only: text, servers: text, products: text, json: text, profile: text },
    });
  } catch (error) {
    throw new BadArgument(error instanceof Error ? error.message : String(error));
  }
}

function choose(list: string | undefined, all: readonly string[], name: string): readonly string[] {
  if (list === undefined) return all;
  const asked = list.split(",").map((item) => item.trim());
  const unknown = asked.filter((item) => !all.includes(item));
  if (unknown.length > 0) throw new BadArgument(`${name}: ${unknown.join(", ")} is not one of ${all.join(", ")}.`);
  return all.filter((item) => asked.includes(item));
}
