/**
 * Counts requests against their rate limits, for all processes of the service on one machine. The parent
 * process counts, and the other processes send messages to it. One message contains all requests of one event
 * loop turn, and one message answers it. While the parent does not answer, each process counts its own
 * requests, so that no request fails and limits stay in force.
 *
 * The class RateLimiterCluster of the package rate-limiter-flexible 11.4.0 is not used, because it would fail
 * test/gateway/shared-limiter.test.ts and test/process/processes.test.ts. The reasons, with line numbers of
 * lib/RateLimiterCluster.js: A process whose parent has ended exits with ERR_IPC_CHANNEL_CLOSED when it
 * counts a request (80). Without an insuranceLimiter, each request waits for the whole timeout while the
 * parent does not answer (183). Answers that arrive too late are dropped, although they show that the parent
 * answers again (130). Each request is sent in a separate message (80). The parent's table of callers has no
 * size limit (209).
 */
import { type RateLimitBucket, type RateLimitQuotaFactors, getScaledRateLimitQuota } from "#access/viewer.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryRateLimiter, type RateLimitUsage, type RateLimiter } from "./rate-limiter.ts";

/** One end of a message channel between two processes, for example between a parent process and its child. */
export interface InterProcessMessagePort {
  /** Sends a message; returns false if the other process has ended. */
  send(message: object): boolean;
  onMessage(listener: (message: unknown) => void): void;
}

interface LimitRequest {
  readonly action: "consume" | "peek" | "giveBack";
  readonly bucket: RateLimitBucket;
  readonly key: string;
  /** The points for which the request counts; only for the action `consume`. */
  readonly points?: number;
}

interface LimitRequestBatch {
  readonly type: "limits-asked";
  readonly turn: number;
  readonly requests: readonly LimitRequest[];
}

interface LimitAnswerBatch {
  readonly type: "limits-answered";
  readonly turn: number;
  /**
   * The state of the caller's quota for each counted request of the message, in the same order; null if rate
   * limits are off.
   */
  readonly states: readonly (RateLimitUsage | null)[];
}

interface PendingRequest extends LimitRequest {
  readonly answer: (state: RateLimitUsage | undefined | PromiseLike<RateLimitUsage | undefined>) => void;
}

const timeoutMs = 1_000;

/** Creates the rate limiter of a child process, which sends its requests to the parent process to be counted. */
export function createChildProcessRateLimiter(
  port: InterProcessMessagePort,
  { scale, log }: { readonly scale: RateLimitQuotaFactors; readonly log: Log },
): RateLimiter {
  const ownLimiter = createMemoryRateLimiter(scale);
  let isAway = false;
  const channel = openChannel(port, {
    countHere: (waiting) => {
      for (const request of waiting) request.answer(count(ownLimiter, request));
    },
    recordParentState: (isReachable) => {
      if (isAway === !isReachable) return;
      isAway = !isReachable;
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
  const send = (request: LimitRequest): Promise<RateLimitUsage | undefined> | RateLimitUsage | undefined => {
    if (getScaledRateLimitQuota(request.bucket, scale) === undefined) return undefined;
    return isAway ? count(ownLimiter, request) : channel.send(request);
  };
  return {
    consume: (bucket, key, points = 1) => send({ action: "consume", bucket, key, points }),
    peek: (bucket, key) => send({ action: "peek", bucket, key }),
    giveBack: async (bucket, key) => void (await send({ action: "giveBack", bucket, key })),
    isAway: () => isAway,
    close: () => {
      channel.countUnanswered();
      return ownLimiter.close();
    },
  };
}

interface ChannelOptions {
  readonly countHere: (waiting: readonly PendingRequest[]) => void;
  readonly recordParentState: (isReachable: boolean) => void;
}

interface Channel {
  readonly send: (request: LimitRequest) => Promise<RateLimitUsage | undefined>;
  /** Counts in this process all requests that the parent process was asked to count and has not answered. */
  readonly countUnanswered: () => void;
}

function openChannel(
  port: InterProcessMessagePort,
  { countHere, recordParentState }: ChannelOptions,
): Channel {
  const sent = new Map<
    number,
    { readonly waiting: readonly PendingRequest[]; readonly timer: NodeJS.Timeout }
  >();
  let queued: PendingRequest[] = [];
  let turn = 0;
  const countUnanswered = (): void => {
    for (const { waiting, timer } of sent.values()) {
      clearTimeout(timer);
      countHere(waiting);
    }
    sent.clear();
  };
  const handleNoAnswer = (lateTurn: number): void => {
    if (!sent.has(lateTurn)) return;
    recordParentState(false);
    countUnanswered();
  };
  const sendBatch = (): void => {
    const waiting = queued;
    queued = [];
    turn += 1;
    const requests = waiting.map(({ answer: _answer, ...request }): LimitRequest => request);
    // `setImmediate` makes the process read messages before `handleNoAnswer` runs. If the process was busy,
    // the parent's answer may have arrived in time without being read.
    const timer = setTimeout(
      (lateTurn: number) => setImmediate(handleNoAnswer, lateTurn),
      timeoutMs,
      turn,
    ).unref();
    sent.set(turn, { waiting, timer });
    if (!port.send({ type: "limits-asked", turn, requests } satisfies LimitRequestBatch))
      handleNoAnswer(turn);
  };
  port.onMessage((message) => {
    if (!isOfType<LimitAnswerBatch>(message, "limits-answered")) return;
    // Every answer, even one that arrives after the timeout, shows that the parent process answers again.
    recordParentState(true);
    const { waiting = [], timer } = sent.get(message.turn) ?? {};
    clearTimeout(timer);
    sent.delete(message.turn);
    for (const [index, request] of waiting.entries()) request.answer(message.states[index] ?? undefined);
  });
  return {
    send: (request) =>
      new Promise((answer) => {
        if (queued.push({ ...request, answer }) === 1) setImmediate(sendBatch);
      }),
    countUnanswered,
  };
}

/**
 * Runs in the parent process. Counts the requests that a child process reports over its message channel, and
 * answers with the state of the rate limits.
 */
export function answerRateLimitRequestsOfChildProcess(
  port: InterProcessMessagePort,
  limiter: RateLimiter,
): void {
  port.onMessage((message) => {
    if (isOfType<LimitRequestBatch>(message, "limits-asked")) void answerBatch(port, message, limiter);
  });
}

async function answerBatch(
  port: InterProcessMessagePort,
  { turn, requests }: LimitRequestBatch,
  limiter: RateLimiter,
): Promise<void> {
  const states = await Promise.all(requests.map(async (request) => (await count(limiter, request)) ?? null));
  port.send({ type: "limits-answered", turn, states } satisfies LimitAnswerBatch);
}

function count(
  limiter: RateLimiter,
  { action, bucket, key, points }: LimitRequest,
): Promise<RateLimitUsage | undefined> | RateLimitUsage | undefined {
  if (action !== "giveBack") return limiter[action](bucket, key, points);
  const done = limiter.giveBack(bucket, key);
  return done instanceof Promise ? done.then(() => undefined) : undefined;
}

/**
 * Returns whether a message between processes has the given type. The other fields are not checked, because
 * both processes run this program.
 */
function isOfType<Message extends { readonly type: string }>(
  message: unknown,
  type: Message["type"],
): message is Message {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}
