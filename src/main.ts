/** The command line: `npm run commerce -- COMMAND`. Exit code 0: done, 1: it failed, 2: the command was not understood. */
import { CommanderError } from "commander";
import { createProgram } from "#cli/program.ts";
import { explain } from "#cli/explain.ts";

try {
  const program = await createProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}
