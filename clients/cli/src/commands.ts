/** Adds the commands for integrators to a program. */
import type { Command } from "commander";
import { addDeliveryCommands } from "./deliveries.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addListenCommands } from "./listen-commands.ts";
import { addAccountCommands } from "./login.ts";
import { addTriggerCommand } from "./trigger.ts";

export function addIntegratorCommands(program: Command): void {
  addAccountCommands(program);
  addListenCommands(program);
  addTriggerCommand(program);
  addDeliveryCommands(program);
  addDoctorCommand(program);
  // Commander throws instead of ending the process, so that the program sets the exit code.
  for (const command of program.commands)
    for (const one of [command, ...command.commands]) one.exitOverride();
}
