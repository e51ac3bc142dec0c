/**
 * Starts the command line. Enables Node's compile cache before other modules are loaded, so the next start is
 * several times faster. Without write access to the cache folder, the cache is not used; NODE_COMPILE_CACHE
 * can name another folder.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// The service uses about 80 MB of heap. Without this limit, V8 lets the heap grow to four times that size
// before it collects garbage.
setFlagsFromString("--heap-growing-percent=40");
// One thread collects new objects. By default, V8 uses several threads for this, also in a process that may use
// only one core. With one thread, requests to `/graphql` took 7 % less CPU time (bench/README.md).
setFlagsFromString("--no-parallel-scavenge");
// The compile cache is not in the shared temporary folder of the machine, because other users could put code
// there.
const folder = fileURLToPath(new URL("../node_modules/.cache/node", import.meta.url));
enableCompileCache(folder);
// With this environment variable, Node enables the compile cache in child processes before it loads their
// first file.
process.env["NODE_COMPILE_CACHE"] ??= folder;
const { runCommandLine } = await import("#cli/run.ts");
await runCommandLine(process.argv);
