/** When a promotion that is active began to apply, as it is told: by its activation, by a change of its window, or by the clock. */
import type { PromotionRow } from "./read-promotions.ts";

type Window = Pick<PromotionRow, "startsAt" | "endsAt" | "startedAt">;

/** Null: not yet. One whose window was moved into the future will begin once more. */
export function startOf({ startsAt, endsAt, startedAt }: Window, now: Date): Date | null {
  if (startsAt !== null && startsAt > now) return null;
  const isOver = endsAt !== null && endsAt <= now;
  return startedAt ?? (isOver ? null : now);
}
