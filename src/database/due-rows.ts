/**
 * Goes through all rows that are due, a batch at a time. A row that fails stands in nobody's way: it is
 * passed over until the next round, and told of at the end.
 */
export interface DueRows<Row extends DueRow> {
  /** The next ones behind the given row, in an order in which it does not come again whatever became of it. */
  readonly find: (after: Row | undefined, rowsMax: number) => Promise<readonly Row[]>;
  /** In transactions of its own; gives whether there was still anything to be done. */
  readonly handle: (row: Row) => Promise<boolean>;
  /** Ends it before the next row. */
  readonly signal?: AbortSignal | undefined;
}

export interface DueRow {
  readonly id: string;
}

const batchRowsMax = 100;
/** So many are told whole; where everything fails, they say what all do. */
const toldMax = 20;

/** Gives how many were handled; throws an AggregateError at the end where any failed. */
export async function handleDueRows<Row extends DueRow>({
  find,
  handle,
  signal,
}: DueRows<Row>): Promise<number> {
  const failures: Error[] = [];
  let handled = 0;
  let failed = 0;
  for await (const row of rowsOf({ find, signal })) {
    try {
      if (await handle(row)) handled += 1;
    } catch (error) {
      failed += 1;
      if (failures.length < toldMax) failures.push(new Error(`${row.id} was passed over.`, { cause: error }));
    }
  }
  if (failed > 0) throw new AggregateError(failures, `${failed} failed, ${handled} did not.`);
  return handled;
}

async function* rowsOf<Row extends DueRow>({
  find,
  signal,
}: Omit<DueRows<Row>, "handle">): AsyncGenerator<Row, void> {
  for (let rows: readonly Row[] | undefined; rows === undefined || rows.length === batchRowsMax;) {
    rows = await find(rows?.at(-1), batchRowsMax);
    for (const row of rows) {
      if (signal?.aborted === true) return;
      yield row;
    }
  }
}
