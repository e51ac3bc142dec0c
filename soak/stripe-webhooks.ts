/**
 * Delivers the events of the fake Stripe to a service that is killed meanwhile, as Stripe does: at least
 * once, in any order, and again after every error.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { signFakeEvent, type FakeStripe } from "#test/stripe/fake-stripe.ts";
import type { FakeEvent } from "#test/stripe/fake-state.ts";

export interface WebhookTarget {
  readonly url: string;
  readonly signingSecret: string;
}

export interface StripeWebhooks {
  /** The number of requests that the service has answered with 200. */
  readonly delivered: () => number;
  /** Delivers the remaining events and ends. */
  readonly stop: () => Promise<void>;
}

const pauseMs = 20;
/** The share of events that are delivered twice. */
const doubledShare = 0.3;
const requestMsMax = 15_000;

export function startStripeWebhooks(
  { state }: Pick<FakeStripe, "state">,
  { url, signingSecret }: WebhookTarget,
): StripeWebhooks {
  let delivered = 0;
  const stopping = new AbortController();
  let taken = 0;
  const waiting: FakeEvent[] = [];
  const send = async (event: FakeEvent): Promise<void> => {
    const { body, headers } = signFakeEvent(event, signingSecret, new Date());
    const answer = await fetch(url, {
      method: "POST",
      body,
      headers,
      signal: AbortSignal.timeout(requestMsMax),
    }).catch(() => undefined);
    if (answer?.status === 200) delivered += 1;
    else waiting.push(event);
  };
  const take = (): void => {
    for (; taken < state.events.length; taken += 1) {
      const event = state.events[taken];
      if (event === undefined) break;
      waiting.push(event, ...(Math.random() < doubledShare ? [event] : []));
    }
  };
  const run = async (): Promise<void> => {
    for (take(); !stopping.signal.aborted || waiting.length > 0; take()) {
      const index = Math.floor(Math.random() * waiting.length);
      const [event] = waiting.splice(index, 1);
      if (event === undefined) await sleep(pauseMs);
      else {
        const left = waiting.length;
        await send(event);
        // After an error, the service is probably being restarted.
        if (waiting.length > left) await sleep(10 * pauseMs);
      }
    }
  };
  const running = run();
  return {
    delivered: () => delivered,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
