/** A short version of the soak test `simulation`: few seeds, the same traces twice, and a planted fault. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { changeText, plantedFaults } from "#soak/simulation/planted-faults.ts";
import { type SeedRange, type SimulatedSeed, simulateSeeds } from "#soak/simulation/simulation.ts";

const folder = mkdtempSync(join(tmpdir(), "simulation-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function simulate(range: SeedRange): Promise<SimulatedSeed[]> {
  const seeds: SimulatedSeed[] = [];
  for await (const seed of simulateSeeds(folder, range)) seeds.push(seed);
  return seeds;
}

/** A process of the simulation first fills its database, which takes long on a busy machine. */
const timeoutMs = 300_000;

describe("the seeded simulation", () => {
  it("finds no violation, and gives a seed the same trace in another process", async () => {
    const seeds = await simulate({ first: 1, count: 4 });
    expect(seeds.flatMap(({ violations }) => violations)).toEqual([]);
    const again = await simulate({ first: 3, count: 2 });
    const hashOf = new Map(seeds.map(({ seed, traceHash }) => [seed, traceHash]));
    expect(again.map(({ traceHash }) => traceHash)).toEqual([3, 4].map((seed) => hashOf.get(seed)));
    expect(new Set(hashOf.values()).size).toBe(seeds.length);
    const kills = seeds.reduce((sum, { counts }) => sum + (counts["kills"] ?? 0), 0);
    expect(kills).toBeGreaterThan(0);
  }, timeoutMs);

  it("finds a planted fault", async () => {
    const fault = "a delivery is marked as done before it is sent";
    const seeds = await simulate({ first: 1, count: 2, fault });
    expect(seeds.some(({ violations }) => violations.length > 0)).toBe(true);
  }, timeoutMs);

  it("has planted faults that fit the present source texts", () => {
    for (const fault of plantedFaults) {
      const text = readFileSync(new URL(`../../${fault.file}`, import.meta.url), "utf8");
      expect(changeText(fault, text)).not.toBe(text);
    }
  });
});
