/**
 * A short version of the soak tests `simulation` and `planted-faults`: few seeds, one of them twice, and a
 * planted fault that must be found.
 */
import { readFileSync, rmSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { changeText, plantedFaults } from "#soak/simulation/planted-faults.ts";
import {
  createSimulationFolder,
  findSeedOfFault,
  type SimulatedSeed,
  simulateSeeds,
} from "#soak/simulation/simulation.ts";

async function simulate(folder: string, seeds: readonly number[]): Promise<SimulatedSeed[]> {
  const results: SimulatedSeed[] = [];
  for await (const result of simulateSeeds(folder, { seeds })) results.push(result);
  return results;
}

/** Filling the database of the simulation takes long on a busy machine. */
const timeoutMs = 300_000;

/** Seeds that once found an error. In 14814, a payment is decided only after 140 s. */
const seedsOfErrors = [14_814];

const testedFault = { name: "the answer is not stored under its idempotency key", seed: 1 };

describe("the seeded simulation", () => {
  it(
    "finds no violation, gives a seed the same trace in another process, and finds a planted fault",
    async () => {
      const folder = await createSimulationFolder();
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const [seeds, [again], found] = await Promise.all([
        simulate(folder, [1, 2, 3, ...seedsOfErrors]),
        simulate(folder, [3]),
        findSeedOfFault(folder, { seeds: [testedFault.seed], fault: testedFault.name }),
      ]);
      expect(seeds.flatMap(({ violations }) => violations)).toEqual([]);
      expect(new Set(seeds.map(({ traceHash }) => traceHash)).size).toBe(seeds.length);
      expect(seeds.reduce((sum, { counts }) => sum + (counts["kills"] ?? 0), 0)).toBeGreaterThan(0);
      expect(again?.traceHash).toBe(seeds[2]?.traceHash);
      expect(found?.seed).toBe(testedFault.seed);
    },
    timeoutMs,
  );

  it("has planted faults that fit the present source texts", () => {
    for (const fault of plantedFaults) {
      const text = readFileSync(new URL(`../../${fault.file}`, import.meta.url), "utf8");
      expect(changeText(fault, text)).not.toBe(text);
    }
  });
});
