/**
 * Prepares each process that runs tests. Properties are tried on the same cases in every run, so that results
 * are reproducible. PROPERTY_SEED tries other cases.
 */
import fc from "fast-check";
import { freePortsEnd, freePortsFirst, limitFreePorts } from "#foundation/free-port.ts";

export const propertySeed = Number(process.env["PROPERTY_SEED"] ?? 20_261_121);

fc.configureGlobal({ seed: propertySeed });

/**
 * Servers of tests listen seconds after their port was chosen, so each of the processes that run at the same
 * time chooses from ports of its own. vitest numbers these processes from 1.
 */
const processesMax = 8;
const portsOfProcess = Math.floor((freePortsEnd - freePortsFirst) / processesMax);
const firstPortOfProcess =
  freePortsFirst + (Number(process.env["VITEST_POOL_ID"] ?? 1) % processesMax) * portsOfProcess;
limitFreePorts(firstPortOfProcess, firstPortOfProcess + portsOfProcess);

/**
 * The number of runs for properties that need thousands of cases; a tenth of it during mutation tests
 * (test/mutation/).
 */
export const manyRuns = (count: number): { readonly numRuns: number } => ({
  numRuns: process.env["MUTATION_MODULE"] === undefined ? count : count / 10,
});
