/**
 * Adds up the metrics of all processes of one start. The process that serves `/metrics` asks the parent
 * process, which asks all of its processes and passes their answers on without parsing them. A process that
 * does not answer within a second is reported as missing. Its counters, as of its last answer, stay in the
 * sum, also after it has ended, so that no counter decreases; what it counted after its last answer is lost.
 *
 * The adding up is AggregatorRegistry.aggregate of prom-client 15.1.3. Its clusterMetrics() is not used
 * (lines of lib/cluster.js): only the primary process can call it, which serves no HTTP here (70); it fails
 * as a whole if one process does not answer within 5 s (58) or fails (175), instead of reporting it as
 * missing; processes that have ended drop out of the sum, so that counters decrease (70); and it parses the
 * metrics of all processes in the primary, which has every connection to give away.
 * test/web/metrics-gathering.test.ts holds the opposite of each.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import type { Port } from "#http/shared-limiter.ts";

/** As prom-client writes metrics as JSON, and adds them up. */
export type ProcessMetrics = MetricObjectWithValues<MetricValue<string>>[];

export interface GatheredMetrics {
  /**
   * `Measured` as JSON: one or two pieces for each process, and one for the counters of all processes that
   * have ended.
   */
  readonly all: readonly string[];
  readonly answered: number;
  readonly missing: number;
}

interface Message {
  readonly type: "metrics-wanted" | "metrics-given" | "metrics-asked" | "metrics-passed" | "metrics-gathered";
  readonly turn: number;
}

/** The metrics are text, so that the parent passes them on without parsing. */
interface Given extends Message {
  /** Counters and histograms, which only grow. */
  readonly counted: string;
  readonly other: string;
}

interface Passed extends Message {
  readonly metrics: readonly string[];
}

type GatheredMessage = Message & Pick<GatheredMetrics, "answered" | "missing">;

const timeoutMs = 1_000;
/** Longer, because the parent waits for the other processes meanwhile. */
const askerTimeoutMs = 1_500;

/** The end of a process that serves `/metrics`. */
export interface MetricsExchange {
  /** Registers the metrics of this process, which it gives whenever `/metrics` of any process is read. */
  readonly give: (measure: () => Promise<ProcessMetrics>) => void;
  /** Undefined if the parent process does not answer. */
  readonly ask: () => Promise<GatheredMetrics | undefined>;
}

export function createMetricsExchange(port: Port): MetricsExchange {
  const asked = createTurns<GatheredMessage>();
  const passed = new Map<number, string[]>();
  port.onMessage((message) => {
    if (isOfType<Passed>(message, "metrics-passed")) passed.get(message.turn)?.push(...message.metrics);
    if (isOfType<GatheredMessage>(message, "metrics-gathered")) asked.answer(message.turn, message);
  });
  return {
    give: (measure) =>
      port.onMessage((message) => {
        if (!isOfType<Message>(message, "metrics-wanted")) return;
        const { turn } = message;
        void measure().then(
          (measured) => port.send({ type: "metrics-given", turn, ...written(measured) } satisfies Given),
          // The process is then reported as missing.
          () => undefined,
        );
      }),
    ask: async () => {
      const all: string[] = [];
      let own = 0;
      const send = (turn: number): boolean => {
        own = turn;
        passed.set(turn, all);
        return port.send({ type: "metrics-asked", turn } satisfies Message);
      };
      try {
        const answer = await asked.ask(send, askerTimeoutMs);
        return answer && { all, answered: answer.answered, missing: answer.missing };
      } finally {
        passed.delete(own);
      }
    },
  };
}

function written(measured: ProcessMetrics): Pick<Given, "counted" | "other"> {
  const [counted, other] = [measured.filter(isGrowing), measured.filter((metric) => !isGrowing(metric))];
  return { counted: JSON.stringify(counted), other: JSON.stringify(other) };
}

/** In the parent process. */
export interface MetricsHub {
  /** Adds a process; returns the function to call when the process has ended. */
  readonly join: (port: Port) => () => void;
}

interface Member {
  readonly want: () => Promise<Given | undefined>;
  /** Counters and histograms as of the last answer. */
  readonly counted: () => string;
}

export function createMetricsHub(): MetricsHub {
  const members = new Set<Member>();
  // The counters of all processes that have ended, added up one after the other.
  let gone = Promise.resolve(nothing);
  /**
   * Asks the processes that run now. One that ends meanwhile is counted as an answer, and only later among
   * the ended ones.
   */
  const gather = async (
    pass: (metrics: readonly string[]) => void,
  ): Promise<Pick<GatheredMetrics, "answered" | "missing">> => {
    const [asked, before] = [[...members], gone];
    const answers = await Promise.all(
      asked.map(async ({ want, counted }) => {
        const given = await want();
        // One message for each process, so that the parent can do other work between two messages.
        pass(given === undefined ? [counted()] : [given.counted, given.other]);
        return given !== undefined;
      }),
    );
    pass([await before]);
    const answered = answers.filter(Boolean).length;
    return { answered, missing: answers.length - answered };
  };
  return {
    join: (port) => {
      const asked = createTurns<Given>();
      let counted = nothing;
      const member: Member = {
        want: () =>
          asked.ask((turn) => port.send({ type: "metrics-wanted", turn } satisfies Message), timeoutMs),
        counted: () => counted,
      };
      members.add(member);
      port.onMessage((message) => {
        if (isOfType<Given>(message, "metrics-given")) {
          // Late answers are kept too.
          counted = message.counted;
          asked.answer(message.turn, message);
        }
        if (!isOfType<Message>(message, "metrics-asked")) return;
        const { turn } = message;
        void gather((metrics) => port.send({ type: "metrics-passed", turn, metrics } satisfies Passed)).then(
          (told) => port.send({ type: "metrics-gathered", turn, ...told } satisfies GatheredMessage),
        );
      });
      return () => {
        if (!members.delete(member)) return;
        const last = counted;
        gone = gone.then(async (before) =>
          JSON.stringify(await (await sumMetrics([before, last])).getMetricsAsJSON()),
        );
      };
    },
  };
}

interface Turns<Answer> {
  /** `send` returns false if the other end is gone. */
  readonly ask: (send: (turn: number) => boolean, waitMs: number) => Promise<Answer | undefined>;
  readonly answer: (turn: number, answer: Answer) => void;
}

function createTurns<Answer>(): Turns<Answer> {
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let turn = 0;
  return {
    ask: async (send, waitMs) => {
      turn += 1;
      const asked = turn;
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const timer = setTimeout(() => resolve(undefined), waitMs).unref();
      waiting.set(asked, resolve);
      try {
        return send(asked) ? await promise : undefined;
      } finally {
        clearTimeout(timer);
        waiting.delete(asked);
      }
    },
    answer: (answered, answer) => waiting.get(answered)?.(answer),
  };
}

/** The names of types in prom-client's JSON; its enum has numbers. */
const growing: ReadonlySet<string> = new Set(["counter", "histogram"]);

const isGrowing = ({ type }: ProcessMetrics[number]): boolean => growing.has(String(type));

const nothing = "[]";

/**
 * Adds up one process after the other, with a turn of the event loop between two, so that other requests are
 * answered meanwhile. Averages are computed over all processes at once. prom-client is loaded here, because
 * the parent process needs it only after a process has ended.
 */
export async function sumMetrics(all: readonly string[]): Promise<Registry> {
  const { AggregatorRegistry } = await import("prom-client");
  let sum: ProcessMetrics = [];
  const averaged: ProcessMetrics[] = [];
  for (const text of all) {
    const measured = withoutNulls(JSON.parse(text) as ProcessMetrics);
    averaged.push(measured.filter(isAverage));
    const added = AggregatorRegistry.aggregate([sum, measured.filter((metric) => !isAverage(metric))]);
    sum = await added.getMetricsAsJSON();
    await nextTurn();
  }
  return AggregatorRegistry.aggregate([sum, ...averaged]);
}

const isAverage = ({ aggregator }: ProcessMetrics[number]): boolean => aggregator === "average";

/** NaN arrives from another process as null: it has no observation. */
const withoutNulls = (measured: ProcessMetrics): ProcessMetrics =>
  measured.map((metric) => ({
    ...metric,
    values: metric.values.filter(({ value }) => typeof value === "number"),
  }));

/** Both ends are this program, so the type of a message determines its shape. */
function isOfType<Kind extends Message>(message: unknown, type: Kind["type"]): message is Kind {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}
