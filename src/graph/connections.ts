/**
 * Lists as Relay connections, in the order of creation unless told otherwise: what every list of the graph is
 * made with.
 */
import { type DefaultConnectionArguments, resolveCursorConnection } from "@pothos/plugin-relay";
import type { SelectQueryBuilder } from "kysely";
import type { Database } from "#database/connect.ts";
import { cappedCount, type Page, pageById } from "#database/sql-fragments.ts";
import { failAt } from "#foundation/failure.ts";
import { builder } from "./builder.ts";

builder.globalConnectionField("totalCount", (t) =>
  t.int({
    description: "How many there are in all, counted up to 10 000. It costs a statement of its own.",
    resolve: ({ totalCount }) => totalCount(),
  }),
);

/** The page size multiplies what is asked of each. */
export const connectionCost = ({
  first,
  last,
}: {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
}): { field: number; multiplier: number } => ({
  field: 1,
  multiplier: Math.max(1, first ?? last ?? pageSizeDefault),
});

/** The names and descriptions of a list's types. */
export const connectionTypeOptions = (
  name: string,
  plural: string,
): [{ name: string; description: string }, { name: string; description: string }] => [
  { name: `${name}Connection`, description: `A page of ${plural}.` },
  { name: `${name}Edge`, description: `A place in a list of ${plural}.` },
];

export const pageSizeMax = 100;
export const pageSizeDefault = 20;

/** What it is paged by; or how a page is found where there is a better way. */
type Paging<Row> =
  | { readonly column: string; readonly isNewestFirst?: boolean }
  | { readonly pageOf: (page: Page) => Promise<readonly Row[]> };

type Listed<Tables, Name extends keyof Tables, Row> = Paging<Row> & {
  readonly db: Database;
  readonly query: SelectQueryBuilder<Tables, Name, Row>;
};

export interface ConnectionResult<Row> {
  readonly edges: { readonly cursor: string; readonly node: Row }[];
  readonly pageInfo: {
    readonly startCursor: string | null;
    readonly endCursor: string | null;
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
  };
  readonly totalCount: () => Promise<number>;
}

/** A page of the query; the count is taken only when somebody asks for it. */
export async function loadConnection<Tables, Name extends keyof Tables, Row extends { readonly id: string }>(
  args: DefaultConnectionArguments,
  { db, query, ...paging }: Listed<Tables, Name, Row>,
): Promise<ConnectionResult<Row>> {
  requirePage(args);
  const found = await loadConnectionPage(args, (page) => pageOf(query, paging, page));
  return { ...found, totalCount: () => cappedCount(query, db) };
}

/** A page of rows, found by the caller's own means, with the cursors of its rows. */
export async function loadConnectionPage<Row extends { readonly id: string }>(
  args: DefaultConnectionArguments,
  load: (page: Page) => Promise<readonly Row[]>,
): Promise<Omit<ConnectionResult<Row>, "totalCount">> {
  const connection = await resolveCursorConnection<Promise<readonly Row[]>>(
    { args, toCursor: (row) => row.id, defaultSize: pageSizeDefault, maxSize: pageSizeMax },
    (part) => load(toPage(part)),
  );
  // Pothos types its edges as nullable, for rows that may be missing; these rows are not.
  const { edges, pageInfo } = connection as unknown as Omit<ConnectionResult<Row>, "totalCount">;
  return { edges, pageInfo };
}

function pageOf<Tables, Name extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Name, Row>,
  paging: Paging<Row>,
  page: Page,
): Promise<readonly Row[]> {
  if ("pageOf" in paging) return paging.pageOf(page);
  return pageById(query, paging.column, paging.isNewestFirst === true ? turned(page) : page).execute();
}

function toPage(part: {
  after?: string | undefined;
  before?: string | undefined;
  limit: number;
  inverted: boolean;
}): Page {
  return { after: part.after, before: part.before, limit: part.limit, isInverted: part.inverted };
}

/** The same page of the list the other way round. */
const turned = ({ after, before, limit, isInverted }: Page): Page => ({
  after: before,
  before: after,
  limit,
  isInverted: !isInverted,
});

function requirePage({ first, last }: DefaultConnectionArguments): void {
  for (const [name, value] of Object.entries({ first, last })) {
    if (typeof value !== "number" || (value >= 0 && value <= pageSizeMax)) continue;
    throw failAt("invalid_field", {
      in: "body",
      field: `/${name}`,
      code: value < 0 ? "too_small" : "too_large",
      message: `${name} must be between 0 and ${pageSizeMax}.`,
    });
  }
}
