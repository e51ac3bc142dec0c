import { addDeliveryCommands } from "./deliveries.js";
import { addDoctorCommand } from "./doctor.js";
import { addListenCommands } from "./listen-commands.js";
import { addAccountCommands } from "./login.js";
import { addTriggerCommand } from "./trigger.js";
export function addIntegratorCommands(program) {
  addAccountCommands(program);
  addListenCommands(program);
  addTriggerCommand(program);
  addDeliveryCommands(program);
  addDoctorCommand(program);
  // Commander throws instead of ending the process, so that the program sets the exit code.
  for (const command of program.commands)
    for (const one of [command, ...command.commands]) one.exitOverride();
}
