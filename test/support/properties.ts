/**
 * Properties are tried on the same cases in every run, so that results are reproducible. PROPERTY_SEED tries
 * other cases.
 */
import fc from "fast-check";

export const propertySeed = Number(process.env["PROPERTY_SEED"] ?? 20_261_121);

fc.configureGlobal({ seed: propertySeed });

/**
 * The number of runs for properties that need thousands of cases; a tenth of it during mutation tests
 * (test/mutation/).
 */
export const manyRuns = (count: number): { readonly numRuns: number } => ({
  numRuns: process.env["MUTATION_MODULE"] === undefined ? count : count / 10,
});
