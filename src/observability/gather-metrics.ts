/**
 * Adds up the metrics of all processes that one parent process has started. The process that serves
 * `/metrics` sends a request to the parent. The parent requests the metrics of all processes and forwards
 * their answers without parsing them. A process that does not answer within one second is reported as
 * missing. The counters of its last answer remain in the sum, even after the process has ended, so that no
 * counter decreases. Counts that were added after the last answer of an ended process are lost.
 *
 * The function AggregatorRegistry.aggregate of prom-client 15.1.3 computes the sum. The function
 * clusterMetrics() of prom-client is not used. The reasons, with line numbers of lib/cluster.js: Only the
 * primary process can call it, and in this service the primary process serves no HTTP (70). It fails
 * completely if one process fails (175) or does not answer within 5 s (58). It leaves out processes that have
 * ended, so that counters decrease (70). It parses the metrics of all processes in the primary process, which
 * must be free to accept connections. test/web/metrics-gathering.test.ts tests that this file avoids each of
 * these faults.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import type { InterProcessMessagePort } from "#http/shared-limiter.ts";

/** The metrics of one process, as prom-client writes them as JSON. */
export type ProcessMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** The metrics of all processes of the service, and how many processes have sent theirs. */
export interface MetricsOfAllProcesses {
  /**
   * The metrics of all processes, as JSON texts. Each running process has one text with its counters and
   * histograms. A process that also has gauges has a second text with these. One more text has the sums of
   * the counters of all processes that have ended.
   */
  readonly all: readonly string[];
  /** The number of processes that sent their metrics before the timeout. */
  readonly answered: number;
  /** The number of processes that did not send their metrics before the timeout. */
  readonly missing: number;
}

/**
 * A message about metrics between a process and its parent process. `turn` is the number of a request; the
 * answer to this request contains the same number.
 */
interface Message {
  readonly type:
    | "metrics-request"
    | "metrics-answer"
    | "metrics-gather"
    | "metrics-part"
    | "metrics-gathered";
  readonly turn: number;
}

/**
 * A message in which one process sends its metrics to the parent process. The metrics are JSON texts, so that
 * the parent can forward them without parsing.
 */
interface AnswerMessage extends Message {
  /**
   * The counters and histograms of the process, as a JSON text. The property `other` contains the metrics of
   * all other types, for example gauges.
   */
  readonly counted: string;
  readonly other: string;
}

/**
 * A message with the metrics of one process, which the parent process forwards to the process that serves
 * `/metrics`.
 */
interface PartMessage extends Message {
  readonly metrics: readonly string[];
}

/** A message that follows the messages with the metrics of all processes and ends the answer. */
type GatheredMessage = Message & Pick<MetricsOfAllProcesses, "answered" | "missing">;

const timeoutMs = 1_000;
/**
 * Milliseconds that a process waits until the parent has sent it the metrics of all processes. This time is
 * longer than `timeoutMs`, the time that the parent waits for the other processes.
 */
const gatherTimeoutMs = 1_500;

/** The connection of a process to its parent process, over which they exchange metrics. */
export interface ChildToParentMetricsConnection {
  /**
   * Sets the function that reads the metrics of this process. The parent process requests these metrics
   * whenever any of the processes serves `/metrics`.
   */
  readonly provide: (measure: () => Promise<ProcessMetrics>) => void;
  /** Requests the metrics of all processes. Returns undefined if the parent process does not answer. */
  readonly request: () => Promise<MetricsOfAllProcesses | undefined>;
}

/** Creates the connection over which this process exchanges metrics with its parent process. */
export function createChildToParentMetricsConnection(
  port: InterProcessMessagePort,
): ChildToParentMetricsConnection {
  const requests = createRequests<GatheredMessage>();
  const parts = new Map<number, string[]>();
  port.onMessage((message) => {
    if (isOfType<PartMessage>(message, "metrics-part")) parts.get(message.turn)?.push(...message.metrics);
    if (isOfType<GatheredMessage>(message, "metrics-gathered")) requests.answer(message.turn, message);
  });
  return {
    provide: (measure) =>
      port.onMessage((message) => {
        if (!isOfType<Message>(message, "metrics-request")) return;
        const { turn } = message;
        void measure().then(
          (measured) =>
            port.send({ type: "metrics-answer", turn, ...toAnswer(measured) } satisfies AnswerMessage),
          // If this process cannot read its own metrics, it sends no answer, and the parent process reports
          // it as missing.
          () => undefined,
        );
      }),
    request: async () => {
      const all: string[] = [];
      let ownTurn = 0;
      const send = (turn: number): boolean => {
        ownTurn = turn;
        parts.set(turn, all);
        return port.send({ type: "metrics-gather", turn } satisfies Message);
      };
      try {
        const answer = await requests.send(send, gatherTimeoutMs);
        return answer && { all, answered: answer.answered, missing: answer.missing };
      } finally {
        parts.delete(ownTurn);
      }
    },
  };
}

function toAnswer(measured: ProcessMetrics): Pick<AnswerMessage, "counted" | "other"> {
  const [counted, other] = [
    measured.filter(isIncreasing),
    measured.filter((metric) => !isIncreasing(metric)),
  ];
  return { counted: JSON.stringify(counted), other: JSON.stringify(other) };
}

/** The part of the parent process that collects the metrics of all processes. */
export interface MultiProcessMetricsCollector {
  /**
   * Adds a process whose metrics are collected. Returns a function that must be called when this process has
   * ended.
   */
  readonly join: (port: InterProcessMessagePort) => () => void;
}

interface Member {
  readonly request: () => Promise<AnswerMessage | undefined>;
  /** Returns the counters and histograms that one process sent in its last answer, as a JSON text. */
  readonly counted: () => string;
}

/** Creates the part of the parent process that collects the metrics of all processes. */
export function createMultiProcessMetricsCollector(): MultiProcessMetricsCollector {
  const members = new Set<Member>();
  // The sum of the counters and histograms of all processes that have ended.
  let ended = Promise.resolve(noMetrics);
  /**
   * Requests the metrics of all running processes. The summed counters of ended processes are read before the
   * requests are sent, so that a process that ends meanwhile is not counted twice.
   */
  const gather = async (
    forward: (metrics: readonly string[]) => void,
  ): Promise<Pick<MetricsOfAllProcesses, "answered" | "missing">> => {
    const [running, endedBefore] = [[...members], ended];
    const answers = await Promise.all(
      running.map(async ({ request, counted }) => {
        const answer = await request();
        // The metrics of each process are forwarded in a separate message, so that the parent can do other
        // work between two messages.
        forward(answer === undefined ? [counted()] : [answer.counted, answer.other]);
        return answer !== undefined;
      }),
    );
    forward([await endedBefore]);
    const answered = answers.filter(Boolean).length;
    return { answered, missing: answers.length - answered };
  };
  return {
    join: (port) => {
      const requests = createRequests<AnswerMessage>();
      let counted = noMetrics;
      const member: Member = {
        request: () =>
          requests.send((turn) => port.send({ type: "metrics-request", turn } satisfies Message), timeoutMs),
        counted: () => counted,
      };
      members.add(member);
      port.onMessage((message) => {
        if (isOfType<AnswerMessage>(message, "metrics-answer")) {
          // Every answer of a process replaces the stored counters of the process. An answer that arrives
          // after the timeout is stored too, although it is missing in the current sum.
          counted = message.counted;
          requests.answer(message.turn, message);
        }
        if (!isOfType<Message>(message, "metrics-gather")) return;
        const { turn } = message;
        void gather((metrics) =>
          port.send({ type: "metrics-part", turn, metrics } satisfies PartMessage),
        ).then((counts) =>
          port.send({ type: "metrics-gathered", turn, ...counts } satisfies GatheredMessage),
        );
      });
      return () => {
        if (!members.delete(member)) return;
        const last = counted;
        ended = ended.then(async (before) =>
          JSON.stringify(await (await mergeProcessMetrics([before, last])).getMetricsAsJSON()),
        );
      };
    },
  };
}

/** The requests to another process that are not yet answered, by request number. */
interface PendingRequests<Answer> {
  /**
   * Calls `send`, which sends a request to the other process, and waits for the answer. Returns undefined
   * after the timeout. `send` returns false if the other process has ended.
   */
  readonly send: (send: (turn: number) => boolean, waitMs: number) => Promise<Answer | undefined>;
  readonly answer: (turn: number, answer: Answer) => void;
}

function createRequests<Answer>(): PendingRequests<Answer> {
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let turn = 0;
  return {
    send: async (send, waitMs) => {
      turn += 1;
      const ownTurn = turn;
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const timer = setTimeout(() => resolve(undefined), waitMs).unref();
      waiting.set(ownTurn, resolve);
      try {
        return send(ownTurn) ? await promise : undefined;
      } finally {
        clearTimeout(timer);
        waiting.delete(ownTurn);
      }
    },
    answer: (answeredTurn, answer) => waiting.get(answeredTurn)?.(answer),
  };
}

/** The metric types whose values only increase (counters and histograms), as prom-client names them in JSON. */
const increasingTypes: ReadonlySet<string> = new Set(["counter", "histogram"]);

const isIncreasing = ({ type }: ProcessMetrics[number]): boolean => increasingTypes.has(String(type));

const noMetrics = "[]";

/**
 * Adds up the metrics of several processes, given as JSON texts. After each text, the process does other
 * pending work, so that other requests are not delayed. A metric that is an average becomes the average over
 * all processes. prom-client is imported only in this function, because the parent process needs it only
 * after one of its processes has ended.
 */
export async function mergeProcessMetrics(all: readonly string[]): Promise<Registry> {
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

/**
 * Removes the null values of metrics. A metric without an observation has the value NaN, which JSON writes as
 * null.
 */
const withoutNulls = (measured: ProcessMetrics): ProcessMetrics =>
  measured.map((metric) => ({
    ...metric,
    values: metric.values.filter(({ value }) => typeof value === "number"),
  }));

/**
 * Returns whether a message between processes has the given type. The other fields of the message are not
 * checked, because all messages come from this program.
 */
function isOfType<Kind extends Message>(message: unknown, type: Kind["type"]): message is Kind {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}
