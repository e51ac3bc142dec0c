/** A list as a table; on a phone each row is a card, whose cells carry their titles. Roles are told, since a card's layout would take them away. */
import type { ComponentChildren, JSX } from "preact";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly isNew?: (row: Row) => boolean;
}

export function Table<Row>({ caption, columns, rows, keyOf, isNew }: TableProps<Row>): JSX.Element {
  return (
    <table role="table">
      <caption class="hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" class={isNumber === true ? "number" : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row" class={isNew?.(row) === true ? "new" : undefined}>
            {columns.map(({ title, cell, isNumber }) => (
              <td key={title} role="cell" data-title={title} class={isNumber === true ? "number" : undefined}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
