/** Rows as RFC 4180 writes them, fit to be opened by a spreadsheet: no text of somebody else's becomes a formula there. */

export type Cell = string | number | boolean | null;

/** What spreadsheets take for the beginning of a formula, in full width too. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
const special = /[",\r\n]/;

export function toCsv(columns: readonly string[], rows: readonly Readonly<Record<string, Cell>>[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return lines.map((cells) => `${cells.map(toField).join(",")}\r\n`).join("");
}

/** Of nothing nothing is written. Numbers are ours, and may begin with a minus. */
function toField(cell: Cell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
