/** Finds and handles due rows. A row that fails is skipped until the next run, and reported at the end. */
export interface DueRowsTask<Row extends DueRow> {
  /** Finds the next due rows after the given row. Handling a row must not change the order. */
  readonly find: (after: Row | undefined, rowsMax: number) => Promise<readonly Row[]>;
  /** Handles a row in its own transactions. Returns false if the row needed no work any more. */
  readonly handle: (row: Row) => Promise<boolean>;
  /** Stops the work before the next row. */
  readonly signal?: AbortSignal | undefined;
}

export interface DueRow {
  readonly id: string;
}

const batchRowsMax = 100;
/** Maximum number of failures that are reported in full. Further failures are only counted. */
const reportedMax = 20;

/** Returns the number of handled rows; throws an AggregateError at the end if rows failed. */
export async function handleDueRows<Row extends DueRow>({
  find,
  handle,
  signal,
}: DueRowsTask<Row>): Promise<number> {
  const failures: Error[] = [];
  let handled = 0;
  let failed = 0;
  for await (const row of eachDueRow({ find, signal })) {
    try {
      if (await handle(row)) handled += 1;
    } catch (error) {
      failed += 1;
      if (failures.length < reportedMax) failures.push(new Error(`${row.id} was skipped.`, { cause: error }));
    }
  }
  if (failed > 0) throw new AggregateError(failures, `${failed} rows failed, ${handled} rows were handled.`);
  return handled;
}

async function* eachDueRow<Row extends DueRow>({
  find,
  signal,
}: Omit<DueRowsTask<Row>, "handle">): AsyncGenerator<Row, void> {
  for (let rows: readonly Row[] | undefined; rows === undefined || rows.length === batchRowsMax;) {
    rows = await find(rows?.at(-1), batchRowsMax);
    for (const row of rows) {
      if (signal?.aborted === true) return;
      yield row;
    }
  }
}
