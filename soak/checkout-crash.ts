/**
 * Tests guarantee 7 while the service is killed repeatedly during payments. Buyers check out, and pay with
 * tokens for all possible answers of the payment provider. A buyer who gets no answer repeats the request
 * with the same idempotency key. At the end, every successful payment must have an order or a refund, and
 * every order must be paid.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Checkout,
  toCheckout,
  createSessionWrite,
  readSession,
  createReadyCart,
  type SessionState,
  createSubmitWrite,
} from "./checkout-shop.ts";
import type { Service } from "./service.ts";
import { type SendRequest, parseAnswer, type Shop, type ParsedAnswer, type Write } from "./shop.ts";

export interface CheckoutLoad {
  readonly ask: SendRequest;
  readonly shop: Shop;
  readonly violations: string[];
  /** The checkouts whose submission was accepted. */
  readonly submitted: { readonly checkout: Checkout; readonly token: string }[];
  readonly sessionIds: string[];
  unanswered: number;
}

export function createCheckoutLoad(ask: SendRequest, shop: Shop): CheckoutLoad {
  const load: CheckoutLoad = {
    ask: withRetries(ask, { onLost: () => void (load.unanswered += 1) }),
    shop,
    violations: [],
    submitted: [],
    sessionIds: [],
    unanswered: 0,
  };
  return load;
}

export interface KillPlan {
  /** The processes that are killed at the same moment. */
  readonly services: readonly Service[];
  readonly buyers: number;
  readonly kills: number;
  /** The average number of submissions per kill. The actual number is 50 to 150 percent of it. */
  readonly submitsPerKill: number;
}

/**
 * The maximum delay of a kill after a submission in milliseconds. The delay is random, so that kills hit all
 * moments between a submission and its payment.
 */
const aimMsMax = 20;

/** Runs buyers until the last kill. Returns the number of kills. */
export async function buyAndKill(
  load: CheckoutLoad,
  { services, buyers, kills, submitsPerKill }: KillPlan,
): Promise<number> {
  const end = new AbortController();
  const isBroken = (): boolean =>
    load.violations.length > 0 || services.some(({ faults }) => faults.length > 0);
  const all = Promise.all(
    Array.from({ length: buyers }, (_, index) => runBuyer(load, { index, signal: end.signal })),
  );
  let done = 0;
  try {
    for (; done < kills && !isBroken(); done += 1) {
      const until = load.submitted.length + Math.round(submitsPerKill * (0.5 + Math.random()));
      while (load.submitted.length < until && !isBroken()) await sleep(1);
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
  load: CheckoutLoad,
  { index, signal }: { readonly index: number; readonly signal: AbortSignal },
): Promise<void> {
  const { ask, shop, violations } = load;
  for (let turn = index; !signal.aborted && violations.length === 0; turn += 1) {
    const token = tokens[turn % tokens.length] ?? "tok_success";
    try {
      const checkout = toCheckout(
        parseAnswer(await ask(createSessionWrite(shop, await createReadyCart(ask, shop)).request)),
      );
      load.sessionIds.push(checkout.sessionId);
      requireDone(parseAnswer(await ask(createSubmitWrite(shop, checkout, token).request)));
      load.submitted.push({ checkout, token });
    } catch (error) {
      violations.push(error instanceof Error ? error.message : String(error));
    }
  }
}

function requireDone({ code, text }: ParsedAnswer): void {
  if (code !== undefined) throw new Error(`A submission was refused with ${code}: ${text.slice(0, 300)}`);
}

const pauseMs = 25;
const retriedCodes: ReadonlySet<string | undefined> = new Set([
  "idempotency_in_progress",
  "service_unavailable",
  "upstream_timeout",
]);

interface RetryOptions {
  readonly onLost?: () => void;
  /**
   * The faults of the service. If there are any, an unanswered request is not repeated, because the service
   * is not restarted.
   */
  readonly faults?: readonly string[];
}

/** Adds retries: repeats a request after a lost connection, and after the errors in `retriedCodes`. */
export function withRetries(ask: SendRequest, { onLost, faults = [] }: RetryOptions = {}): SendRequest {
  return async (request: Write["request"]) => {
    for (let isLost = false; ;) {
      const answered = await ask(request).catch(() => undefined);
      if (answered !== undefined && !retriedCodes.has(parseAnswer(answered).code)) return answered;
      if (answered === undefined && faults.length > 0) throw new Error(faults[0]);
      if (answered === undefined && !isLost) onLost?.();
      isLost ||= answered === undefined;
      await sleep(pauseMs);
    }
  };
}

/** The maximum number of milliseconds to wait for decisions; longer than a lease of a killed process. */
const settledMsMax = 90_000;
const pollMs = 250;

/** Waits until all submitted checkouts are decided, and compares each result with its payment token. */
export async function awaitDecisions({
  ask,
  shop,
  submitted,
  violations,
}: CheckoutLoad): Promise<Record<"ordered" | "declined", number>> {
  const until = performance.now() + settledMsMax;
  const counts = { ordered: 0, declined: 0 };
  for (const { checkout, token } of submitted) {
    let session: SessionState = await readSession(ask, shop, checkout.sessionId);
    while (session.status === "PROCESSING" && performance.now() < until) {
      await sleep(pollMs);
      session = await readSession(ask, shop, checkout.sessionId);
    }
    const expected = token === "tok_decline" ? "OPEN" : "COMPLETED";
    if (session.status !== expected)
      violations.push(`${checkout.sessionId}, paid with ${token}, is ${session.status}.`);
    counts[session.orderId === null ? "declined" : "ordered"] += 1;
  }
  return counts;
}
