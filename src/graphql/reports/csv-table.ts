/** Writes tables as CSV (RFC 4180), and adds amounts in major units to rows with amounts in minor units. */
import { getCurrencyExponent } from "#foundation/money.ts";

/**
 * A decimal number as text. It is written to the CSV file unchanged, because converting it to a JavaScript
 * number could round it.
 */
interface DecimalCell {
  readonly decimal: string;
}

export type CsvReportCell = string | number | boolean | null | DecimalCell;

/** One row of a CSV table: the cells, by the name of their column. */
export type CsvReportRow = Readonly<Record<string, CsvReportCell>>;

const minorSuffix = /Minor$/;

/**
 * Returns the names of the columns that are added to a table with amounts in minor units. `exponent` is the
 * number of decimal digits of the row's currency. Each column whose name ends with `Minor` also gets a column
 * in major units. Empty for a table without amounts.
 */
export function getMajorUnitAmountColumns(columns: readonly string[]): readonly string[] {
  const amounts = columns.filter((column) => minorSuffix.test(column));
  return amounts.length === 0 ? [] : ["exponent", ...amounts.map((name) => name.replace(minorSuffix, ""))];
}

/** Adds the amounts in major units to a row, as cells of the columns that `getMajorUnitAmountColumns` returns. */
export function addMajorUnitAmountCells(row: CsvReportRow): CsvReportRow {
  const currency = row["currency"];
  if (typeof currency !== "string") return row;
  const exponent = getCurrencyExponent(currency);
  const amounts = Object.entries(row).flatMap(([name, cell]) =>
    minorSuffix.test(name)
      ? [
          [
            name.replace(minorSuffix, ""),
            typeof cell === "number" ? toMajorAmount(cell, exponent) : null,
          ] as const,
        ]
      : [],
  );
  return { ...row, exponent, ...Object.fromEntries(amounts) };
}

/** Converts an amount in minor units to major units, for example 12345 with two decimal digits to 123.45. */
function toMajorAmount(amountMinor: number, exponent: number): DecimalCell {
  const digits = String(Math.abs(amountMinor)).padStart(exponent + 1, "0");
  const [whole, fraction] = [
    digits.slice(0, digits.length - exponent),
    digits.slice(digits.length - exponent),
  ];
  return { decimal: `${amountMinor < 0 ? "-" : ""}${whole}${exponent === 0 ? "" : "."}${fraction}` };
}

/**
 * The characters that make a spreadsheet run a cell as a formula if the cell begins with one of them. The
 * list includes their full-width forms.
 */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
const special = /[",\r\n]/;

/** Writes rows as CSV (RFC 4180). Texts that a spreadsheet would run as a formula are escaped. */
export function formatCsvReport(columns: readonly string[], rows: readonly CsvReportRow[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return lines.map((cells) => `${cells.map(toField).join(",")}\r\n`).join("");
}

/**
 * Writes one cell of a CSV row; null becomes an empty cell. Numbers are not escaped, even if they begin with
 * a minus sign, because they come from this service and not from a buyer.
 */
function toField(cell: CsvReportCell): string {
  if (cell === null) return "";
  if (typeof cell === "object") return cell.decimal;
  if (typeof cell !== "string") return String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
