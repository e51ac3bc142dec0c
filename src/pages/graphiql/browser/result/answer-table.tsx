/** Shows a list of a GraphQL answer as a table. The reader can copy the list or save it as CSV. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { GraphqlAnswerTableCell, ListInGraphqlAnswer } from "./answer-lists.ts";
import { getAnswerCsvFileName, formatAnswerListAsCsv } from "./csv-file.ts";

/** The maximum number of rows that the table shows. The CSV file contains all rows of the answer. */
const rowsMax = 500;
const wholeNumber = new Intl.NumberFormat("en");

interface ListViewProps {
  readonly lists: readonly ListInGraphqlAnswer[];
  /**
   * Returns the name of the GraphQL type of a list's items and the URL of this type in the type map;
   * undefined if the type cannot be found.
   */
  readonly typeOf: (list: ListInGraphqlAnswer) => { readonly name: string; readonly url: string } | undefined;
}

export function GraphqlAnswerListTable({ lists, typeOf }: ListViewProps): JSX.Element {
  const [path, setPath] = useState("");
  const list = lists.find((one) => one.path === path) ?? lists[0];
  if (list === undefined)
    return (
      <p class="empty">
        This answer has no list, so it cannot be shown as a table. Query a list such as <code>orders</code>,
        or choose an example.
      </p>
    );
  const type = typeOf(list);
  return (
    <>
      <div class="list-choice">
        <label for="answer-list">List</label>
        <select
          id="answer-list"
          value={list.path}
          onChange={({ currentTarget }) => setPath(currentTarget.value)}
        >
          {lists.map((one) => (
            <option key={one.path} value={one.path}>
              {one.path} ({rowCountOf(one.rows.length)})
            </option>
          ))}
        </select>
        <CsvButtons key={list.path} list={list} />
      </div>
      <p class="soft">
        {countsOf(list)}
        {type === undefined ? null : (
          <>
            {" "}
            Each row is of the type{" "}
            <a href={type.url} target="_blank" rel="opener">
              {type.name}
            </a>
            .
          </>
        )}
      </p>
      {list.rows.length === 0 ? <p class="empty">The list has no items.</p> : <Table list={list} />}
    </>
  );
}

const rowCountOf = (count: number): string => (count === 1 ? "1 row" : `${wholeNumber.format(count)} rows`);

function countsOf({ rows, totalCount }: ListInGraphqlAnswer): string {
  const counts =
    totalCount !== null && totalCount > rows.length
      ? `${rowCountOf(rows.length)} of ${wholeNumber.format(totalCount)}. For more rows, raise first or last.`
      : `${rowCountOf(rows.length)}.`;
  return rows.length > rowsMax ? `${counts} The table shows the first ${rowsMax}, the CSV all.` : counts;
}

function CsvButtons({ list }: { readonly list: ListInGraphqlAnswer }): JSX.Element {
  const [note, setNote] = useState("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(formatAnswerListAsCsv(list));
      setNote(`Copied ${rowCountOf(list.rows.length)}.`);
    } catch {
      // The copy has failed. Browsers do not allow copying to the clipboard on pages without https.
      setNote("The browser did not allow copying. Download the CSV instead.");
    }
  };
  return (
    <>
      <button type="button" class="small" onClick={() => saveCsv(list)}>
        Download CSV
      </button>
      <button type="button" class="small second" onClick={() => void copy()}>
        Copy CSV
      </button>
      <span class="soft" role="status">
        {note}
      </span>
    </>
  );
}

/** Saves a list of a GraphQL answer as a CSV file on the reader's device. */
function saveCsv(list: ListInGraphqlAnswer): void {
  const url = URL.createObjectURL(
    new Blob([formatAnswerListAsCsv(list)], { type: "text/csv;charset=utf-8" }),
  );
  const link = document.createElement("a");
  link.href = url;
  link.download = getAnswerCsvFileName(list);
  link.click();
  // The memory of the file is released (`revokeObjectURL`) a moment later, because the browser must first
  // have started to read the file.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

function Table({ list: { path, columns, rows } }: { readonly list: ListInGraphqlAnswer }): JSX.Element {
  return (
    // The element around the table can get the keyboard focus, so that the table can be scrolled with the
    // keyboard.
    <div class="table-scroll" tabIndex={0} role="region" aria-label={`Table of ${path}`}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, rowsMax).map((row, index) => (
            // The row's index is used as its Preact key, because rows have no id and never change their
            // order.
            <tr key={`${index}`}>
              {columns.map((column) => (
                <Cell key={column} cell={row[column] ?? null} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ cell }: { readonly cell: GraphqlAnswerTableCell }): JSX.Element {
  if (typeof cell === "number") return <td class="number">{cell}</td>;
  const text = cell === null ? "" : String(cell);
  return <td title={text.length > 30 ? text : undefined}>{text}</td>;
}
