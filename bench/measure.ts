/**
 * Measures one scenario. First measures the throughput, in rounds in which the servers take turns; then
 * measures the latencies at a rate that all servers can sustain.
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
  readonly latencySeconds: number;
  readonly postgresPid: number;
  /** Requests per second for the latencies; undefined to use half of the slowest throughput. */
  readonly rate: number | undefined;
  readonly onStep: (what: string) => void;
}

export interface MeasurementRow {
  readonly server: string;
  readonly scenario: string;
  /** Requests per second divided by those of the yardstick in the same round; higher is better. */
  readonly ratio: Spread;
  /** CPU time per request divided by that of the yardstick in the same round; lower is better. */
  readonly cpuRatio: number;
  readonly requestsPerSecond: number;
  readonly serverCpuMicros: number;
  readonly postgresCpuMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests per second at which the latencies were measured. */
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
    for (const { subject, rounds: ownRounds } of results) {
      onStep(`${scenario}: round ${round} of ${rounds}, ${subject.name}`);
      ownRounds.push(await measureRound(subject, plan));
    }
  }
  const slowest = Math.min(
    ...results.map((result) => median(result.rounds.map(({ perSecond }) => perSecond))),
  );
  const evenPerSecond = plan.rate ?? Math.max(1, Math.floor(slowest / 2));
  const yardsticks = results[0]?.rounds ?? [];
  const rows: MeasurementRow[] = [];
  for (const { subject, rounds: ownRounds } of results) {
    onStep(`${scenario}: latencies of ${subject.name}`);
    const latencies = await measureLatencies(subject.target, evenPerSecond, plan.latencySeconds);
    const ratios = ownRounds.map(
      ({ perSecond }, index) => perSecond / (yardsticks[index]?.perSecond ?? Number.NaN),
    );
    rows.push({
      server: subject.name,
      scenario,
      ratio: { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) },
      cpuRatio: median(
        ownRounds.map(({ serverCpu }, index) => serverCpu / (yardsticks[index]?.serverCpu ?? Number.NaN)),
      ),
      requestsPerSecond: median(ownRounds.map(({ perSecond }) => perSecond)),
      serverCpuMicros: median(ownRounds.map(({ serverCpu }) => serverCpu)),
      postgresCpuMicros: median(ownRounds.map(({ postgresCpu }) => postgresCpu)),
      ...latencies,
      evenPerSecond,
      residentMegabytes: residentMegabytes(subject.pid),
    });
  }
  return rows;
}

/**
 * Seconds of load before each round that are not measured. Between its rounds, a server closes unused
 * database connections; the time for opening them again must not be measured.
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
