/**
 * Figure 7, while the service is killed again and again in the middle of payments. Buyers check out and pay
 * with all that the provider knows how to answer; whoever gets no answer asks again under the same key. When
 * nothing is under way any more, every payment that went through has its order or was given back, and every
 * order its payment.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Checkout,
  toCheckout,
  createWrite,
  readSession,
  createReadyCart,
  type SessionState,
  submitWrite,
} from "./checkout-shop.ts";
import type { Service } from "./service.ts";
import { type Ask, readAnswer, type Shop, type ParsedAnswer, type Write } from "./shop.ts";

export interface CheckoutLoad {
  readonly ask: Ask;
  readonly shop: Shop;
  readonly violations: string[];
  /** Every session whose submission was answered with yes. */
  readonly submitted: { readonly checkout: Checkout; readonly token: string }[];
  readonly sessionIds: string[];
  unanswered: number;
}

export function createCheckoutLoad(ask: Ask, shop: Shop): CheckoutLoad {
  const buying: CheckoutLoad = {
    ask: withRetries(ask, { onLost: () => void (buying.unanswered += 1) }),
    shop,
    violations: [],
    submitted: [],
    sessionIds: [],
    unanswered: 0,
  };
  return buying;
}

export interface KillPlan {
  /** All that are to be killed, at the same moment. */
  readonly services: readonly Service[];
  readonly buyers: number;
  readonly kills: number;
  /** Killed after so many submissions; it varies by half. */
  readonly submitsPerKill: number;
}

/** Between a submission and its payment there are a few milliseconds: the kill comes anywhere in them. */
const aimMsMax = 20;

/** Buyers pay until the last kill. Gives how many there were. */
export async function buyAndKill(
  buying: CheckoutLoad,
  { services, buyers, kills, submitsPerKill }: KillPlan,
): Promise<number> {
  const end = new AbortController();
  const isBroken = (): boolean =>
    buying.violations.length > 0 || services.some(({ faults }) => faults.length > 0);
  const all = Promise.all(
    Array.from({ length: buyers }, (_, index) => runBuyer(buying, { index, signal: end.signal })),
  );
  let done = 0;
  try {
    for (; done < kills && !isBroken(); done += 1) {
      const until = buying.submitted.length + Math.round(submitsPerKill * (0.5 + Math.random()));
      while (buying.submitted.length < until && !isBroken()) await sleep(1);
      await sleep(Math.random() * aimMsMax);
      await Promise.all(services.map((service) => service.kill()));
      for (const service of services) await service.start();
    }
  } finally {
    end.abort();
  }
  await all;
  return done;
}

const tokens = ["tok_success", "tok_success", "tok_slow", "tok_decline"];

async function runBuyer(
  buying: CheckoutLoad,
  { index, signal }: { readonly index: number; readonly signal: AbortSignal },
): Promise<void> {
  const { ask, shop, violations } = buying;
  for (let turn = index; !signal.aborted && violations.length === 0; turn += 1) {
    const token = tokens[turn % tokens.length] ?? "tok_success";
    try {
      const checkout = toCheckout(
        readAnswer(await ask(createWrite(shop, await createReadyCart(ask, shop)).asked)),
      );
      buying.sessionIds.push(checkout.sessionId);
      requireDone(readAnswer(await ask(submitWrite(shop, checkout, token).asked)));
      buying.submitted.push({ checkout, token });
    } catch (error) {
      violations.push(error instanceof Error ? error.message : String(error));
    }
  }
}

function requireDone({ code, text }: ParsedAnswer): void {
  if (code !== undefined) throw new Error(`A submission was refused with ${code}: ${text.slice(0, 300)}`);
}

const pauseMs = 25;
const later: ReadonlySet<string | undefined> = new Set(["idempotency_in_progress", "service_unavailable"]);

interface RetryOptions {
  readonly onLost?: () => void;
  /** Of a service that is not started again: whoever gets no answer when it has any gets none, ever. */
  readonly faults?: readonly string[];
}

/** As a client does that was told to: again after a lost connection, a key in use, and a service that is away. */
export function withRetries(ask: Ask, { onLost, faults = [] }: RetryOptions = {}): Ask {
  return async (asked: Write["asked"]) => {
    for (let isLost = false; ;) {
      const answered = await ask(asked).catch(() => undefined);
      if (answered !== undefined && !later.has(readAnswer(answered).code)) return answered;
      if (answered === undefined && faults.length > 0) throw new Error(faults[0]);
      if (answered === undefined && !isLost) onLost?.();
      isLost ||= answered === undefined;
      await sleep(pauseMs);
    }
  };
}

/** Longer than whoever died held what it worked on. */
const settledMsMax = 90_000;
const lookMs = 250;

/** Waits until nobody waits, and holds each end to what its buyer paid with. */
export async function awaitDecisions({
  ask,
  shop,
  submitted,
  violations,
}: CheckoutLoad): Promise<Record<"ordered" | "declined", number>> {
  const until = performance.now() + settledMsMax;
  const counts = { ordered: 0, declined: 0 };
  for (const { checkout, token } of submitted) {
    let seen: SessionState = await readSession(ask, shop, checkout.sessionId);
    while (seen.status === "PROCESSING" && performance.now() < until) {
      await sleep(lookMs);
      seen = await readSession(ask, shop, checkout.sessionId);
    }
    const expected = token === "tok_decline" ? "OPEN" : "COMPLETED";
    if (seen.status !== expected)
      violations.push(`${checkout.sessionId}, paid with ${token}, is ${seen.status}.`);
    counts[seen.orderId === null ? "declined" : "ordered"] += 1;
  }
  return counts;
}
