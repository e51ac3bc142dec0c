/**
 * Starts the command line. What is compiled of the modules is kept beside them, before any other is loaded:
 * the next start takes a fraction of the time. Where that folder cannot be written, or NODE_COMPILE_CACHE
 * names another one, so be it.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// What is in use is some 80 MB; left to itself, the heap would grow to four times that before it is looked
// through.
setFlagsFromString("--heap-growing-percent=40");
// Not in the common temporary folder: whoever can write there would decide what code runs here.
const folder = fileURLToPath(new URL("../node_modules/.cache/node", import.meta.url));
enableCompileCache(folder);
// For the processes that this one starts: they then need not even what translates this file.
process.env["NODE_COMPILE_CACHE"] ??= folder;
const { runCommandLine } = await import("#cli/run.ts");
await runCommandLine(process.argv);
