/**
 * Loads pages of lists as Relay connections. All lists in the GraphQL API use these functions. A list is
 * sorted by creation, unless its query says otherwise.
 */
import { type DefaultConnectionArguments, resolveCursorConnection } from "@pothos/plugin-relay";
import type { SelectQueryBuilder } from "kysely";
import type { Database } from "#database/connect.ts";
import {
  addKeysetPageToQuery,
  countRowsUpToLimit,
  createSortedListCursor,
  type KeysetSortOrder,
  type KeysetPageRequest,
} from "#database/sql-fragments.ts";
import { createFailureWithDetail } from "#foundation/failure.ts";
import { type IdKind, isIdOfKind } from "#foundation/ids.ts";
import { builder } from "./builder.ts";
import { defineGraphqlFieldCostByArguments } from "./field-costs.ts";

builder.globalConnectionField("totalCount", (t) =>
  t.int({
    description:
      "The number of items in the whole list, on all pages; at most 10 000 are counted. Select this " +
      "field only if needed: the service counts with an additional database statement.",
    resolve: ({ totalCount }) => totalCount(),
  }),
);

/**
 * Computes the cost of a list: the cost of the fields that a query selects for each item, multiplied by the
 * page size.
 */
export const computeConnectionCost = defineGraphqlFieldCostByArguments(
  { sizedBy: ["first", "last"], factor: "`first` or `last`" },
  ({
    first,
    last,
  }: {
    readonly first?: number | null | undefined;
    readonly last?: number | null | undefined;
  }) => ({
    field: 1,
    multiplier: Math.max(1, first ?? last ?? pageSizeDefault),
  }),
);

interface ListTypeOptions {
  readonly name: string;
  readonly description: string;
}

interface EdgeTypeOptions extends ListTypeOptions {
  readonly nodeField: { readonly complexity?: number };
}

/**
 * Returns the names and descriptions of a list's GraphQL connection type and edge type. `nodeCost` is the
 * cost in points of one item without its selected fields, 1 by default.
 */
export const createGraphqlConnectionTypeOptions = (
  name: string,
  plural: string,
  nodeCost?: number,
): [ListTypeOptions, EdgeTypeOptions] => [
  { name: `${name}Connection`, description: `One page of a list of ${plural}.` },
  {
    name: `${name}Edge`,
    description: `One item of a list of ${plural}, with its cursor.`,
    nodeField: nodeCost === undefined ? {} : { complexity: nodeCost },
  },
];

/** The largest number of items that one page of a list may have. */
const pageSizeMax = 100;
/** The number of items of a page if a query gives neither `first` nor `last`. */
export const pageSizeDefault = 20;

/**
 * The format of a list's cursors: ids of one kind, or texts that match a pattern. In a list that is sorted by
 * a number, the cursor consists of the number and the id. Cursors in any other format are refused.
 */
export type PaginationCursorFormat = IdKind | RegExp;

/**
 * Options for reading one page of a list. By default, `loadGraphqlConnection` reads the rows in the order of
 * an id column, or of a number column and then an id column. Otherwise, the list's own function `loadPage`
 * reads them.
 */
type Paging<Row> = { readonly cursor: PaginationCursorFormat } & (
  | (KeysetSortOrder & { readonly isDescending?: boolean })
  | { readonly loadPage: (page: KeysetPageRequest) => Promise<readonly Row[]> }
);

/** Matches the cursors of lists that are sorted by a time and then by a numeric id. */
export const timedCursorPattern = /^\d{1,16}:\d{1,18}$/;

const sortedCursorPattern = /^\d{1,16}:(?<id>\w+)$/;

type ListSource<Tables, Name extends keyof Tables, Row> = Paging<Row> & {
  readonly db: Database;
  readonly query: SelectQueryBuilder<Tables, Name, Row>;
};

/** A database row that becomes one item of a list. */
interface ListRow {
  readonly id: string;
  /** The row's value in the column by which the list is sorted; left out if the list is sorted only by id. */
  readonly sortValue?: string | number;
}

/** One page of a list as a Relay connection. `totalCount` counts the items of the whole list. */
export interface GraphqlConnectionPage<Row> {
  readonly edges: { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: {
    readonly startCursor: string | null;
    readonly endCursor: string | null;
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
  };
  readonly totalCount: () => Promise<number>;
}

/**
 * Loads one page of the rows that a query finds. All rows of the query are counted only if the client selects
 * `totalCount`.
 */
export async function loadGraphqlConnection<Tables, Name extends keyof Tables, Row extends ListRow>(
  args: DefaultConnectionArguments,
  { db, query, ...paging }: ListSource<Tables, Name, Row>,
): Promise<GraphqlConnectionPage<Row>> {
  const isSorted = "sortColumn" in paging && paging.sortColumn !== undefined;
  const found = await loadCheckedPage(args, { cursor: paging.cursor, isSorted }, (page) =>
    loadPage(query, paging, page),
  );
  return { ...found, totalCount: () => countRowsUpToLimit(query, db) };
}

/**
 * Loads one page of a list that is sorted by id. The given function reads the rows of the page; this function
 * adds a cursor to each row.
 */
export const loadGraphqlConnectionPage = <Row extends ListRow>(
  args: DefaultConnectionArguments,
  cursor: PaginationCursorFormat,
  load: (page: KeysetPageRequest) => Promise<readonly Row[]>,
): Promise<Omit<GraphqlConnectionPage<Row>, "totalCount">> =>
  loadCheckedPage(args, { cursor, isSorted: false }, load);

interface ListCursors {
  readonly cursor: PaginationCursorFormat;
  /** Returns whether the list is sorted by a number before it is sorted by id. */
  readonly isSorted: boolean;
}

async function loadCheckedPage<Row extends ListRow>(
  args: DefaultConnectionArguments,
  cursors: ListCursors,
  load: (page: KeysetPageRequest) => Promise<readonly Row[]>,
): Promise<Omit<GraphqlConnectionPage<Row>, "totalCount">> {
  requirePageSize(args);
  requireCursors(args, cursors);
  const connection = await resolveCursorConnection<Promise<readonly Row[]>>(
    { args, toCursor, defaultSize: pageSizeDefault, maxSize: pageSizeMax },
    (part) => load(toPage(part)),
  );
  // Pothos's type of a connection allows null edges, for missing rows. The cast is safe, because pages of
  // this file have only existing rows.
  const { edges, pageInfo } = connection as unknown as Omit<GraphqlConnectionPage<Row>, "totalCount">;
  // Replaces the start and end cursor of an empty page by null. Pothos returns the cursors of the request's
  // arguments for an empty page.
  return edges.length === 0
    ? { edges, pageInfo: { ...pageInfo, startCursor: null, endCursor: null } }
    : { edges, pageInfo };
}

const toCursor = ({ id, sortValue }: ListRow): string =>
  sortValue === undefined ? id : createSortedListCursor(sortValue, id);

function loadPage<Tables, Name extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Name, Row>,
  paging: Paging<Row>,
  page: KeysetPageRequest,
): Promise<readonly Row[]> {
  if ("loadPage" in paging) return paging.loadPage(page);
  return addKeysetPageToQuery(
    query,
    paging,
    paging.isDescending === true ? reversePage(page) : page,
  ).execute();
}

function toPage(part: {
  after?: string | undefined;
  before?: string | undefined;
  limit: number;
  inverted: boolean;
}): KeysetPageRequest {
  return { after: part.after, before: part.before, limit: part.limit, isInverted: part.inverted };
}

/**
 * Reverses the direction of a page request: a page of an ascending list becomes the page with the same rows
 * of the descending list.
 */
const reversePage = ({ after, before, limit, isInverted }: KeysetPageRequest): KeysetPageRequest => ({
  after: before,
  before: after,
  limit,
  isInverted: !isInverted,
});

function requirePageSize({ first, last }: DefaultConnectionArguments): void {
  if (typeof first === "number" && typeof last === "number")
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/last",
      code: "not_allowed",
      message: '"last" is not allowed together with "first".',
    });
  for (const [name, value] of Object.entries({ first, last })) {
    if (typeof value !== "number" || (value >= 0 && value <= pageSizeMax)) continue;
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: `/${name}`,
      code: value < 0 ? "too_small" : "too_large",
      message: `"${name}" must be an integer from 0 to ${pageSizeMax}.`,
    });
  }
}

/** Refuses cursors that belong to another list, or to another sort order of the same list. */
function requireCursors({ after, before }: DefaultConnectionArguments, cursors: ListCursors): void {
  for (const [name, value] of Object.entries({ after, before })) {
    if (typeof value !== "string" || isCursorOf(cursors, value)) continue;
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: `/${name}`,
      code: "invalid_format",
      message: `"${name}" must be a cursor of this list in the same order.`,
    });
  }
}

function isCursorOf({ cursor, isSorted }: ListCursors, value: string): boolean {
  if (typeof cursor !== "string") return cursor.test(value);
  return isIdOfKind(cursor, isSorted ? (sortedCursorPattern.exec(value)?.groups?.["id"] ?? "") : value);
}
