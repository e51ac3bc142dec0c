/**
 * Runs seeds of the simulation in a process of its own, and runs them with the planted faults, each of which
 * must be found.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Report } from "#soak/report.ts";
import { plantedFaults } from "./planted-faults.ts";

export interface SimulatedSeed {
  readonly seed: number;
  /** SHA-256 of the trace. The same seed has the same trace in every run. */
  readonly traceHash: string;
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly ms: number;
}

export interface SeedRange {
  readonly first: number;
  readonly count: number;
  /** The name of the planted fault; without a fault if left out. */
  readonly fault?: string;
}

const processPath = fileURLToPath(new URL("simulation-process.ts", import.meta.url));

/**
 * Runs seeds in a new process, and yields their results. `folder` has the base database, and gets the traces
 * of seeds with violations.
 */
export async function* simulateSeeds(
  folder: string,
  { first, count, fault }: SeedRange,
): AsyncGenerator<SimulatedSeed> {
  const args = [folder, String(first), String(count), ...(fault === undefined ? [] : [fault])];
  const { child, readErrors } = startProcess(folder, args);
  let yielded = 0;
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      yield JSON.parse(line) as SimulatedSeed;
      yielded += 1;
    }
    if (yielded < count)
      throw new Error(`The simulation ended after ${yielded} of ${count} seeds: ${readErrors()}`);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Creates a temporary folder with the base database. Returns its path. */
export async function createSimulationFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "simulation-"));
  const { child, readErrors } = startProcess(folder, [folder]);
  const [exitCode] = (await once(child, "exit")) as [number | null];
  if (exitCode !== 0) throw new Error(`The base database could not be created: ${readErrors()}`);
  return folder;
}

function startProcess(folder: string, args: readonly string[]) {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const child = spawn(process.execPath, [processPath, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors = `${errors}${chunk.toString()}`.slice(-4000)));
  return { child, readErrors: () => errors };
}

export interface SimulationPlan {
  readonly firstSeed: number;
  readonly roundsMax: number;
  readonly isOver: () => boolean;
  readonly onStep: (text: string) => void;
}

const shownViolationsOfSeed = 5;
const seedsPerStep = 50;
/**
 * The seeds after which the simulation continues in a new process. The killed processes of the service stay
 * in memory, about 15 MB for each seed.
 */
const seedsPerProcess = 50;

export async function runSimulation({
  firstSeed,
  roundsMax,
  isOver,
  onStep,
}: SimulationPlan): Promise<Report> {
  const folder = await createSimulationFolder();
  const counts: Record<string, number> = { seeds: 0 };
  const violations: string[] = [];
  let ms = 0;
  while (counts["seeds"] !== undefined && counts["seeds"] < roundsMax && !isOver()) {
    const first = firstSeed + counts["seeds"];
    const count = Math.min(seedsPerProcess, roundsMax - counts["seeds"]);
    for await (const result of simulateSeeds(folder, { first, count })) {
      counts["seeds"] += 1;
      ms += result.ms;
      for (const [name, value] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + value;
      violations.push(...describeSeed(folder, result));
      if (counts["seeds"] % seedsPerStep === 0)
        onStep(`pglite: ${counts["seeds"]} seeds, ${violations.length} violations`);
      if (isOver()) break;
    }
  }
  if (violations.length === 0) rmSync(folder, { recursive: true });
  const seeds = counts["seeds"] ?? 0;
  return {
    figure: "simulation",
    engine: "pglite",
    counts: { ...counts, "ms per seed": seeds === 0 ? 0 : Math.round(ms / seeds) },
    violations,
  };
}

function describeSeed(folder: string, { seed, violations }: SimulatedSeed): string[] {
  if (violations.length === 0) return [];
  const shown = violations.slice(0, shownViolationsOfSeed);
  const repeat = `npm run soak -- --only simulation --minutes 5 --rounds 1 --seed ${seed}`;
  return [
    ...shown,
    `Seed ${seed}: ${repeat} repeats it; ${join(folder, `trace-${seed}.txt`)} has its trace.`,
  ];
}

export interface PlantedFaultsPlan {
  /** The largest number of seeds for one fault. */
  readonly seedsMax: number;
  readonly onStep: (text: string) => void;
}

/** Runs seeds with each planted fault, until a seed finds it. */
export async function findPlantedFaults({ seedsMax, onStep }: PlantedFaultsPlan): Promise<Report> {
  const folder = await createSimulationFolder();
  const violations: string[] = [];
  let seeds = 0;
  try {
    for await (const result of simulateSeeds(folder, { first: 1, count: 1 }))
      violations.push(...result.violations);
    for (const { name } of plantedFaults) {
      const found = await findSeedOfFault(folder, { first: 1, count: seedsMax, fault: name });
      if (found === undefined) violations.push(`No seed of ${seedsMax} finds that ${name}.`);
      else seeds += found.seed;
      onStep(`${name}: ${found === undefined ? "not found" : `seed ${found.seed}: ${found.violations[0]}`}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const faults = plantedFaults.length;
  return {
    figure: "planted-faults",
    engine: "pglite",
    counts: { faults, found: faults - violations.length, seeds },
    violations,
  };
}

/** Returns the first seed that reports a violation; undefined if none does. */
export async function findSeedOfFault(folder: string, range: SeedRange): Promise<SimulatedSeed | undefined> {
  for await (const seed of simulateSeeds(folder, range)) if (seed.violations.length > 0) return seed;
  return undefined;
}
