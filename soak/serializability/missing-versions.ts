/** Finds versions that an object must have had, but that no operation of the history wrote. */
import type { HistoryOperation } from "./history.ts";

interface SeenVersions {
  readonly written: Set<number>;
  /** The number of writes whose version is not known. */
  hidden: number;
  first: number;
  last: number;
}

/**
 * Every change of an object raises its version by one. A version without an operation that may have written
 * it was given to a change that no client requested, for example to a repeated change.
 */
export function findMissingVersions(operations: readonly HistoryOperation[]): string[] {
  const objects = new Map<string, SeenVersions>();
  for (const { outcome, steps } of operations) {
    if (outcome === "failed") continue;
    for (const step of steps) {
      const isVersion = (step.kind === "read" || step.kind === "write") && /\bversion of /.test(step.object);
      if (!isVersion) continue;
      const seen = objects.get(step.object) ?? { written: new Set(), hidden: 0, first: Infinity, last: 0 };
      objects.set(step.object, seen);
      if (step.version === undefined) {
        seen.hidden += 1;
        continue;
      }
      if (step.kind === "write") seen.written.add(step.version);
      seen.first = Math.min(seen.first, step.version);
      seen.last = Math.max(seen.last, step.version);
    }
  }
  return [...objects].flatMap(([object, { written, hidden, first, last }]) => {
    const missing = last - first + 1 - written.size;
    return missing > hidden
      ? [`missing: the ${object} rose from ${first} to ${last}, but only ${written.size} were written.`]
      : [];
  });
}
