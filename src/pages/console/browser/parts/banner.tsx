/** What went wrong, with what helps to find out why. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { GraphFailure } from "#pages/console/browser/graph/client.ts";

interface BannerProps {
  readonly failure: GraphFailure | undefined;
  /** Pointers of the fields that tell their own faults. */
  readonly shown?: readonly string[];
  readonly onRetry?: (() => void) | undefined;
}

/** Whether a fault is one of this field or of something in it. */
const isAt = (pointer: string, field: string): boolean => field === pointer || field.startsWith(`${pointer}/`);

export function faultsAt(failure: GraphFailure | undefined, pointer: string): readonly string[] {
  const faults = (failure?.details ?? [])
    .filter(({ field }) => isAt(pointer, field))
    .map(({ code, message }) => (/^Too (?:small|big)/.test(message) ? (plain[code] ?? message) : message));
  return [...new Set(faults)];
}

/** What the graph says of these is for programs. */
const plain: Readonly<Record<string, string>> = {
  too_short: "Fill this in.",
  too_long: "This is too long.",
  too_small: "This is too small.",
  too_large: "This is too large.",
};

export function Banner({ failure, shown = [], onRetry }: BannerProps): JSX.Element | null {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (failure === undefined) return;
    // A form leads to its first wrong field; without one the banner itself is read.
    const field = place.current?.closest("form")?.querySelector<HTMLElement>("[aria-invalid=true]");
    if (place.current?.closest("form")) (field ?? place.current).focus();
  }, [failure]);
  if (failure === undefined) return null;
  const rest = failure.details.filter(({ field, message }) => message !== failure.message && !shown.some((pointer) => isAt(pointer, field)));
  const isTold = failure.details.length > 0 && failure.details.every(({ field }) => shown.some((pointer) => isAt(pointer, field)));
  return (
    <div class="banner" role="alert" tabIndex={-1} ref={place}>
      <p>
        <strong>{isTold ? "This was not accepted. What is wrong is said below." : failure.message}</strong>
      </p>
      {rest.length === 0 ? null : (
        <ul>
          {rest.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {failure.code === undefined ? null : (
        <p class="trace">
          {failure.docUrl === undefined ? <code>{failure.code}</code> : <a href={failure.docUrl}>{failure.code}</a>}
          {failure.requestId === undefined ? null : (
            <>
              {" · "}
              Request <code>{failure.requestId}</code>
            </>
          )}
        </p>
      )}
      {onRetry === undefined ? null : (
        <button type="button" class="second" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
