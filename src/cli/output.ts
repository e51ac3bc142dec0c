/** Where commands write: results to standard output, as lines for people or as one JSON value with --json. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printResult(result: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[], isJson: boolean): void {
  if (isJson) {
    print(JSON.stringify(result, null, 2));
    return;
  }
  const rows = Array.isArray(result) ? (result as readonly Readonly<Record<string, unknown>>[]) : [result as Readonly<Record<string, unknown>>];
  if (rows.length === 0) print("Nothing.");
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) print(`${name.padEnd(16)} ${format(value)}`);
    if (rows.length > 1) print("");
  }
}

function format(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(", ");
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
