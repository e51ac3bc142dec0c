/**
 * The status line below the editor, which shows the cost (`extensions.cost`), the duration and the size of
 * the last answer.
 */
import type { JSX } from "preact";
import type { GraphqlOperationMeasurements } from "./fetcher.ts";

const whole = new Intl.NumberFormat("en");
const fraction = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** Renders the status line below the editor. Screen readers read its text aloud when the text changes. */
export function GraphiqlStatusLine({
  run,
}: {
  readonly run: GraphqlOperationMeasurements | undefined;
}): JSX.Element {
  const isOver = run?.cost !== undefined && run.cost.requested > run.cost.limit;
  const isRefused = isOver || run?.quotaMessage !== undefined;
  return (
    <p id="status" class={isRefused ? "status fault" : "status"} aria-live="polite" aria-atomic="true">
      {run === undefined ? "Run an operation to see its cost here." : textOf(run, isOver)}
    </p>
  );
}

function textOf(run: GraphqlOperationMeasurements, isOver: boolean): string {
  const { cost, durationMs, bytes, errorCount, quotaMessage } = run;
  const measured = [durationOf(durationMs), sizeOf(bytes)];
  if (quotaMessage !== undefined)
    return [`Not run, because a quota is used up. ${quotaMessage}`, ...measured].join(" · ");
  if (cost === undefined) return [`${errorsOf(errorCount)}, nothing was run`, ...measured].join(" · ");
  const figures = `${whole.format(cost.requested)} of ${whole.format(cost.limit)}`;
  if (isOver)
    return [`Too costly: ${figures}. It was not run; ask for fewer items or fields`, ...measured].join(" · ");
  const left = cost.throttleStatus?.currentlyAvailable;
  const rest = left === undefined ? [] : [`${whole.format(left)} points left in this minute`];
  return [`Cost ${figures}`, ...rest, ...measured, ...(errorCount === 0 ? [] : [errorsOf(errorCount)])].join(
    " · ",
  );
}

const errorsOf = (count: number): string => (count === 1 ? "1 error" : `${count} errors`);

const durationOf = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${fraction.format(ms / 1000)} s`;

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000
    ? `${fraction.format(bytes / 1000)} kB`
    : `${fraction.format(bytes / 1_000_000)} MB`;
}
