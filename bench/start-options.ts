/**
 * The options with which the command `npm start` starts the service. The benchmark starts the service with
 * the same options, because they change its memory and CPU time.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly scripts: { readonly start: string };
};

/** The options of Node, for example `--max-semi-space-size=16`. */
export const startNodeOptions: readonly string[] = scripts.start.match(/(?<=\s)--\S+/g) ?? [];

/**
 * The environment variables that save memory: those of the C library limit the freed memory which the process
 * keeps. With a compile cache from the start, Node does not load its TypeScript compiler, which needs 20 MB.
 */
export const startMemoryEnvironment: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...scripts.start.matchAll(/(MALLOC_\w+):-(\d+)/g)].map(([, name = "", value = ""]) => [name, value]),
  ),
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/node", import.meta.url)),
};
