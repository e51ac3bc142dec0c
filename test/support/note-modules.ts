/**
 * Loaded by `--import`: appends the URL of every module that the process loads to the file that NOTED_MODULES
 * names.
 */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

const file = process.env["NOTED_MODULES"] ?? "";

registerHooks({
  load: (url, context, next) => {
    appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
