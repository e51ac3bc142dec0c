/**
 * A process of the simulation. `node simulation-process.ts FOLDER` creates the base database in the folder.
 * `node simulation-process.ts FOLDER run [FAULT]` reads seeds from the standard input, one in each line, runs
 * them until the input ends, and prints one line of JSON for each. Its clocks, timers and random sources are
 * those of the simulation, so it does nothing else. All processes that run seeds load, open and run the same
 * before the first seed, so that a seed has the same trace in each of them; that is why another process
 * creates the database.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { plantFault } from "./planted-faults.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { replaceClocksAndRandom, replaceTimers, type SimulationSources } from "./replaced-globals.ts";
import { VirtualWorld } from "./virtual-world.ts";

const startedAtMs = Date.UTC(2026, 5, 1, 12);
const sources: SimulationSources = { nowMs: () => startedAtMs - 60_000, random: createSeededRandom(0, 0) };
replaceClocksAndRandom(sources);
const [folder = "", command, fault] = process.argv.slice(2);
if (fault !== undefined) plantFault(fault);
// The modules of the service are loaded after the clocks and random sources were replaced.
const { createBaseDatabase, openBaseDatabase } = await import("./base-database.ts");
if (command === undefined) {
  await createBaseDatabase(folder);
  process.exit(0);
}
const { runSeed } = await import("./run-seed.ts");
const { openGraphqlMesh } = await import("#mesh/open-mesh.ts");

const mesh = await openGraphqlMesh();
let world = new VirtualWorld(0, startedAtMs);
replaceTimers(() => world);
const base = await openBaseDatabase(folder, mesh);
const use = (next: VirtualWorld): void => void (world = next);
// The first run loads modules while it waits, so that its order of events differs. The second run has the same
// statements in every process, whose plans are kept. The results of both are not used.
for (let run = 0; run < 2; run += 1) await runSeed({ base, sources, use, startedAtMs }, 0);
await base.pglite.keepPlans();
// The next seed is sent when the last one has ended, so that reading never interrupts a seed.
for await (const line of createInterface({ input: process.stdin })) {
  const seed = Number(line);
  const result = await runSeed({ base, sources, use, startedAtMs }, seed);
  if (result.violations.length > 0)
    writeFileSync(join(folder, `trace-${seed}.txt`), `${result.trace.join("\n")}\n`);
  process.stdout.write(`${JSON.stringify({ ...result, trace: undefined })}\n`);
}
process.exit(0);
