/**
 * Runs seeds of the simulation in processes of their own, and runs them with the planted faults, each of
 * which must be found.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
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
}

export interface SimulatedSeeds {
  /** A seed is taken when the process has run the one before. Several processes can take from one iterator. */
  readonly seeds: Iterable<number>;
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
  { seeds, fault }: SimulatedSeeds,
): AsyncGenerator<SimulatedSeed> {
  const args = [folder, "run", ...(fault === undefined ? [] : [fault])];
  const { child, readErrors } = startProcess(folder, args);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    for (const seed of seeds) {
      child.stdin.write(`${seed}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error(`The simulation ended in seed ${seed}: ${readErrors()}`);
      yield JSON.parse(line.value) as SimulatedSeed;
    }
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

/**
 * Options of Node: fewer collections of short-lived objects, and an earlier optimization of PostgreSQL's
 * functions, most of which run too seldom for the usual threshold.
 */
const nodeOptions = ["--max-semi-space-size=32", "--wasm-tiering-budget=300000"];

function startProcess(folder: string, args: readonly string[]) {
  const child = spawn(process.execPath, [...nodeOptions, processPath, ...args], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") },
    stdio: "pipe",
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors = `${errors}${chunk.toString()}`.slice(-4000)));
  // Writing a seed to a process that has ended fails. The end of its output reports this.
  child.stdin.on("error", () => undefined);
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
/** Each process needs about 1 GB of memory. */
const processesMax = 4;

/** Runs seeds in several processes. All seeds from the first to the last one that ran have been run. */
export async function runSimulation({
  firstSeed,
  roundsMax,
  isOver,
  onStep,
}: SimulationPlan): Promise<Report> {
  const folder = await createSimulationFolder();
  const counts: Record<string, number> = { "first seed": firstSeed, "last seed": firstSeed - 1, seeds: 0 };
  const violations: string[] = [];
  const seeds = takeSeeds({ firstSeed, roundsMax, isOver });
  const run = async (): Promise<void> => {
    for await (const result of simulateSeeds(folder, { seeds })) {
      counts["last seed"] = Math.max(counts["last seed"] ?? 0, result.seed);
      for (const [name, value] of Object.entries({ seeds: 1, ...result.counts }))
        counts[name] = (counts[name] ?? 0) + value;
      violations.push(...describeSeed(folder, result));
      if (counts["seeds"] !== undefined && counts["seeds"] % seedsPerStep === 0)
        onStep(`pglite: ${counts["seeds"]} seeds, ${violations.length} violations`);
    }
  };
  const processes = Math.min(availableParallelism(), processesMax, roundsMax);
  await Promise.all(Array.from({ length: processes }, run));
  if (violations.length === 0) rmSync(folder, { recursive: true });
  return { figure: "simulation", engine: "pglite", counts, violations };
}

type SeedLimits = Pick<SimulationPlan, "firstSeed" | "roundsMax" | "isOver">;

function* takeSeeds({ firstSeed, roundsMax, isOver }: SeedLimits): Generator<number> {
  for (let seed = firstSeed; seed < firstSeed + roundsMax && !isOver(); seed += 1) yield seed;
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
    for await (const result of simulateSeeds(folder, { seeds: [1] })) violations.push(...result.violations);
    for (const { name } of plantedFaults) {
      const found = await findSeedOfFault(folder, {
        seeds: takeSeeds({ firstSeed: 1, roundsMax: seedsMax, isOver: () => false }),
        fault: name,
      });
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
export async function findSeedOfFault(
  folder: string,
  simulated: SimulatedSeeds,
): Promise<SimulatedSeed | undefined> {
  for await (const seed of simulateSeeds(folder, simulated)) if (seed.violations.length > 0) return seed;
  return undefined;
}
