/**
 * Figure 7. Whoever submits, cancels or completes the same checkouts at the same moment: each ends in one
 * way, each is paid once, and a use or a unit that is there once is given once.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  cancelWrite,
  type Checkout,
  createSingleUseCode,
  openCheckout,
  readSession,
  submitWrite,
} from "./checkout-shop.ts";
import { type Ask, readAnswer, type Shop, type ParsedAnswer, type Write } from "./shop.ts";

export interface RaceRun {
  /** Of one process, or of several on one database. */
  readonly doors: readonly [Ask, ...Ask[]];
  readonly shop: Shop;
  /** Until the provider has answered whatever was asked; looked at again and again. */
  readonly settle: () => Promise<void>;
  readonly violations: string[];
  /** Every session that was opened, to be looked into afterwards. */
  readonly sessionIds: string[];
  readonly counts: RaceCounts;
}

/** What was won by whom: a race that always ends the same way is none. */
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

const senderOf = ({ doors }: RaceRun, index: number): Ask => doors[index % doors.length] ?? doors[0];

async function sendWrite(races: RaceRun, { asked }: Write, index: number): Promise<ParsedAnswer> {
  return readAnswer(await senderOf(races, index)(asked));
}

async function open(races: RaceRun, code?: string): Promise<Checkout> {
  const checkout = await openCheckout(races.doors[0], races.shop, code);
  races.sessionIds.push(checkout.sessionId);
  return checkout;
}

/** As a client does that is told to come again. */
async function cancelUntilDecided(races: RaceRun, checkout: Checkout): Promise<ParsedAnswer> {
  for (;;) {
    const told = await sendWrite(races, cancelWrite(races.shop, checkout), 1);
    if (told.code !== "checkout_session_processing") return told;
    await races.settle();
  }
}

const waitMsMax = 8;
const waitShortly = (): Promise<void> => sleep(Math.random() * waitMsMax);

/**
 * A buyer pays, and somebody cancels until it is decided: who comes first takes turns, and the other a moment
 * at most to follow.
 */
export async function raceCancel(races: RaceRun): Promise<void> {
  const { shop, violations, counts } = races;
  const checkout = await open(races);
  const submit = (): Promise<ParsedAnswer> => sendWrite(races, submitWrite(shop, checkout), 0);
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
    const seen = await readSession(races.doors[0], races.shop, sessionId);
    if (seen.status !== "PROCESSING" || performance.now() > until) return seen;
    await races.settle();
  }
}

/**
 * A code that is there once, in as many checkouts as are submitted at once: one gets it, and nobody else is
 * asked for money.
 */
export async function raceSingleUse(races: RaceRun, copies: number): Promise<void> {
  const { doors, shop, violations, counts } = races;
  const code = `ONCE-${randomUUID().slice(0, 8)}`;
  await createSingleUseCode(doors[0], shop, code);
  const checkouts: Checkout[] = [];
  for (let copy = 0; copy < copies; copy += 1) checkouts.push(await open(races, code));
  const told = await Promise.all(
    checkouts.map((checkout, index) => sendWrite(races, submitWrite(shop, checkout), index)),
  );
  const won = told.filter((one) => one.code === undefined);
  const lost = told.filter((one) => one.code === "promotion_not_applicable");
  if (won.length !== 1 || lost.length !== copies - 1)
    violations.push(`${code}, which is there once, was given ${won.length} times: ${summarizeCodes(told)}.`);
  for (const [index, checkout] of checkouts.entries()) {
    const { status } = await untilDecided(races, checkout);
    const expected = told[index]?.code === undefined ? "COMPLETED" : "OPEN";
    if (status !== expected)
      violations.push(`${checkout.sessionId} is ${status}, and should be ${expected}.`);
  }
  counts["single uses"] += 1;
  counts["turned away"] += lost.length;
}

/** A buyer who pays many times at once pays once. */
export async function raceSubmits(races: RaceRun, copies: number): Promise<void> {
  const { shop, violations, counts } = races;
  const checkout = await open(races);
  const told = await Promise.all(
    Array.from({ length: copies }, (_, index) => sendWrite(races, submitWrite(shop, checkout), index)),
  );
  const won = told.filter((one) => one.code === undefined);
  const lost = told.filter(
    (one) => one.code === "checkout_session_processing" || one.code === "checkout_session_completed",
  );
  if (won.length !== 1 || lost.length !== copies - 1)
    violations.push(`${checkout.sessionId} was submitted ${won.length} times: ${summarizeCodes(told)}.`);
  const { status } = await untilDecided(races, checkout);
  if (status !== "COMPLETED") violations.push(`${checkout.sessionId} is ${status} after it was paid.`);
  counts.submits += 1;
}

function summarizeCodes(told: readonly ParsedAnswer[]): string {
  const groups = Map.groupBy(told, ({ code }) => code ?? "done");
  return [...groups].map(([name, { length }]) => `${length} × ${name}`).join(", ");
}
