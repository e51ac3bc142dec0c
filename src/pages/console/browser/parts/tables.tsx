/**
 * Components for loaded data: tables with buttons for the older and newer parts of the list, and lists of
 * properties. Also the messages while data is loading, after a failure, and without data.
 */
import type { ComponentChildren, JSX } from "preact";
import type { GraphqlQueryState, CursorPaginationState } from "#pages/console/browser/graph/hooks.ts";
import { FailureBanner } from "./fields.tsx";

export interface DataTableColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** True if the column has numbers. Numbers are aligned to the right. */
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly DataTableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly isNew?: (row: Row) => boolean;
}

export function DataTable<Row>({ caption, columns, rows, keyOf, isNew }: TableProps<Row>): JSX.Element {
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

/** Buttons that show the older or the newer items of a list. */
interface PagerProps {
  readonly pages: CursorPaginationState;
  readonly what: string;
  /** The cursor with which the next items of the list are loaded; undefined after the last item. */
  readonly older: string | undefined;
  /**
   * True if the list shows its oldest item first. The buttons are then named "previous" and "next" instead of
   * "newer" and "older".
   */
  readonly isOldestFirst?: boolean;
}

export function PaginationButtons({
  pages,
  what,
  older,
  isOldestFirst = false,
}: PagerProps): JSX.Element | null {
  if (pages.number === 1 && older === undefined) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <button type="button" class="second" disabled={pages.number === 1} onClick={pages.newer}>
        {isOldestFirst ? "Previous" : "Newer"}
      </button>
      <span>Page {pages.number}</span>
      <button
        type="button"
        class="second"
        disabled={older === undefined}
        onClick={() => older !== undefined && pages.older(older)}
      >
        {isOldestFirst ? "Next" : "Older"}
      </button>
    </nav>
  );
}

/** One row of a list of properties: a name and its value. */
interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

export const DescriptionListRow = ({ name, children }: FactProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/**
 * Shows the result of a GraphQL query. Shows a message instead while the data is loading, if loading failed,
 * or if there is no data.
 */
interface LoadedProps<Result> {
  readonly query: GraphqlQueryState<Result>;
  /** The name of the loaded data, for example “API keys”. */
  readonly what: string;
  readonly children: (data: Result) => ComponentChildren;
}

export function QueryResultOrLoadingNote<Result>({
  query,
  what,
  children,
}: LoadedProps<Result>): JSX.Element {
  const { data, failure, isLoading, reload } = query;
  return (
    <div class="loaded" aria-busy={isLoading}>
      <FailureBanner failure={failure} onRetry={reload} />
      {data !== undefined ? (
        children(data)
      ) : failure === undefined ? (
        <p class="soft waiting">Loading {what} …</p>
      ) : null}
    </div>
  );
}

export const EmptyListNote = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <p class="empty">{children}</p>
);
