/**
 * Figure 16, first half. The service is told to stop while clients ask it as fast as they can. What was asked
 * before it was told is answered: no answer is a failure, whatever it was that was asked, and so is one that
 * breaks off and a 5xx. What was asked after that may find the door closed, on a new connection or on one
 * that was kept: it is sent to the next process, where it must be new, or a change was made and nobody was
 * told.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import { type HttpAnswer, openShop, readAnswer, type Shop, stockWrite, type Write } from "./shop.ts";

export interface StopPlan {
  readonly clients: number;
  /** Told to stop after so many answers; it varies by half. */
  readonly answersPerStop: number;
  readonly isOver: (counts: { readonly stops: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

interface Load {
  readonly service: Service;
  readonly shop: Shop;
  readonly counts: { stops: number; answers: number; failed: number; turnedAway: number };
  readonly violations: string[];
  /** What found the door closed, to be sent again. */
  readonly turnedAway: Write[];
  isToldToStop: boolean;
}

export async function runStop(service: Service, plan: StopPlan): Promise<Report> {
  const counts = { stops: 0, answers: 0, failed: 0, turnedAway: 0 };
  const shop = await openShop(service.ask, service.access);
  const load: Load = { service, shop, counts, violations: [], turnedAway: [], isToldToStop: false };
  for (;;) {
    await stopUnderLoad(load, plan);
    counts.stops += 1;
    plan.onStep?.(
      `${service.engine}: ${counts.stops} stops, ${counts.answers} answers, ${counts.turnedAway} turned away`,
    );
    const isLast = plan.isOver(counts) || load.violations.length > 0;
    await service.start();
    await sendAgain(load);
    if (isLast) break;
  }
  const { turnedAway, ...others } = counts;
  return {
    figure: "stop",
    engine: service.engine,
    counts: { ...others, "turned away": turnedAway },
    violations: [...load.violations, ...service.faults],
  };
}

async function stopUnderLoad(load: Load, { clients, answersPerStop }: StopPlan): Promise<void> {
  const { service, counts } = load;
  load.isToldToStop = false;
  const asking = Promise.all(Array.from({ length: clients }, (_, index) => runClient(load, index)));
  const until = counts.answers + Math.round(answersPerStop * (0.5 + Math.random()));
  while (counts.answers < until && load.violations.length === 0) await sleep(1);
  load.isToldToStop = true;
  const code = await service.stop();
  if (code !== 0) load.violations.push(`It ended with ${code}.`);
  await asking;
}

/** Whoever finds the door closed so often goes home. */
const triesMax = 3;

/** Every third client reads. */
async function runClient(load: Load, index: number): Promise<void> {
  for (let tries = 0; tries < triesMax && load.violations.length === 0;) {
    const { shop } = load;
    const variantId = shop.variantIds[index % shop.variantIds.length] ?? "";
    const isAnswered =
      index % 3 === 2 ? await sendRead(load) : await sendChange(load, stockWrite(shop, variantId));
    if (!isAnswered) tries += 1;
  }
}

async function sendChange(load: Load, write: Write): Promise<boolean> {
  const isAnswered = await sendOnce(load, write.asked);
  if (!isAnswered) load.turnedAway.push(write);
  return isAnswered;
}

function sendRead(load: Load): Promise<boolean> {
  const headers = { authorization: `Bearer ${load.shop.access.keys.full}` };
  return sendOnce(load, { method: "GET", url: "/api/v1/open/identity", headers, body: undefined });
}

const pauseMs = 5;

/** Or the door was closed. */
async function sendOnce(load: Load, asked: Write["asked"]): Promise<boolean> {
  const { service, counts, violations } = load;
  const isInTime = !load.isToldToStop;
  const answered = await service.ask(asked).catch((error: unknown) => error);
  if (answered instanceof Error) {
    const { message } = answered;
    if (message === "aborted")
      fail({ counts, violations }, `An answer to ${asked.method} ${asked.url} broke off.`);
    else if (isInTime)
      fail(
        { counts, violations },
        `${asked.method} ${asked.url} was asked before the service was told to stop: ${message}`,
      );
    counts.turnedAway += 1;
    await sleep(pauseMs);
    return false;
  }
  const { status, code, text } = readAnswer(answered as HttpAnswer);
  counts.answers += 1;
  if (status !== 200 || code !== undefined)
    fail(
      { counts, violations },
      `${asked.method} ${asked.url} was answered with ${status}: ${text.slice(0, 300)}`,
    );
  return true;
}

function fail({ counts, violations }: Pick<Load, "counts" | "violations">, violation: string): void {
  counts.failed += 1;
  violations.push(violation);
}

const sentAtOnce = 8;

/** Each is new to the next process, or the last one had made a change and told nobody. */
async function sendAgain(load: Load): Promise<void> {
  const writes = load.turnedAway.splice(0);
  for (let start = 0; start < writes.length; start += sentAtOnce)
    await Promise.all(
      writes.slice(start, start + sentAtOnce).map(async ({ key, asked }) => {
        const told = readAnswer(await load.service.ask(asked));
        if (told.isReplay) fail(load, `${key} had been done, and whoever asked was not told.`);
        if (told.status !== 200 || told.code !== undefined)
          fail(load, `${key} sent again was answered with ${told.status}: ${told.text.slice(0, 300)}`);
      }),
    );
}
