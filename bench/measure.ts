/**
 * One scenario: rounds in which every server gets its turn, then the latencies at a rate that all of them can
 * keep.
 */
import { loadEvenly, loadFully, type Target } from "./load.ts";
import { cpuMicros, familyCpuMicros, residentMegabytes } from "./machine.ts";

export interface Subject {
  readonly name: string;
  readonly pid: number;
  readonly target: Target;
}

export interface Plan {
  readonly rounds: number;
  readonly warmUpSeconds: number;
  readonly roundSeconds: number;
  readonly evenSeconds: number;
  readonly postgresPid: number;
  /** Undefined: half of what the slowest server manages. */
  readonly rate: number | undefined;
  readonly onStep: (what: string) => void;
}

export interface Row {
  readonly server: string;
  readonly scenario: string;
  /** Requests per second, over the yardstick's of the same round: more is better. */
  readonly ratio: Spread;
  /** CPU time of the server for a request, over the yardstick's of the same round: less is better. */
  readonly cpuRatio: number;
  readonly requestsPerSecond: number;
  readonly serverCpuMicros: number;
  readonly postgresCpuMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The rate that the latencies were measured at. */
  readonly evenPerSecond: number;
  readonly residentMegabytes: number;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

interface Round {
  readonly perSecond: number;
  readonly serverCpu: number;
  readonly postgresCpu: number;
}

export async function measure(scenario: string, subjects: readonly Subject[], plan: Plan): Promise<Row[]> {
  const { rounds, warmUpSeconds, onStep } = plan;
  for (const { name, target } of subjects) {
    onStep(`${scenario}: warming up ${name}`);
    await loadFully(target, warmUpSeconds);
  }
  const results = subjects.map((subject) => ({ subject, rounds: [] as Round[] }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { subject, rounds: own } of results) {
      onStep(`${scenario}: round ${round} of ${rounds}, ${subject.name}`);
      own.push(await oneRound(subject, plan));
    }
  }
  const slowest = Math.min(
    ...results.map((result) => medianOf(result.rounds.map(({ perSecond }) => perSecond))),
  );
  const evenPerSecond = plan.rate ?? Math.max(1, Math.floor(slowest / 2));
  const yardsticks = results[0]?.rounds ?? [];
  const rows: Row[] = [];
  for (const { subject, rounds: own } of results) {
    onStep(`${scenario}: latencies of ${subject.name}`);
    const latencies = await loadEvenly(subject.target, evenPerSecond, plan.evenSeconds);
    const ratios = own.map(
      ({ perSecond }, index) => perSecond / (yardsticks[index]?.perSecond ?? Number.NaN),
    );
    rows.push({
      server: subject.name,
      scenario,
      ratio: { median: medianOf(ratios), min: Math.min(...ratios), max: Math.max(...ratios) },
      cpuRatio: medianOf(
        own.map(({ serverCpu }, index) => serverCpu / (yardsticks[index]?.serverCpu ?? Number.NaN)),
      ),
      requestsPerSecond: medianOf(own.map(({ perSecond }) => perSecond)),
      serverCpuMicros: medianOf(own.map(({ serverCpu }) => serverCpu)),
      postgresCpuMicros: medianOf(own.map(({ postgresCpu }) => postgresCpu)),
      ...latencies,
      evenPerSecond,
      residentMegabytes: residentMegabytes(subject.pid),
    });
  }
  return rows;
}

/**
 * Between its turns a server's pool closes what it has not used for a while: opening that again is not
 * counted.
 */
const reopeningSeconds = 0.5;

async function oneRound({ pid, target }: Subject, { roundSeconds, postgresPid }: Plan): Promise<Round> {
  await loadFully(target, reopeningSeconds);
  const [serverBefore, postgresBefore] = [cpuMicros(pid), familyCpuMicros(postgresPid)];
  const { count, perSecond } = await loadFully(target, roundSeconds);
  return {
    perSecond,
    serverCpu: (cpuMicros(pid) - serverBefore) / count,
    postgresCpu: (familyCpuMicros(postgresPid) - postgresBefore) / count,
  };
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
