/**
 * The table of results in README.md of this folder. `--table FILE` replaces its rows of the scenarios and
 * servers that were measured, so that a comparison can be measured in several runs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { alignMarkdownTable } from "./report.ts";

/** The comments around the table. */
const [start, end] = ["<!-- results:start -->", "<!-- results:end -->"];

interface NameOrder {
  readonly scenarios: readonly string[];
  readonly servers: readonly string[];
}

/**
 * Returns the document with the measured rows in its table. The first line of `measured` has the titles. A
 * row replaces the row with the same scenario and server, which are its first two cells; other rows stay.
 */
export function updateResultTable(
  document: string,
  [titles = [], ...measured]: readonly (readonly string[])[],
  { scenarios, servers }: NameOrder,
): string {
  const [startsAt, endsAt] = [document.indexOf(start), document.indexOf(end)];
  if (startsAt === -1 || endsAt < startsAt) throw new Error(`The table needs the lines ${start} and ${end}.`);
  const [oldTitles = titles, , ...old] = document
    .slice(startsAt + start.length, endsAt)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  if (oldTitles.join("|") !== titles.join("|"))
    throw new Error(`The table must have the columns ${titles.join(", ")}, not ${oldTitles.join(", ")}.`);
  const nameOf = ([scenario = "", server = ""]: readonly string[]): string => `${scenario}/${server}`;
  const rows = new Map([...old, ...measured].map((row) => [nameOf(row), row]));
  const sorted = scenarios.flatMap((scenario) =>
    servers.flatMap((server) => {
      const row = rows.get(`${scenario}/${server}`);
      return row === undefined ? [] : [row];
    }),
  );
  const table = alignMarkdownTable([titles, ...sorted]);
  return `${document.slice(0, startsAt)}${start}\n\n${table}\n\n${document.slice(endsAt)}`;
}

export function updateResultTableFile(
  path: string,
  lines: readonly (readonly string[])[],
  order: NameOrder,
): void {
  writeFileSync(path, updateResultTable(readFileSync(path, "utf8"), lines, order));
}
