/** Adds the commands for integrators to a program. */
import type { Command } from "commander";
import { addListenCommands } from "./listen-commands.ts";

export function addIntegratorCommands(program: Command): void {
  addListenCommands(program);
}
