/**
 * Finds and handles due rows in batches. A row whose handling fails is skipped until the next run, and its
 * error is reported at the end of the run.
 */
import { formatCountWithNoun } from "#foundation/text.ts";

export interface DueRowProcessingOptions<Row extends RowWithDueWork> {
  /**
   * Finds up to `rowsMax` due rows that follow the given row, or the first due rows if no row is given.
   * Handling a row must not change the order of the rows.
   */
  readonly find: (after: Row | undefined, rowsMax: number) => Promise<readonly Row[]>;
  /**
   * Does the work that is due for one row, in one or more transactions of its own. Returns false if the row
   * no longer needed any work.
   */
  readonly handle: (row: Row) => Promise<boolean>;
  /** When the signal is aborted, the processing of rows stops before the next row. */
  readonly signal?: AbortSignal | undefined;
}

export interface RowWithDueWork {
  readonly id: string;
}

const batchRowsMax = 100;
/** Maximum number of errors that one run reports in full. Further failed rows are only counted. */
const reportedMax = 20;

/**
 * Handles all due rows and returns the number of handled rows. If the handling of some rows failed, throws an
 * AggregateError with their errors at the end.
 */
export async function processDueRows<Row extends RowWithDueWork>({
  find,
  handle,
  signal,
}: DueRowProcessingOptions<Row>): Promise<number> {
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
  if (failed > 0)
    throw new AggregateError(
      failures,
      `${formatCountWithNoun(failed, "row")} failed, ${formatCountWithNoun(handled, "row was", "rows were")} handled.`,
    );
  return handled;
}

async function* eachDueRow<Row extends RowWithDueWork>({
  find,
  signal,
}: Omit<DueRowProcessingOptions<Row>, "handle">): AsyncGenerator<Row, void> {
  for (let rows: readonly Row[] | undefined; rows === undefined || rows.length === batchRowsMax;) {
    rows = await find(rows?.at(-1), batchRowsMax);
    for (const row of rows) {
      if (signal?.aborted === true) return;
      yield row;
    }
  }
}
