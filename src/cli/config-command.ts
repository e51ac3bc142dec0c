/** `config`: the settings in force. */
import { shownSettings } from "#app/settings.ts";
import { printResult } from "./output.ts";

export function showConfig(isJson: boolean): void {
  printResult(shownSettings(process.env), isJson);
}
