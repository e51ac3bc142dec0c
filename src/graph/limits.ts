/** What one query may cost: fields count one, a list multiplies what is below it by its page size. */
import type { Viewer } from "#access/viewer.ts";

export const queryDepthMax = 12;
export const queryAliasesMax = 200;
export const queryDirectivesMax = 5;
export const queryTokensMax = 1000;
/** Faults of validation in one answer. */
export const validationErrorsMax = 20;
export const queryMsMax = 10_000;

/** REST's own documents are ours: they were measured when they were written, and are not measured again. */
export function getQueryCostLimit(viewer: Viewer): number {
  if (viewer.kind !== "internal") return Number.POSITIVE_INFINITY;
  return viewer.role === "storefront" ? 2_000 : 20_000;
}
