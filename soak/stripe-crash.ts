/**
 * Kills the service while buyers pay at the fake Stripe, which keeps running. Some buyers pay, some are
 * declined first, and some give up at the same moment. The merchant captures and refunds. The fake sometimes
 * loses answers. At the end, the money at Stripe must be that of the orders, with no payment lost or
 * doubled.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { FakeStripe } from "#test/stripe/fake-stripe.ts";
import { withRetries } from "./checkout-crash.ts";
import {
  type Checkout,
  createReadyCart,
  createSessionWrite,
  createSubmitWrite,
  readSession,
  toCheckout,
} from "./checkout-shop.ts";
import type { Service } from "./service.ts";
import {
  createGraphqlWrite,
  openShop,
  parseAnswer,
  requireData,
  type SendRequest,
  type Shop,
} from "./shop.ts";
import { startStripeWebhooks, type StripeWebhooks } from "./stripe-webhooks.ts";

export const crashKey = "sk_test_crashTestAccount01";
const signingSecret = ["whsec", "signingSecretOfTheCrashTest"].join("_");

export interface StripeCrashPlan {
  readonly stripe: FakeStripe;
  readonly buyers: number;
  readonly kills: number;
  /** The average number of submissions per kill. The actual number is 50 to 150 percent of it. */
  readonly submitsPerKill: number;
  readonly onStep?: (text: string) => void;
  /** Starts the service after the last kill; if left out, the service is started as after the other kills. */
  readonly startLast?: () => Promise<void>;
}

export interface StripeCrashResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly sessionIds: readonly string[];
  readonly violations: readonly string[];
}

interface Run {
  readonly ask: SendRequest;
  readonly shop: Shop;
  readonly stripe: FakeStripe;
  readonly submitted: Checkout[];
  readonly sessionIds: string[];
  readonly captured: Set<string>;
  refunds: number;
  readonly violations: string[];
}

const lostShare = 0.05;
const aimMsMax = 20;
const pauseMs = 25;

export async function runStripeCrash(service: Service, plan: StripeCrashPlan): Promise<StripeCrashResult> {
  const { stripe, kills, submitsPerKill, onStep, startLast = () => service.start() } = plan;
  const shop = await openShop(service.ask, service.access);
  const run: Run = {
    ask: withRetries(service.ask),
    shop,
    stripe,
    submitted: [],
    sessionIds: [],
    captured: new Set(),
    refunds: 0,
    violations: [],
  };
  const url = await connect(run, service);
  const webhooks = startStripeWebhooks(stripe, { url, signingSecret });
  stripe.faultOf = ({ method }) =>
    method === "POST" && Math.random() < lostShare
      ? Math.random() < 0.5
        ? "lost_answer"
        : "lost_request"
      : undefined;
  const end = new AbortController();
  const work = [
    ...Array.from({ length: plan.buyers }, (_, index) => runBuyer(run, index, end.signal)),
    payOpenPages(run, end.signal),
    runMerchant(run, end.signal),
  ];
  let done = 0;
  for (; done < kills && run.violations.length === 0; done += 1) {
    const until = run.submitted.length + Math.round(submitsPerKill * (0.5 + Math.random()));
    while (run.submitted.length < until && run.violations.length === 0) await sleep(1);
    await sleep(Math.random() * aimMsMax);
    await service.kill();
    if (done + 1 === kills) stripe.faultOf = () => undefined;
    await (done + 1 === kills ? startLast() : service.start());
    onStep?.(`${service.engine}: ${done + 1} kills, ${run.submitted.length} submitted`);
  }
  end.abort();
  await Promise.all(work);
  return finish(run, webhooks, done);
}

/** Connects the account of the fake, and returns the address of its webhooks. */
async function connect({ ask, shop }: Run, service: Service): Promise<string> {
  const query = `mutation ($key: String!, $input: PaymentProviderConnectInput!) {
    paymentProviderConnect(idempotencyKey: $key, input: $input) { paymentConnection { id } } }`;
  const input = { secretKey: crashKey, webhookSigningSecret: signingSecret };
  const { request } = createGraphqlWrite(shop, { token: "admin", query, variables: { input } });
  const { paymentConnection } = requireData(parseAnswer(await ask(request)))["paymentProviderConnect"] as {
    readonly paymentConnection: { readonly id: string };
  };
  return `http://127.0.0.1:${service.port}/payments/stripe/${paymentConnection.id}/events`;
}

/** Every fourth checkout is given up while the buyer may be paying. */
const isGivenUp = (turn: number): boolean => turn % 4 === 3;

async function runBuyer(run: Run, index: number, signal: AbortSignal): Promise<void> {
  const { ask, shop, violations } = run;
  for (let turn = index; !signal.aborted && violations.length === 0; turn += 1) {
    try {
      const created = await ask(createSessionWrite(shop, await createReadyCart(ask, shop)).request);
      const checkout = toCheckout(parseAnswer(created));
      run.sessionIds.push(checkout.sessionId);
      requireData(parseAnswer(await ask(createSubmitWrite(shop, checkout).request)));
      run.submitted.push(checkout);
      if (isGivenUp(turn)) await giveUp(run, checkout);
    } catch (error) {
      violations.push(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Gives a payment up. The service refuses it if the payment has just succeeded. */
async function giveUp({ ask, shop }: Run, { sessionId }: Checkout): Promise<void> {
  await sleep(Math.random() * 10 * aimMsMax);
  const query = `mutation ($sessionId: ID!, $key: String!, $input: HostedCheckoutSessionFailInput!) {
    hostedCheckoutSessionFail(sessionId: $sessionId, idempotencyKey: $key, input: $input) { status } }`;
  const variables = { sessionId, input: { reason: "BUYER_GAVE_UP" } };
  await ask(createGraphqlWrite(shop, { token: "storefront", query, variables }).request);
}

/**
 * Returns the pages that the service has read at Stripe, so that it has stored their URL. Nobody can pay on a
 * page whose URL was lost with Stripe's answer, because the checkout page never shows it.
 */
const pagesWithUrl = ({ requests }: FakeStripe): ReadonlySet<string> =>
  new Set(
    requests.flatMap(({ method, path }) => {
      const [, id] = /^\/v1\/checkout\/sessions\/(\w+)\?/.exec(path) ?? [];
      return method === "GET" && id !== undefined ? [id] : [];
    }),
  );

/**
 * Pays on every open page whose URL buyers know. Some buyers are declined first, and some answer a question
 * of the bank.
 */
async function payOpenPages({ stripe }: Run, signal: AbortSignal): Promise<void> {
  const { state } = stripe;
  const seen = new Set<string>();
  while (!signal.aborted) {
    const known = pagesWithUrl(stripe);
    for (const session of state.sessions.values()) {
      if (session.status !== "open" || seen.has(session.id) || !known.has(session.id)) continue;
      seen.add(session.id);
      const dice = Math.random();
      if (dice < 0.2) state.pay(session, "decline");
      if (dice > 0.8) {
        state.pay(session, "challenge");
        state.answerChallenge(session, true);
      } else state.pay(session, "success");
    }
    await sleep(pauseMs);
  }
}

/** The number of the latest checkouts whose payments are captured and refunded during the kills. */
const recentCheckouts = 100;

/** Captures the payments of placed orders, and refunds a part of every second payment. */
async function runMerchant(run: Run, signal: AbortSignal): Promise<void> {
  const { violations } = run;
  while (!signal.aborted && violations.length === 0) {
    try {
      for (const { sessionId } of run.submitted.slice(-recentCheckouts))
        await (signal.aborted ? undefined : moveMoney(run, sessionId));
    } catch (error) {
      violations.push(error instanceof Error ? error.message : String(error));
    }
    await sleep(pauseMs);
  }
}

interface SeenOrder {
  readonly id: string;
  readonly payments: readonly { readonly id: string; readonly status: string }[];
  readonly refunds: readonly { readonly id: string }[];
}

async function moveMoney(run: Run, sessionId: string): Promise<void> {
  const { ask, shop, captured } = run;
  const { orderId } = await readSession(ask, shop, sessionId);
  if (orderId === null) return;
  const order = await readOrder(run, orderId);
  const [payment] = order?.payments ?? [];
  if (payment === undefined) return;
  if (payment.status === "AUTHORIZED" && !captured.has(payment.id)) {
    captured.add(payment.id);
    const query = `mutation ($id: ID!, $key: String!) {
      paymentCapture(paymentId: $id, idempotencyKey: $key, input: {}) { status } }`;
    await ask(createGraphqlWrite(shop, { token: "admin", query, variables: { id: payment.id } }).request);
  }
  if (payment.status === "CAPTURED" && order?.refunds.length === 0 && captured.size % 2 === 0) {
    run.refunds += 1;
    const query = `mutation ($id: ID!, $key: String!, $input: RefundCreateInput!) {
      refundCreate(orderId: $id, idempotencyKey: $key, input: $input) { id } }`;
    const input = { amount: { amountMinor: 100, currency: "EUR" }, reason: "OTHER" };
    await ask(createGraphqlWrite(shop, { token: "admin", query, variables: { id: orderId, input } }).request);
  }
}

async function readOrder({ ask, shop }: Run, id: string): Promise<SeenOrder | null> {
  const query = "query ($id: ID!) { order(id: $id) { id payments { id status } refunds { id } } }";
  const { request } = createGraphqlWrite(shop, { token: "admin", query, variables: { id } });
  return requireData(parseAnswer(await ask(request)))["order"] as SeenOrder | null;
}

const lastRounds = 2;
const lastRoundMs = 2_000;
/** The maximum number of milliseconds to wait for outcomes; longer than a lease of a killed process. */
const settledMsMax = 120_000;

async function finish(run: Run, webhooks: StripeWebhooks, kills: number): Promise<StripeCrashResult> {
  const { ask, shop, submitted, sessionIds, violations } = run;
  const stopPaying = new AbortController();
  const paying = payOpenPages(run, stopPaying.signal);
  const until = performance.now() + settledMsMax;
  let ordered = 0;
  for (const { sessionId } of submitted) {
    let session = await readSession(ask, shop, sessionId);
    while (session.status === "PROCESSING" && performance.now() < until) {
      await sleep(10 * pauseMs);
      session = await readSession(ask, shop, sessionId);
    }
    if (session.status === "PROCESSING") violations.push(`${sessionId} is still being processed.`);
    if (session.orderId !== null) ordered += 1;
  }
  // The payments that were not captured and refunded yet.
  for (let round = 0; round < lastRounds; round += 1) {
    for (const { sessionId } of submitted) await moveMoney(run, sessionId);
    await sleep(lastRoundMs);
  }
  stopPaying.abort();
  await Promise.all([paying, webhooks.stop()]);
  const counts = {
    kills,
    submitted: submitted.length,
    ordered,
    captures: run.captured.size,
    refunds: run.refunds,
    webhooks: webhooks.delivered(),
  };
  return { counts, sessionIds, violations };
}
