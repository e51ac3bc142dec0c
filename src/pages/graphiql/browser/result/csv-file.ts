/** Writes the rows of a list in a GraphQL answer as CSV (RFC 4180), and creates the name of the CSV file. */
import type { GraphqlAnswerTableCell, ListInGraphqlAnswer } from "./answer-lists.ts";

/**
 * Characters, also in their full-width forms, that make a spreadsheet program read a cell as a formula if the
 * cell begins with them.
 */
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/;
const needsQuotes = /[",\r\n]/;

export function formatAnswerListAsCsv({
  columns,
  rows,
}: Pick<ListInGraphqlAnswer, "columns" | "rows">): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return lines.map((cells) => `${cells.map(csvField).join(",")}\r\n`).join("");
}

/**
 * Writes one field of a CSV row. A text that a spreadsheet would run as a formula gets an apostrophe before
 * it.
 */
function csvField(cell: GraphqlAnswerTableCell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const text = formulaStart.test(cell) ? `'${cell}` : cell;
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the name of the CSV file for a list, for example `orders-lines-2026-01-31.csv`. */
export const getAnswerCsvFileName = ({ path }: Pick<ListInGraphqlAnswer, "path">, now = new Date()): string =>
  `${path.replaceAll(/[^\w]+/g, "-")}-${now.toISOString().slice(0, 10)}.csv`;
