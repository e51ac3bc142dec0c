/**
 * The options with which the command `npm start` starts the service. The benchmark starts the service with
 * the same options, because they change its memory and CPU time.
 */
import { readFileSync } from "node:fs";

const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly scripts: { readonly start: string };
};

/** The options of Node, for example `--max-semi-space-size=16`. */
export const startNodeOptions: readonly string[] = scripts.start.match(/(?<=\s)--\S+/g) ?? [];

/** The environment variables of the C library that limit the freed memory which the process keeps. */
export const startMemoryEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  [...scripts.start.matchAll(/(MALLOC_\w+):-(\d+)/g)].map(([, name = "", value = ""]) => [name, value]),
);
