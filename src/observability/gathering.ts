/**
 * The processes of one start are measured as one, whichever of them is asked: it asks the one that started them, which asks all and passes on what they
 * say without reading it. A process that does not answer in time is counted as missing and nobody waits for it. What it had counted when it was last
 * heard stays in the sum, also after its end, so that a counter never goes back; what it counted after that is lost with it.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import type { Port } from "#http/shared-limiter.ts";

/** As prom-client writes and adds it up. */
export type Measured = MetricObjectWithValues<MetricValue<string>>[];

export interface Gathered {
  /** Of each process, also what is left of those that are gone: `Measured` as JSON, and of one process in more than one piece. */
  readonly all: readonly string[];
  readonly answered: number;
  readonly missing: number;
}

interface Message {
  readonly type: "metrics-wanted" | "metrics-given" | "metrics-asked" | "metrics-passed" | "metrics-gathered";
  readonly turn: number;
}

/** Whoever passes it on need not read it. */
interface Given extends Message {
  /** What only grows. */
  readonly counted: string;
  readonly other: string;
}

interface Passed extends Message {
  readonly metrics: readonly string[];
}

type Told = Message & Pick<Gathered, "answered" | "missing">;

const patienceMs = 1_000;
/** Whoever asks waits for the one that waits for the others. */
const askerPatienceMs = 1_500;

/** Of a process that serves. */
export interface Exchange {
  /** Whenever any of them is asked, this one gives what it has measured. */
  readonly give: (measure: () => Promise<Measured>) => void;
  /** Undefined: the process that started this one does not answer. */
  readonly ask: () => Promise<Gathered | undefined>;
}

export function createExchange(port: Port): Exchange {
  const asked = createTurns<Told>();
  const passed = new Map<number, string[]>();
  port.onMessage((message) => {
    if (isOfType<Passed>(message, "metrics-passed")) passed.get(message.turn)?.push(...message.metrics);
    if (isOfType<Told>(message, "metrics-gathered")) asked.answer(message.turn, message);
  });
  return {
    give: (measure) =>
      port.onMessage((message) => {
        if (!isOfType<Message>(message, "metrics-wanted")) return;
        const { turn } = message;
        void measure().then(
          (measured) => port.send({ type: "metrics-given", turn, ...written(measured) } satisfies Given),
          // It is missing then.
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
        const told = await asked.ask(send, askerPatienceMs);
        return told && { all, answered: told.answered, missing: told.missing };
      } finally {
        passed.delete(own);
      }
    },
  };
}

function written(measured: Measured): Pick<Given, "counted" | "other"> {
  const [counted, other] = [measured.filter(isGrowing), measured.filter((metric) => !isGrowing(metric))];
  return { counted: JSON.stringify(counted), other: JSON.stringify(other) };
}

/** Of the process that started the others. */
export interface GatheringRoom {
  /** Gives what is to be called at its end. */
  readonly enter: (port: Port) => () => void;
}

interface Member {
  readonly want: () => Promise<Given | undefined>;
  /** What only grows, as it was last heard. */
  readonly counted: () => string;
}

export function createGatheringRoom(): GatheringRoom {
  const members = new Set<Member>();
  // Added up one after the other: few end, and each in its turn.
  let gone = Promise.resolve(nothing);
  /** Of those that are there when it begins: who ends meanwhile is not yet among the others that are gone. */
  const gather = async (pass: (metrics: readonly string[]) => void): Promise<Pick<Gathered, "answered" | "missing">> => {
    const [asked, before] = [[...members], gone];
    const answers = await Promise.all(
      asked.map(async ({ want, counted }) => {
        const given = await want();
        // Each by itself, so that what else this process does has its turn between two of them.
        pass(given === undefined ? [counted()] : [given.counted, given.other]);
        return given !== undefined;
      }),
    );
    pass([await before]);
    const answered = answers.filter(Boolean).length;
    return { answered, missing: answers.length - answered };
  };
  return {
    enter: (port) => {
      const asked = createTurns<Given>();
      let counted = nothing;
      const member: Member = {
        want: () => asked.ask((turn) => port.send({ type: "metrics-wanted", turn } satisfies Message), patienceMs),
        counted: () => counted,
      };
      members.add(member);
      port.onMessage((message) => {
        if (isOfType<Given>(message, "metrics-given")) {
          // Also of an answer that comes too late.
          counted = message.counted;
          asked.answer(message.turn, message);
        }
        if (!isOfType<Message>(message, "metrics-asked")) return;
        const { turn } = message;
        void gather((metrics) => port.send({ type: "metrics-passed", turn, metrics } satisfies Passed)).then((told) =>
          port.send({ type: "metrics-gathered", turn, ...told } satisfies Told),
        );
      });
      return () => {
        if (!members.delete(member)) return;
        const last = counted;
        gone = gone.then(async (before) => JSON.stringify(await (await addUp([before, last])).getMetricsAsJSON()));
      };
    },
  };
}

interface Turns<Answer> {
  /** `send` says whether anybody is there. */
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

/** prom-client names types so; its own enumeration is one of numbers. */
const growing: ReadonlySet<string> = new Set(["counter", "histogram"]);

const isGrowing = ({ type }: Measured[number]): boolean => growing.has(String(type));

const nothing = "[]";

/**
 * One process after the other, with a turn between, so that nobody waits for all of them. An average is one of all or it is wrong: those are few. The
 * library is loaded where there is something to add up: the process that starts the others has no other use for it.
 */
export async function addUp(all: readonly string[]): Promise<Registry> {
  const { AggregatorRegistry } = await import("prom-client");
  let sum: Measured = [];
  const averaged: Measured[] = [];
  for (const text of all) {
    const measured = mended(JSON.parse(text) as Measured);
    averaged.push(measured.filter(isAverage));
    const added = AggregatorRegistry.aggregate([sum, measured.filter((metric) => !isAverage(metric))]);
    sum = await added.getMetricsAsJSON();
    await nextTurn();
  }
  return AggregatorRegistry.aggregate([sum, ...averaged]);
}

const isAverage = ({ aggregator }: Measured[number]): boolean => aggregator === "average";

/** What is no number arrives as null from another process: nothing was measured there. */
const mended = (measured: Measured): Measured =>
  measured.map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => typeof value === "number") }));

/** Both ends are this program: the type tells the rest. */
function isOfType<Kind extends Message>(message: unknown, type: Kind["type"]): message is Kind {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}
