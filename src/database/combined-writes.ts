/**
 * Combines several data-modifying statements of one transaction into one statement: every statement but the
 * last becomes a part of a WITH clause. One statement costs PostgreSQL and the driver less time than
 * several.
 */
import { CompiledQuery } from "kysely";
import type { Tables } from "./tables.ts";

/** A data-modifying statement that a transaction sends later, at the latest with its COMMIT. */
export interface BufferedWriteStatement {
  /**
   * The statement. Its SQL text begins with `insert`, `update` or `delete`, or with a WITH clause. The names
   * in the WITH clause must not begin with `write_`.
   */
  readonly query: CompiledQuery;
  /**
   * The tables that the statement writes. Statements that write the same table are not combined, because the
   * order in which PostgreSQL runs the parts of one statement is not defined.
   */
  readonly tables: readonly (keyof Tables)[];
  /**
   * False if the statement must not be combined, because its SQL text is new each time. A prepared combined
   * statement would then never be used again.
   */
  readonly isCombinable?: boolean;
}

/** Returns the statements to send for the buffered writes, in the order of the writes. */
export function combineBufferedWritesIntoStatements(
  writes: readonly BufferedWriteStatement[],
): readonly CompiledQuery[] {
  const groups: BufferedWriteStatement[][] = [];
  for (const write of writes) {
    const group = groups.at(-1);
    if (group !== undefined && canJoin(group, write)) group.push(write);
    else groups.push([write]);
  }
  return groups.map(combineGroup);
}

function canJoin(group: readonly BufferedWriteStatement[], write: BufferedWriteStatement): boolean {
  const isOtherTable = ({ tables }: BufferedWriteStatement): boolean =>
    !tables.some((table) => write.tables.includes(table));
  return [...group, write].every(({ isCombinable = true }) => isCombinable) && group.every(isOtherTable);
}

/**
 * A node of the tree in which combined SQL texts are cached. `text` is the combined text of all statements on
 * the path to the node. `extendedBy` has the next nodes, by the SQL text of the statement that is added.
 */
interface CombinedText {
  text: string | undefined;
  readonly extendedBy: Map<string, CombinedText>;
}

/**
 * Maximum number of nodes in the cache of combined SQL texts; a cache with more nodes is emptied. The number
 * of different combinations is far lower.
 */
const textsMax = 1000;
let combinedTexts: CombinedText = { text: undefined, extendedBy: new Map() };
let textCount = 0;

/**
 * Finds the cache entry of a combined text. The cache is a tree with a level for each statement. Looking up
 * the texts one by one is much faster than looking up their concatenation, because V8 stores the hash of each
 * text.
 */
function findCombinedText(queries: readonly CompiledQuery[]): CombinedText {
  if (textCount > textsMax) {
    combinedTexts = { text: undefined, extendedBy: new Map() };
    textCount = 0;
  }
  let found = combinedTexts;
  for (const { sql } of queries) {
    let next = found.extendedBy.get(sql);
    if (next === undefined) {
      found.extendedBy.set(sql, (next = { text: undefined, extendedBy: new Map() }));
      textCount += 1;
    }
    found = next;
  }
  return found;
}

function combineGroup(group: readonly BufferedWriteStatement[]): CompiledQuery {
  const queries = group.map(({ query }) => query);
  const [first] = queries;
  if (first !== undefined && queries.length === 1) return first;
  const combined = findCombinedText(queries);
  combined.text ??= combineTexts(queries);
  return CompiledQuery.raw(
    combined.text,
    queries.flatMap(({ parameters }) => parameters),
  );
}

function combineTexts(queries: readonly CompiledQuery[]): string {
  let parametersBefore = 0;
  const parts = queries.map(({ sql, parameters }, index) => {
    const offset = parametersBefore;
    parametersBefore += parameters.length;
    const text = sql.replaceAll(/\$(\d+)/g, (_, number: string) => `$${Number(number) + offset}`);
    // PostgreSQL accepts a data-modifying WITH clause only at the top level of a statement. If a write has
    // its own WITH clause, the parts of this clause therefore become parts of the combined statement.
    const clause = withClausePattern.exec(text)?.groups?.["parts"];
    return clause ?? `write_${index} as (${text})`;
  });
  return `with ${parts.join(", ")} select 1`;
}

/** Matches a statement whose parts all write: a WITH clause with the main query `select 1`. */
const withClausePattern = /^\s*with\s+(?<parts>[\s\S]*\))\s*select 1\s*$/;
