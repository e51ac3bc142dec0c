/**
 * Tests the first part of guarantee 16. The service gets SIGTERM while clients send requests as fast as
 * possible. The service must answer every request that was sent before SIGTERM completely, and not with a 5xx
 * status. The service may refuse requests that are sent after SIGTERM. The clients repeat these requests at
 * the next process. If an answer is then a replay, the first process has made a change without an answer,
 * which is a violation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import { type HttpAnswer, openShop, parseAnswer, type Shop, createStockWrite, type Write } from "./shop.ts";

export interface StopPlan {
  readonly clients: number;
  /** The average number of answers before SIGTERM. The actual number is 50 to 150 percent of it. */
  readonly answersPerStop: number;
  readonly isOver: (counts: { readonly stops: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

interface Load {
  readonly service: Service;
  readonly shop: Shop;
  readonly counts: { stops: number; answers: number; failed: number; turnedAway: number };
  readonly violations: string[];
  /** Writes that were refused during the stop, to be sent again. */
  readonly turnedAway: Write[];
  isStopping: boolean;
}

export async function runStop(service: Service, plan: StopPlan): Promise<Report> {
  const counts = { stops: 0, answers: 0, failed: 0, turnedAway: 0 };
  const shop = await openShop(service.ask, service.access);
  const load: Load = { service, shop, counts, violations: [], turnedAway: [], isStopping: false };
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
  load.isStopping = false;
  const running = Promise.all(Array.from({ length: clients }, (_, index) => runClient(load, index)));
  const until = counts.answers + Math.round(answersPerStop * (0.5 + Math.random()));
  while (counts.answers < until && load.violations.length === 0) await sleep(1);
  load.isStopping = true;
  const code = await service.stop();
  if (code !== 0) load.violations.push(`The service ended with exit code ${code}.`);
  await running;
}

/** A client stops after this number of refused requests. */
const triesMax = 3;

/** Sends writes; every third client sends reads. */
async function runClient(load: Load, index: number): Promise<void> {
  for (let tries = 0; tries < triesMax && load.violations.length === 0;) {
    const { shop } = load;
    const variantId = shop.variantIds[index % shop.variantIds.length] ?? "";
    const isAnswered =
      index % 3 === 2 ? await sendRead(load) : await sendChange(load, createStockWrite(shop, variantId));
    if (!isAnswered) tries += 1;
  }
}

async function sendChange(load: Load, write: Write): Promise<boolean> {
  const isAnswered = await sendOnce(load, write.request);
  if (!isAnswered) load.turnedAway.push(write);
  return isAnswered;
}

function sendRead(load: Load): Promise<boolean> {
  const headers = { authorization: `Bearer ${load.shop.access.keys.full}` };
  return sendOnce(load, { method: "GET", url: "/api/v1/open/identity", headers, body: undefined });
}

const pauseMs = 5;

/** Sends a request. Returns false if the connection was refused. */
async function sendOnce(load: Load, request: Write["request"]): Promise<boolean> {
  const { service, counts, violations } = load;
  const isInTime = !load.isStopping;
  const answered = await service.ask(request).catch((error: unknown) => error);
  if (answered instanceof Error) {
    const { message } = answered;
    if (message === "aborted")
      fail({ counts, violations }, `The answer to ${request.method} ${request.url} is incomplete.`);
    else if (isInTime)
      fail(
        { counts, violations },
        `${request.method} ${request.url} was sent before SIGTERM and not answered: ${message}`,
      );
    counts.turnedAway += 1;
    await sleep(pauseMs);
    return false;
  }
  const { status, code, text } = parseAnswer(answered as HttpAnswer);
  counts.answers += 1;
  if (status !== 200 || code !== undefined)
    fail(
      { counts, violations },
      `${request.method} ${request.url} was answered with ${status}: ${text.slice(0, 300)}`,
    );
  return true;
}

function fail({ counts, violations }: Pick<Load, "counts" | "violations">, violation: string): void {
  counts.failed += 1;
  violations.push(violation);
}

const sentAtOnce = 8;

/** Repeats the refused writes. A replay means that the last process made the change without an answer. */
async function sendAgain(load: Load): Promise<void> {
  const writes = load.turnedAway.splice(0);
  for (let start = 0; start < writes.length; start += sentAtOnce)
    await Promise.all(
      writes.slice(start, start + sentAtOnce).map(async ({ key, request }) => {
        const answer = parseAnswer(await load.service.ask(request));
        if (answer.isReplay) fail(load, `${key} had been done without an answer.`);
        if (answer.status !== 200 || answer.code !== undefined)
          fail(load, `${key} sent again was answered with ${answer.status}: ${answer.text.slice(0, 300)}`);
      }),
    );
}
