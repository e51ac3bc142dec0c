/**
 * The webhook dispatcher, which creates the deliveries of new events and sends them. The whole state is in
 * the database, so any number of processes can dispatch at the same time, and each process may stop at any
 * time. The only state in a process's memory is a list of endpoints to check first.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createWebhookDispatchRoundRunner, type WebhookDispatcherOptions } from "./round.ts";
import { createDueWorkPoller } from "#database/due-work-poll.ts";
import { findNextRetryTime } from "./claim-deliveries.ts";
import { createDispatchPasses } from "./passes.ts";

export interface WebhookDispatcher {
  /**
   * Starts a pass of the dispatcher: one search for new events and due deliveries, which are then sent.
   * Callers use this function when there are new events or due deliveries.
   */
  readonly wake: () => void;
  readonly start: () => void;
  /**
   * Stops the dispatcher. Waits up to `stopMsMax` for attempts in progress, then aborts them and releases
   * their deliveries.
   */
  readonly stop: () => Promise<void>;
  /** Sends all deliveries that are due now, and resolves when all attempts have ended. */
  readonly drain: () => Promise<void>;
}

const pollMs = 1_000;
const stopMsMaxDefault = 6_000;
export function createWebhookDispatcher(parts: WebhookDispatcherOptions): WebhookDispatcher {
  const { db, clock, log, stopMsMax = stopMsMaxDefault, areNoticesReceived = () => true } = parts;
  const round = createWebhookDispatchRoundRunner({
    ...parts,
    onAttempt: (attempt) => {
      poll.noteWork();
      parts.onAttempt?.(attempt);
    },
  });
  const passes = createDispatchPasses(round, (err) =>
    log.error({ err }, "Webhooks could not be dispatched."),
  );
  // Passes of the dispatcher run in a detached async context, so that they do not join the trace of the
  // request that called `wake`.
  const runDetached = AsyncLocalStorage.snapshot();
  /**
   * Starts a pass of the dispatcher. The pass also finds events and deliveries about which this process got
   * no notification. Returns the milliseconds until the next retry, if it is due before the next search.
   */
  const search = async (withinMs: number): Promise<number | undefined> => {
    const at = await findNextRetryTime(db, { now: clock.now(), withinMs }).catch((err: unknown) =>
      log.error({ err }, "Webhooks that are due could not be looked for."),
    );
    passes.request({ isNotified: true });
    if (!at) return undefined;
    poll.noteWork();
    return at.getTime() - clock.now().getTime();
  };
  const poll = createDueWorkPoller({ search, everyMs: pollMs, areNoticesReceived });
  return {
    wake: () => {
      poll.noteWork();
      runDetached(() => passes.request({ isNotified: true }));
    },
    start: () => {
      passes.start();
      poll.start();
    },
    stop: async () => {
      await poll.stop();
      await passes.stop();
      await round.stop(stopMsMax);
    },
    drain: async () => {
      await round.findAllDueEndpoints();
      const options = {
        onAttemptEnded: () => undefined,
        onFullBatch: () => (isMore = true),
        wasNotified: true,
      };
      let isMore = true;
      for (let sent = 0; isMore || sent > 0;) {
        isMore = false;
        sent = await round.run(options);
        await round.waitUntilIdle();
      }
    },
  };
}
