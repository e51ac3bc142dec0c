/**
 * Tests guarantee 7 for checkouts that are submitted, canceled and completed at the same moment. Each
 * checkout must end in one way and be paid at most once. A promotion code with a single use must be used
 * once.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createCancelWrite,
  type Checkout,
  createSingleUseCode,
  openCheckout,
  readSession,
  createSubmitWrite,
} from "./checkout-shop.ts";
import { type SendRequest, parseAnswer, type Shop, type ParsedAnswer, type Write } from "./shop.ts";

export interface RaceRun {
  /** Functions that each send requests to one process. All processes use the same database. */
  readonly senders: readonly [SendRequest, ...SendRequest[]];
  readonly shop: Shop;
  /** Waits briefly for answers of the payment provider. Called repeatedly until the session is decided. */
  readonly settle: () => Promise<void>;
  readonly violations: string[];
  /** All created sessions, which are checked at the end. */
  readonly sessionIds: string[];
  readonly counts: RaceCounts;
}

/** The results of the races. A race of cancel and submit must have both results to be a useful test. */
export type RaceCounts = Record<
  "rounds" | "completed" | "canceled" | "single uses" | "submits" | "turned away",
  number
>;

export const createRaceCounts = (): RaceCounts => ({
  rounds: 0,
  completed: 0,
  canceled: 0,
  "single uses": 0,
  submits: 0,
  "turned away": 0,
});

const senderOf = ({ senders }: RaceRun, index: number): SendRequest =>
  senders[index % senders.length] ?? senders[0];

async function sendWrite(races: RaceRun, { request }: Write, index: number): Promise<ParsedAnswer> {
  return parseAnswer(await senderOf(races, index)(request));
}

async function open(races: RaceRun, code?: string): Promise<Checkout> {
  const checkout = await openCheckout(races.senders[0], races.shop, code);
  races.sessionIds.push(checkout.sessionId);
  return checkout;
}

/** Cancels a checkout, and tries again while its payment is being processed. */
async function cancelUntilDecided(races: RaceRun, checkout: Checkout): Promise<ParsedAnswer> {
  for (;;) {
    const answer = await sendWrite(races, createCancelWrite(races.shop, checkout), 1);
    if (answer.code !== "checkout_session_processing") return answer;
    await races.settle();
  }
}

const waitMsMax = 8;
const waitShortly = (): Promise<void> => sleep(Math.random() * waitMsMax);

/**
 * Submits and cancels one checkout at the same time, from two clients. In turn, one of the two requests is
 * sent first, and the other follows at most a few milliseconds later.
 */
export async function raceCancel(races: RaceRun): Promise<void> {
  const { shop, violations, counts } = races;
  const checkout = await open(races);
  const submit = (): Promise<ParsedAnswer> => sendWrite(races, createSubmitWrite(shop, checkout), 0);
  const cancel = (): Promise<ParsedAnswer> => cancelUntilDecided(races, checkout);
  const isSubmitFirst = counts.rounds % 2 === 0;
  const [submitted, canceled] = await Promise.all(
    isSubmitFirst ? [submit(), waitShortly().then(cancel)] : [waitShortly().then(submit), cancel()],
  );
  const { status, orderId } = await untilDecided(races, checkout);
  const isCanceled = canceled.code === undefined;
  const expected = isCanceled
    ? ["CANCELED", null, "checkout_session_canceled", undefined]
    : ["COMPLETED", orderId ?? "an order", undefined, "checkout_session_completed"];
  const found = [status, orderId, submitted.code, canceled.code];
  if (found.some((one, index) => one !== expected[index]))
    violations.push(`${checkout.sessionId} is ${JSON.stringify(found)} after a cancel and a submit.`);
  counts.rounds += 1;
  counts[isCanceled ? "canceled" : "completed"] += 1;
}

const decidedMsMax = 30_000;

async function untilDecided(races: RaceRun, { sessionId }: Checkout): ReturnType<typeof readSession> {
  const until = performance.now() + decidedMsMax;
  for (;;) {
    const seen = await readSession(races.senders[0], races.shop, sessionId);
    if (seen.status !== "PROCESSING" || performance.now() > until) return seen;
    await races.settle();
  }
}

/** Submits several checkouts at once with one single-use code. Only one may succeed and be paid. */
export async function raceSingleUse(races: RaceRun, copies: number): Promise<void> {
  const { senders, shop, violations, counts } = races;
  const code = `ONCE-${randomUUID().slice(0, 8)}`;
  await createSingleUseCode(senders[0], shop, code);
  const checkouts: Checkout[] = [];
  for (let copy = 0; copy < copies; copy += 1) checkouts.push(await open(races, code));
  const answers = await Promise.all(
    checkouts.map((checkout, index) => sendWrite(races, createSubmitWrite(shop, checkout), index)),
  );
  const won = answers.filter((one) => one.code === undefined);
  const lost = answers.filter((one) => one.code === "promotion_not_applicable");
  if (won.length !== 1 || lost.length !== copies - 1)
    violations.push(`The single-use code ${code} was used ${won.length} times: ${summarizeCodes(answers)}.`);
  for (const [index, checkout] of checkouts.entries()) {
    const { status } = await untilDecided(races, checkout);
    const expected = answers[index]?.code === undefined ? "COMPLETED" : "OPEN";
    if (status !== expected) violations.push(`${checkout.sessionId} is ${status} instead of ${expected}.`);
  }
  counts["single uses"] += 1;
  counts["turned away"] += lost.length;
}

/** Submits one checkout many times at once. The checkout must be paid once. */
export async function raceSubmits(races: RaceRun, copies: number): Promise<void> {
  const { shop, violations, counts } = races;
  const checkout = await open(races);
  const answers = await Promise.all(
    Array.from({ length: copies }, (_, index) => sendWrite(races, createSubmitWrite(shop, checkout), index)),
  );
  const won = answers.filter((one) => one.code === undefined);
  const lost = answers.filter(
    (one) => one.code === "checkout_session_processing" || one.code === "checkout_session_completed",
  );
  if (won.length !== 1 || lost.length !== copies - 1)
    violations.push(`${checkout.sessionId} was submitted ${won.length} times: ${summarizeCodes(answers)}.`);
  const { status } = await untilDecided(races, checkout);
  if (status !== "COMPLETED") violations.push(`${checkout.sessionId} is ${status} after it was paid.`);
  counts.submits += 1;
}

function summarizeCodes(answers: readonly ParsedAnswer[]): string {
  const groups = Map.groupBy(answers, ({ code }) => code ?? "done");
  return [...groups].map(([name, { length }]) => `${length} × ${name}`).join(", ");
}
