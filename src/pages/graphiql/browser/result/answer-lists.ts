/**
 * Finds the lists in a GraphQL answer and converts each to the rows of a table. A list is an array of objects
 * or a connection (a list with cursors). For a list inside another list's item, the first columns repeat the
 * text, number and boolean fields of that item.
 */

export type GraphqlAnswerTableCell = string | number | boolean | null;
export type GraphqlAnswerTableRow = Readonly<Record<string, GraphqlAnswerTableCell>>;

export interface ListInGraphqlAnswer {
  /**
   * The names of the fields that lead from the start of the answer to the list, for example `orders.lines`.
   * The names `edges` and `node` are left out.
   */
  readonly path: string;
  /**
   * The names of the table's columns. The name of a column for a field of a nested object contains a dot, for
   * example `totals.currency`.
   */
  readonly columns: readonly string[];
  readonly rows: readonly GraphqlAnswerTableRow[];
  /**
   * The total number of items that the connection reports (`totalCount`); null if the answer does not have
   * this field.
   */
  readonly totalCount: number | null;
}

type JsonObject = Readonly<Record<string, unknown>>;

interface FoundItems {
  readonly items: readonly JsonObject[];
  readonly totalCount: number | null;
  readonly isConnection: boolean;
}

interface ListDraft {
  readonly rows: GraphqlAnswerTableRow[];
  totalCount: number | null;
}

interface Position {
  readonly path: readonly string[];
  /**
   * The text, number and boolean fields of the outer list items, which surround the current position in the
   * answer.
   */
  readonly containers: GraphqlAnswerTableRow;
}

type Drafts = Map<string, ListDraft>;

/** Finds all lists of an answer, in the order in which the answer contains them. `answer` is the parsed body. */
export function findListsInGraphqlAnswer(answer: unknown): readonly ListInGraphqlAnswer[] {
  const data = isObject(answer) ? answer["data"] : undefined;
  const drafts: Drafts = new Map();
  if (isObject(data)) collect(data, { path: [], containers: {} }, drafts);
  return [...drafts].map(([path, { rows, totalCount }]) => ({
    path,
    columns: [...new Set(rows.flatMap((row) => Object.keys(row)))],
    rows,
    totalCount,
  }));
}

function collect(value: JsonObject, { path, containers }: Position, drafts: Drafts): void {
  for (const [name, child] of Object.entries(value)) {
    const position = { path: [...path, name], containers };
    const found = itemsOf(child);
    if (found !== undefined) addItems(found, position, drafts);
    else if (isObject(child)) collect(child, position, drafts);
  }
}

function addItems(
  { items, totalCount, isConnection }: FoundItems,
  { path, containers }: Position,
  drafts: Drafts,
): void {
  const key = path.join(".");
  const isNested = Object.keys(containers).length > 0;
  // An empty array inside a list item does not become a table, because it may be an empty list of texts and
  // not of objects.
  if (isNested && items.length === 0 && !isConnection) return;
  const draft = drafts.get(key) ?? { rows: [], totalCount: isNested ? null : totalCount };
  drafts.set(key, draft);
  for (const item of items) {
    draft.rows.push({ ...containers, ...flatten(item) });
    collect(item, { path, containers: { ...containers, ...simpleFields(item, key) } }, drafts);
  }
}

/** Returns the items of a connection or of an array of objects; undefined for all other values. */
function itemsOf(value: unknown): FoundItems | undefined {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const objects = items.filter(isObject);
    return objects.length === items.filter((item) => item !== null).length
      ? { items: objects, totalCount: null, isConnection: false }
      : undefined;
  }
  if (!isObject(value)) return undefined;
  const { edges, nodes, totalCount } = value;
  const items = Array.isArray(edges) ? edges.map(nodeOf) : nodes;
  if (!Array.isArray(items)) return undefined;
  return {
    items: items.filter(isObject),
    totalCount: typeof totalCount === "number" ? totalCount : null,
    isConnection: true,
  };
}

const nodeOf = (edge: unknown): unknown => (isObject(edge) ? edge["node"] : null);

/**
 * Converts the fields of an object to columns of one row. Fields of nested objects become columns too. A
 * nested list of objects becomes the number of its items; a list of texts becomes one text.
 */
function flatten(item: JsonObject, prefix = ""): Record<string, GraphqlAnswerTableCell> {
  const cells: Record<string, GraphqlAnswerTableCell> = {};
  for (const [name, value] of Object.entries(item)) {
    const column = `${prefix}${name}`;
    const found = itemsOf(value);
    if (found !== undefined) {
      if (found.isConnection || found.items.length > 0) cells[`${column} (count)`] = found.items.length;
    } else if (Array.isArray(value)) cells[column] = value.map(String).join("; ");
    else if (isObject(value)) Object.assign(cells, flatten(value, `${column}.`));
    else cells[column] = toCell(value);
  }
  return cells;
}

const simpleFields = (item: JsonObject, path: string): GraphqlAnswerTableRow =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([, value]) => typeof value !== "object")
      .map(([name, value]) => [`${path}.${name}`, toCell(value)]),
  );

function toCell(value: unknown): GraphqlAnswerTableCell {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return null;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
