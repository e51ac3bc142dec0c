/**
 * Prints the results of commands to standard output: as readable lines, or as one JSON value with the option
 * `--json`.
 */
import { type CommandOutputStreamName, getCliCommandEnvironment } from "./command-session.ts";

export const printLine = (line: string): void => writeCliOutputText("stdout", `${line}\n`);
export const printErrorLine = (line: string): void => writeCliOutputText("stderr", `${line}\n`);

/**
 * Starts to write a text and does not wait for the end of the write. A write error is ignored, because it
 * means that the program that reads the output has ended.
 */
export function writeCliOutputText(stream: CommandOutputStreamName, text: string): void {
  getCliCommandEnvironment()
    .write(stream, text)
    .catch(() => undefined);
}

type Row = Readonly<Record<string, unknown>>;

export function printCommandResult(result: Row | readonly Row[], isJson: boolean): void {
  if (isJson) {
    printLine(JSON.stringify(result, null, 2));
    return;
  }
  const rows = isList(result) ? result : [result];
  if (rows.length === 0) printLine("No results.");
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) printLine(`${name.padEnd(16)} ${format(value)}`);
    if (rows.length > 1) printLine("");
  }
}

const isList = (result: Row | readonly Row[]): result is readonly Row[] => Array.isArray(result);

function format(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(", ");
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
