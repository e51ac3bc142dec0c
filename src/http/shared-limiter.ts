/**
 * One count for the processes of one start: the one that started the others counts, and they ask it. What falls together in one turn of the event
 * loop is one message each way. While no answer comes each counts by itself, so that this neither stops the service nor opens it.
 */
import { type Bucket, scaledQuota } from "#access/viewer.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryLimiter, type LimitState, type RateLimiter } from "./rate-limiter.ts";

/** One end of what two processes tell each other through. */
export interface Port {
  /** False: nobody is there to hear it. */
  send(message: object): boolean;
  onMessage(listener: (message: unknown) => void): void;
}

interface Ask {
  readonly what: "consume" | "peek" | "giveBack";
  readonly bucket: Bucket;
  readonly key: string;
}

interface Asks {
  readonly type: "limits-asked";
  readonly turn: number;
  readonly asks: readonly Ask[];
}

interface Answers {
  readonly type: "limits-answered";
  readonly turn: number;
  /** In the order of the asks. */
  readonly states: readonly (LimitState | null)[];
}

interface Waiting extends Ask {
  readonly answer: (state: LimitState | undefined | PromiseLike<LimitState | undefined>) => void;
}

const patienceMs = 1_000;

/** Of a process that asks. */
export function createSharedLimiter(port: Port, { scale, log }: { readonly scale: number; readonly log: Log }): RateLimiter {
  const alone = createMemoryLimiter(scale);
  let isAway = false;
  const line = openLine(port, {
    countAlone: (waiting) => {
      for (const one of waiting) one.answer(count(alone, one));
    },
    sawAnswers: (areThere) => {
      if (isAway === !areThere) return;
      isAway = !areThere;
      if (isAway) log.warn({ event: "rate_limiter_away" }, "The process that counts does not answer: rate limits are counted per process.");
      else log.info({ event: "rate_limiter_back" }, "The process that counts answers: rate limits are shared again.");
    },
  });
  const ask = (question: Ask): Promise<LimitState | undefined> | LimitState | undefined => {
    if (scaledQuota(question.bucket, scale) === undefined) return undefined;
    return isAway ? count(alone, question) : line.ask(question);
  };
  return {
    consume: (bucket, key) => ask({ what: "consume", bucket, key }),
    peek: (bucket, key) => ask({ what: "peek", bucket, key }),
    giveBack: async (bucket, key) => void (await ask({ what: "giveBack", bucket, key })),
    isAway: () => isAway,
    close: () => {
      line.giveUp();
      return alone.close();
    },
  };
}

interface LineOptions {
  readonly countAlone: (waiting: readonly Waiting[]) => void;
  readonly sawAnswers: (areThere: boolean) => void;
}

interface Line {
  readonly ask: (question: Ask) => Promise<LimitState | undefined>;
  /** What waits for an answer is counted without. */
  readonly giveUp: () => void;
}

function openLine(port: Port, { countAlone, sawAnswers }: LineOptions): Line {
  const sent = new Map<number, { readonly waiting: readonly Waiting[]; readonly patience: NodeJS.Timeout }>();
  let gathered: Waiting[] = [];
  let turn = 0;
  const giveUp = (): void => {
    for (const { waiting, patience } of sent.values()) {
      clearTimeout(patience);
      countAlone(waiting);
    }
    sent.clear();
  };
  const lose = (lost: number): void => {
    if (!sent.has(lost)) return;
    sawAnswers(false);
    giveUp();
  };
  const sendGathered = (): void => {
    const waiting = gathered;
    gathered = [];
    turn += 1;
    const asks = waiting.map(({ what, bucket, key }): Ask => ({ what, bucket, key }));
    // When this process itself was busy for so long, the answer has arrived and is read in the turn that follows.
    const patience = setTimeout((lost: number) => setImmediate(lose, lost), patienceMs, turn).unref();
    sent.set(turn, { waiting, patience });
    if (!port.send({ type: "limits-asked", turn, asks } satisfies Asks)) lose(turn);
  };
  port.onMessage((message) => {
    if (!isOfType<Answers>(message, "limits-answered")) return;
    // Also one that comes too late for what it answers says that somebody is there.
    sawAnswers(true);
    const { waiting = [], patience } = sent.get(message.turn) ?? {};
    clearTimeout(patience);
    sent.delete(message.turn);
    for (const [index, one] of waiting.entries()) one.answer(message.states[index] ?? undefined);
  });
  return {
    ask: (question) =>
      new Promise((answer) => {
        if (gathered.push({ ...question, answer }) === 1) setImmediate(sendGathered);
      }),
    giveUp,
  };
}

/** Of the process that counts: answers what the one at the other end asks. */
export function answerLimits(port: Port, limiter: RateLimiter): void {
  port.onMessage((message) => {
    if (isOfType<Asks>(message, "limits-asked")) void countAsked(port, message, limiter);
  });
}

async function countAsked(port: Port, { turn, asks }: Asks, limiter: RateLimiter): Promise<void> {
  const states = await Promise.all(asks.map(async (one) => (await count(limiter, one)) ?? null));
  port.send({ type: "limits-answered", turn, states } satisfies Answers);
}

function count(limiter: RateLimiter, { what, bucket, key }: Ask): Promise<LimitState | undefined> | LimitState | undefined {
  if (what !== "giveBack") return limiter[what](bucket, key);
  const given = limiter.giveBack(bucket, key);
  return given instanceof Promise ? given.then(() => undefined) : undefined;
}

/** Both ends are this program: the type tells the rest. */
function isOfType<Message extends { readonly type: string }>(message: unknown, type: Message["type"]): message is Message {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}
