/**
 * Properties are tried on the same cases in every run, so that what was green stays green; PROPERTY_SEED
 * tries others.
 */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 20_261_121) });

/**
 * Of those that want thousands of cases: a tenth where they are run against one mutant after the other
 * (test/mutation/).
 */
export const manyRuns = (count: number): { readonly numRuns: number } => ({
  numRuns: process.env["MUTATION_MODULE"] === undefined ? count : count / 10,
});
