/**
 * One count for the processes of one start: the parent process counts, and the others ask it. Questions of
 * one turn of the event loop are one message each way. While the parent does not answer, each process counts
 * by itself, so that no request fails and limits stay in force.
 *
 * RateLimiterCluster of rate-limiter-flexible 11.4.0 is not used, because it does not hold what
 * test/gateway/shared-limiter.test.ts and test/process/processes.test.ts require (lines of
 * lib/RateLimiterCluster.js): without its parent, a process that counts a request ends with
 * ERR_IPC_CHANNEL_CLOSED (80); it has no insuranceLimiter, and each request waits for the whole timeout again
 * while the parent does not answer (183); answers that arrive too late are dropped instead of showing that
 * the parent is back (130); each request is a message of its own (80); the parent's table of callers has no
 * bound (209).
 */
import { type RateBucket, scaledQuota } from "#access/viewer.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryLimiter, type LimitState, type RateLimiter } from "./rate-limiter.ts";

/** One end of the channel between two processes. */
export interface Port {
  /** False if the other end is gone. */
  send(message: object): boolean;
  onMessage(listener: (message: unknown) => void): void;
}

interface Question {
  readonly what: "consume" | "peek" | "giveBack";
  readonly bucket: RateBucket;
  readonly key: string;
}

interface Questions {
  readonly type: "limits-asked";
  readonly turn: number;
  readonly asks: readonly Question[];
}

interface Answers {
  readonly type: "limits-answered";
  readonly turn: number;
  /** In the order of the questions. */
  readonly states: readonly (LimitState | null)[];
}

interface Waiting extends Question {
  readonly answer: (state: LimitState | undefined | PromiseLike<LimitState | undefined>) => void;
}

const timeoutMs = 1_000;

/** The limiter of a process that asks its parent. */
export function createSharedLimiter(
  port: Port,
  { scale, log }: { readonly scale: number; readonly log: Log },
): RateLimiter {
  const alone = createMemoryLimiter(scale);
  let isAway = false;
  const channel = openChannel(port, {
    countAlone: (waiting) => {
      for (const one of waiting) one.answer(count(alone, one));
    },
    noteParent: (isThere) => {
      if (isAway === !isThere) return;
      isAway = !isThere;
      if (isAway)
        log.warn(
          { event: "rate_limiter_away" },
          "The process that counts does not answer: rate limits are counted per process.",
        );
      else
        log.info(
          { event: "rate_limiter_back" },
          "The process that counts answers: rate limits are shared again.",
        );
    },
  });
  const ask = (question: Question): Promise<LimitState | undefined> | LimitState | undefined => {
    if (scaledQuota(question.bucket, scale) === undefined) return undefined;
    return isAway ? count(alone, question) : channel.ask(question);
  };
  return {
    consume: (bucket, key) => ask({ what: "consume", bucket, key }),
    peek: (bucket, key) => ask({ what: "peek", bucket, key }),
    giveBack: async (bucket, key) => void (await ask({ what: "giveBack", bucket, key })),
    isAway: () => isAway,
    close: () => {
      channel.giveUp();
      return alone.close();
    },
  };
}

interface ChannelOptions {
  readonly countAlone: (waiting: readonly Waiting[]) => void;
  readonly noteParent: (isThere: boolean) => void;
}

interface Channel {
  readonly ask: (question: Question) => Promise<LimitState | undefined>;
  /** Counts here what waits for an answer. */
  readonly giveUp: () => void;
}

function openChannel(port: Port, { countAlone, noteParent }: ChannelOptions): Channel {
  const sent = new Map<number, { readonly waiting: readonly Waiting[]; readonly timer: NodeJS.Timeout }>();
  let gathered: Waiting[] = [];
  let turn = 0;
  const giveUp = (): void => {
    for (const { waiting, timer } of sent.values()) {
      clearTimeout(timer);
      countAlone(waiting);
    }
    sent.clear();
  };
  const lose = (lost: number): void => {
    if (!sent.has(lost)) return;
    noteParent(false);
    giveUp();
  };
  const sendQuestions = (): void => {
    const waiting = gathered;
    gathered = [];
    turn += 1;
    const asks = waiting.map(({ what, bucket, key }): Question => ({ what, bucket, key }));
    // If this process itself was busy for a second, the answer may have arrived: it is read before `lose`
    // runs.
    const timer = setTimeout((lost: number) => setImmediate(lose, lost), timeoutMs, turn).unref();
    sent.set(turn, { waiting, timer });
    if (!port.send({ type: "limits-asked", turn, asks } satisfies Questions)) lose(turn);
  };
  port.onMessage((message) => {
    if (!isOfType<Answers>(message, "limits-answered")) return;
    // An answer that arrives too late shows as well that the parent is back.
    noteParent(true);
    const { waiting = [], timer } = sent.get(message.turn) ?? {};
    clearTimeout(timer);
    sent.delete(message.turn);
    for (const [index, one] of waiting.entries()) one.answer(message.states[index] ?? undefined);
  });
  return {
    ask: (question) =>
      new Promise((answer) => {
        if (gathered.push({ ...question, answer }) === 1) setImmediate(sendQuestions);
      }),
    giveUp,
  };
}

/** In the parent process: answers the questions of the process at the other end. */
export function answerLimits(port: Port, limiter: RateLimiter): void {
  port.onMessage((message) => {
    if (isOfType<Questions>(message, "limits-asked")) void answerQuestions(port, message, limiter);
  });
}

async function answerQuestions(port: Port, { turn, asks }: Questions, limiter: RateLimiter): Promise<void> {
  const states = await Promise.all(asks.map(async (one) => (await count(limiter, one)) ?? null));
  port.send({ type: "limits-answered", turn, states } satisfies Answers);
}

function count(
  limiter: RateLimiter,
  { what, bucket, key }: Question,
): Promise<LimitState | undefined> | LimitState | undefined {
  if (what !== "giveBack") return limiter[what](bucket, key);
  const given = limiter.giveBack(bucket, key);
  return given instanceof Promise ? given.then(() => undefined) : undefined;
}

/** Both ends are this program, so the type of a message determines its shape. */
function isOfType<Message extends { readonly type: string }>(
  message: unknown,
  type: Message["type"],
): message is Message {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}
