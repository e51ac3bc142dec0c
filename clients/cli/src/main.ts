#!/usr/bin/env node
/**
 * The program `commerce` of the package. In the repository of the service, `npm run commerce` has the same
 * commands beside those for operators. Exit codes: 0 on success, 1 if the command failed, 2 if its arguments
 * are wrong.
 */
import { Command, CommanderError } from "commander";
import { addIntegratorCommands } from "./commands.ts";
import { readOwnVersion } from "./doctor.ts";

const program = new Command("commerce")
  .description("The command line of the Commerce Gateway for integrators.")
  .version(readOwnVersion())
  .exitOverride();
addIntegratorCommands(program);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
