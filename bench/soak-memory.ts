/** Memory under load over minutes: every scenario on our server, a few seconds of each in turn, while its resident memory is looked at; then by how much it grows. */
import { writeFileSync } from "node:fs";
import type { Arguments } from "./arguments.ts";
import type { Bench } from "./bench.ts";
import { prepareDatabase } from "./database.ts";
import { loadFully } from "./load.ts";
import { residentMegabytes } from "./machine.ts";
import type { Subject } from "./measure.ts";
import { servers } from "./servers.ts";
import { compared, makeScenarios, withServers } from "./subjects.ts";

interface Sample {
  readonly minute: number;
  readonly megabytes: number;
}

interface Soak extends Arguments {
  readonly minutes: number;
}

const [turnSeconds, sampleMs] = [5, 1000];
/** Caches and compiled code fill at first: the slope is of what comes after. */
const settlingShare = 1 / 3;

export async function soakMemory({ minutes, counts, only, jsonPath }: Soak, { machine, place, say, step }: Bench): Promise<void> {
  step(`PostgreSQL with ${counts.products} products, ${counts.carts} carts, ${counts.orders} orders`);
  const database = await prepareDatabase(counts);
  try {
    const scenarios = await makeScenarios(only, database);
    const ours = servers.filter(({ name }) => name === "ours");
    await withServers(ours, { database, scenarios, place, times: 1, onStep: step }, async (running) => {
      const subjects: Subject[] = [];
      for (const scenario of scenarios) subjects.push(...(await compared(scenario, running, step)));
      const { requests, samples } = await loadInTurns(subjects, minutes, step);
      say(`\n${machine}, ${minutes} min of ${only.join(", ")}\n\n${describe(samples)}; ${requests} requests.`);
      if (jsonPath !== undefined) writeFileSync(jsonPath, `${JSON.stringify({ machine, minutes, requests, samples }, undefined, 2)}\n`);
    });
  } finally {
    await database.stop();
  }
}

interface Soaked {
  readonly requests: number;
  readonly samples: readonly Sample[];
}

async function loadInTurns(subjects: readonly Subject[], minutes: number, step: Bench["step"]): Promise<Soaked> {
  const [first] = subjects;
  if (first === undefined) return { requests: 0, samples: [] };
  const startedAt = performance.now();
  const minutesSoFar = (): number => (performance.now() - startedAt) / 60_000;
  const samples: Sample[] = [];
  const timer = setInterval(() => samples.push({ minute: minutesSoFar(), megabytes: residentMegabytes(first.pid) }), sampleMs);
  let requests = 0;
  try {
    for (let turn = 0; minutesSoFar() < minutes; turn += 1) {
      const subject = subjects[turn % subjects.length] ?? first;
      requests += (await loadFully(subject.target, Math.min(turnSeconds, (minutes - minutesSoFar()) * 60))).count;
      if (turn % subjects.length === 0) step(`${minutesSoFar().toFixed(1)} of ${minutes} min: ${samples.at(-1)?.megabytes.toFixed(0) ?? "?"} MB`);
    }
  } finally {
    clearInterval(timer);
  }
  return { requests, samples };
}

function describe(samples: readonly Sample[]): string {
  const last = samples.at(-1);
  if (last === undefined) return "Nothing was sampled";
  const settled = samples.filter(({ minute }) => minute >= last.minute * settlingShare);
  const sizes = settled.map(({ megabytes }) => megabytes);
  const from = settled[0]?.minute ?? 0;
  return (
    `Resident memory: ${samples[0]?.megabytes.toFixed(0)} MB at the beginning, from minute ${from.toFixed(1)} on ` +
    `${Math.min(...sizes).toFixed(0)} to ${Math.max(...sizes).toFixed(0)} MB, at the end ${last.megabytes.toFixed(0)} MB; ` +
    `slope from there on ${(slopeOf(settled) * 60).toFixed(1)} MB an hour`
  );
}

/** Least squares, in megabytes a minute. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middle, level] = [mean(samples.map(({ minute }) => minute)), mean(samples.map(({ megabytes }) => megabytes))];
  const spread = samples.reduce((sum, { minute }) => sum + (minute - middle) ** 2, 0);
  return samples.reduce((sum, { minute, megabytes }) => sum + (minute - middle) * (megabytes - level), 0) / spread;
}
