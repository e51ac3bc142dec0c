/**
 * A short version of the soak tests `simulation` and `planted-faults`: few seeds, the same trace twice, and
 * two planted faults that must be found.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { changeText, plantedFaults } from "#soak/simulation/planted-faults.ts";
import {
  findSeedOfFault,
  type SeedRange,
  type SimulatedSeed,
  simulateSeeds,
} from "#soak/simulation/simulation.ts";

const folder = mkdtempSync(join(tmpdir(), "simulation-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function simulate(range: SeedRange): Promise<SimulatedSeed[]> {
  const seeds: SimulatedSeed[] = [];
  for await (const seed of simulateSeeds(folder, range)) seeds.push(seed);
  return seeds;
}

/** The first process of the simulation fills its database, which takes long on a busy machine. */
const timeoutMs = 300_000;

/** Faults that almost every seed finds, so that changes of the service do not make this test fail by chance. */
const testedFaults = [
  "the answer is not stored under its idempotency key",
  "a failed delivery is recorded as a success",
];

describe("the seeded simulation", () => {
  it(
    "finds no violation, gives a seed the same trace in another process, and finds planted faults",
    async () => {
      const seeds = await simulate({ first: 1, count: 4 });
      expect(seeds.flatMap(({ violations }) => violations)).toEqual([]);
      expect(new Set(seeds.map(({ traceHash }) => traceHash)).size).toBe(seeds.length);
      expect(seeds.reduce((sum, { counts }) => sum + (counts["kills"] ?? 0), 0)).toBeGreaterThan(0);
      const [again, ...found] = await Promise.all([
        simulate({ first: 3, count: 1 }),
        ...testedFaults.map((fault) => findSeedOfFault(folder, { first: 1, count: 10, fault })),
      ]);
      expect(again[0]?.traceHash).toBe(seeds[2]?.traceHash);
      expect(found).not.toContain(undefined);
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
