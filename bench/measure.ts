/**
 * One scenario: rounds in which every server gets its turn, then the latencies at a rate that all of them can
 * keep.
 */
import { measureLatencies, measureThroughput, type LoadTarget } from "./load.ts";
import { processCpuMicros, processTreeCpuMicros, residentMegabytes } from "./machine.ts";

export interface MeasuredServer {
  readonly name: string;
  readonly pid: number;
  readonly target: LoadTarget;
}

export interface MeasurementPlan {
  readonly rounds: number;
  readonly warmUpSeconds: number;
  readonly roundSeconds: number;
  readonly evenSeconds: number;
  readonly postgresPid: number;
  /** Undefined: half of what the slowest server manages. */
  readonly rate: number | undefined;
  readonly onStep: (what: string) => void;
}

export interface MeasurementRow {
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

interface RoundResult {
  readonly perSecond: number;
  readonly serverCpu: number;
  readonly postgresCpu: number;
}

export async function measureScenario(
  scenario: string,
  subjects: readonly MeasuredServer[],
  plan: MeasurementPlan,
): Promise<MeasurementRow[]> {
  const { rounds, warmUpSeconds, onStep } = plan;
  for (const { name, target } of subjects) {
    onStep(`${scenario}: warming up ${name}`);
    await measureThroughput(target, warmUpSeconds);
  }
  const results = subjects.map((subject) => ({ subject, rounds: [] as RoundResult[] }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { subject, rounds: own } of results) {
      onStep(`${scenario}: round ${round} of ${rounds}, ${subject.name}`);
      own.push(await measureRound(subject, plan));
    }
  }
  const slowest = Math.min(
    ...results.map((result) => median(result.rounds.map(({ perSecond }) => perSecond))),
  );
  const evenPerSecond = plan.rate ?? Math.max(1, Math.floor(slowest / 2));
  const yardsticks = results[0]?.rounds ?? [];
  const rows: MeasurementRow[] = [];
  for (const { subject, rounds: own } of results) {
    onStep(`${scenario}: latencies of ${subject.name}`);
    const latencies = await measureLatencies(subject.target, evenPerSecond, plan.evenSeconds);
    const ratios = own.map(
      ({ perSecond }, index) => perSecond / (yardsticks[index]?.perSecond ?? Number.NaN),
    );
    rows.push({
      server: subject.name,
      scenario,
      ratio: { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) },
      cpuRatio: median(
        own.map(({ serverCpu }, index) => serverCpu / (yardsticks[index]?.serverCpu ?? Number.NaN)),
      ),
      requestsPerSecond: median(own.map(({ perSecond }) => perSecond)),
      serverCpuMicros: median(own.map(({ serverCpu }) => serverCpu)),
      postgresCpuMicros: median(own.map(({ postgresCpu }) => postgresCpu)),
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

async function measureRound(
  { pid, target }: MeasuredServer,
  { roundSeconds, postgresPid }: MeasurementPlan,
): Promise<RoundResult> {
  await measureThroughput(target, reopeningSeconds);
  const [serverBefore, postgresBefore] = [processCpuMicros(pid), processTreeCpuMicros(postgresPid)];
  const { count, perSecond } = await measureThroughput(target, roundSeconds);
  return {
    perSecond,
    serverCpu: (processCpuMicros(pid) - serverBefore) / count,
    postgresCpu: (processTreeCpuMicros(postgresPid) - postgresBefore) / count,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
