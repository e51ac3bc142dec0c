/** Parses the arguments of `npm run bench`. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { DataCounts } from "./database.ts";

export interface Arguments {
  readonly isQuick: boolean;
  readonly mode: Mode;
  readonly only: readonly string[];
  readonly servers: readonly string[];
  readonly jsonPath: string | undefined;
  /** The Markdown file whose table of results is updated. */
  readonly tablePath: string | undefined;
  /** The given options that change what is measured, for example `--quick`. */
  readonly conditions: readonly string[];
  readonly counts: DataCounts;
  /**
   * The number of requests per second while latencies are measured; undefined to use half of the slowest
   * server's throughput.
   */
  readonly rate: number | undefined;
  readonly profileFolder: string | undefined;
}

export type Mode =
  | { readonly name: "compare" }
  /** Measures reads at several data sizes. A size is the number of products, of carts and of orders. */
  | { readonly name: "growth"; readonly sizes: readonly number[] }
  /** Measures searches at several numbers of products. */
  | { readonly name: "searches"; readonly sizes: readonly number[] }
  /** Measures changes of products with and without the notices that drop cached answers. */
  | { readonly name: "notices" };

export interface ArgumentChoices {
  readonly scenarios: readonly string[];
  readonly servers: readonly string[];
}

export class InvalidArgument extends Error {}

export const help = ({ scenarios, servers }: ArgumentChoices): string => `Usage: npm run bench -- [options]

Compares the servers on a temporary PostgreSQL. The first server, the yardstick, always runs.

  --quick           2 short rounds and 2000 products: for a first impression, too short for reliable values
  --only LIST       runs only these scenarios, of: ${scenarios.join(",")}
  --servers LIST    runs only these servers, of: ${servers.join(",")}
  --products N      generated products beside the demo's (10000; with --quick 2000)
  --carts N         generated carts (1000)
  --orders N        generated orders (1000)
  --rate N          requests per second during the latency measurement (half of the slowest server's throughput)
  --json FILE       also writes the values to this file
  --table FILE      also replaces the measured rows in the table of results of this Markdown file
  --profile FOLDER  writes a CPU profile of each server to this folder (profiling makes the values unusable)
  --help            prints this text

Instead of the comparison:

  --growth          measures the cost of each read on yardstick and ours with 10000 and 100000 products, carts
                    and orders, and draws bench/growth.svg
  --searches        measures plain, corrected and relaxed searches with 10000 and 100000 products, the size of the
                    index and the time to index products
  --notices         measures how much slower changes of products are because of the notices to the caches
  --million         also measures with 1000000: with --growth for hours, with --searches with copied products
`;

const countMax = 1_000_000;

/** Parses the arguments; returns undefined if help is requested. Throws InvalidArgument. */
export function readArguments(args: readonly string[], known: ArgumentChoices): Arguments | undefined {
  const values = parse(args);
  if (values.help === true) return undefined;
  const isQuick = values.quick === true;
  const mode = readMode(values, isQuick);
  return {
    isQuick,
    mode,
    only: selectNames(values.only, known.scenarios, "--only"),
    servers: selectNames(values.servers, known.servers, "--servers"),
    jsonPath: values.json === undefined ? undefined : resolve(values.json),
    tablePath: values.table === undefined ? undefined : resolve(values.table),
    conditions: listConditions(values),
    counts: {
      products: readCount("--products", values.products, isQuick ? 2000 : 10_000),
      carts: readCount("--carts", values.carts, 1000),
      orders: readCount("--orders", values.orders, 1000),
    },
    rate: values.rate === undefined ? undefined : Math.max(1, readCount("--rate", values.rate, 1)),
    profileFolder: values.profile === undefined ? undefined : resolve(values.profile),
  };
}

const [text, flag] = [{ type: "string" }, { type: "boolean" }] as const;
const options = {
  quick: flag,
  help: flag,
  growth: flag,
  searches: flag,
  notices: flag,
  million: flag,
  only: text,
  servers: text,
  products: text,
  carts: text,
  orders: text,
  rate: text,
  json: text,
  table: text,
  profile: text,
} as const;

type Values = {
  readonly [Name in keyof typeof options]?: (typeof options)[Name] extends typeof text ? string : boolean;
};

function parse(args: readonly string[]): Values {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new InvalidArgument(error instanceof Error ? error.message : String(error));
  }
}

function listConditions(values: Values): string[] {
  const { quick, products, carts, orders, rate } = values;
  return Object.entries({ quick, products, carts, orders, rate }).flatMap(([name, value]) =>
    value === undefined ? [] : value === true ? `--${name}` : `--${name} ${value}`,
  );
}

function readMode({ growth, searches, notices, million }: Values, isQuick: boolean): Mode {
  if ([growth, searches, notices].filter((isSet) => isSet === true).length > 1)
    throw new InvalidArgument("--growth, --searches and --notices exclude each other.");
  if (growth === true || searches === true) {
    const sizes = isQuick ? [2000, 6000] : [10_000, 100_000];
    return {
      name: growth === true ? "growth" : "searches",
      sizes: million === true ? [...sizes, 1_000_000] : sizes,
    };
  }
  if (million === true) throw new InvalidArgument("--million needs --growth or --searches.");
  return { name: notices === true ? "notices" : "compare" };
}

function readCount(name: string, value: string | undefined, fallback: number): number {
  const count = value === undefined ? fallback : Number(value);
  if (!Number.isInteger(count) || count < 0 || count > countMax)
    throw new InvalidArgument(`${name} must be an integer from 0 to ${countMax}.`);
  return count;
}

function selectNames(list: string | undefined, all: readonly string[], name: string): readonly string[] {
  if (list === undefined) return all;
  const requested = list.split(",").map((item) => item.trim());
  const unknown = requested.filter((item) => !all.includes(item));
  if (unknown.length > 0)
    throw new InvalidArgument(`${name} must list values of ${all.join(", ")}, not ${unknown.join(", ")}.`);
  return all.filter((item) => requested.includes(item));
}
