/** The command line: `npm run commerce -- COMMAND`. Exit code 0: done, 1: it failed, 2: the command was not understood. */
import { CommanderError } from "commander";
import { explain } from "./explain.ts";
import { createProgram } from "./program.ts";

export async function run(words: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(words[2]);
    await program.parseAsync(words);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      process.stderr.write(`${explain(error)}\n`);
      process.exit(1);
    }
  }
}
