/**
 * Tests guarantee 3. A hundred clients repeat one write, which is held open in its transaction, every second,
 * as the header `Retry-After` requests. During this time, the 99th percentile of the latencies of unrelated
 * requests may at most double. Periods with and without the repeated requests alternate, so that other load
 * of the machine affects both.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Report } from "./report.ts";
import {
  createAddressWrite,
  type SendRequest,
  type HttpRequest,
  openCart,
  parseAnswer,
  type Shop,
  type Write,
} from "./shop.ts";

export interface BystandersPlan {
  readonly databaseUrl: string;
  readonly copies: number;
  /** Milliseconds of each period, with or without repeated requests. */
  readonly periodMs: number;
  /**
   * The number of unrelated requests per second, which are sent even if earlier requests are not answered
   * yet.
   */
  readonly perSecond: number;
  readonly isOver: () => boolean;
  readonly onStep?: (text: string) => void;
}

const ratioMax = 2;
const retryAfterMs = 1000;

export async function runBystanders(ask: SendRequest, shop: Shop, plan: BystandersPlan): Promise<Report> {
  const { id } = await openCart(ask, shop);
  const lockHolder = new Client({ connectionString: plan.databaseUrl });
  await lockHolder.connect();
  const violations: string[] = [];
  const [quiet, busy]: [number[], number[]] = [[], []];
  const counts = { spells: 0, duplicates: 0 };
  const unrelated: HttpRequest = {
    method: "GET",
    url: "/api/v1/open/identity",
    headers: { authorization: `Bearer ${shop.access.keys.full}` },
    body: undefined,
  };
  try {
    // The first period warms up the service; its latencies are not counted.
    await measure(ask, unrelated, plan);
    while (!plan.isOver()) {
      quiet.push(...(await measure(ask, unrelated, plan)));
      await lockHolder.query("begin");
      await lockHolder.query("select id from cart where id = $1 for update", [id]);
      const write = createAddressWrite(shop, id);
      const first = ask(write.request);
      await sleep(retryAfterMs / 4);
      const flood = startFlood(ask, write, plan.copies);
      busy.push(...(await measure(ask, unrelated, plan)));
      await lockHolder.query("rollback");
      const answer = parseAnswer(await first);
      counts.duplicates += await flood.end(violations);
      counts.spells += 1;
      if (answer.status !== 200 || answer.isReplay)
        violations.push(
          `The first write was answered with ${answer.status} ${answer.code ?? "as a replay"}.`,
        );
      plan.onStep?.(
        `postgres: p99 ${percentile(quiet).toFixed(1)} ms quiet, ${percentile(busy).toFixed(1)} ms beside duplicates`,
      );
    }
  } finally {
    await lockHolder.end();
  }
  const ratio = percentile(busy) / percentile(quiet);
  if (ratio > ratioMax)
    violations.push(
      `The 99th percentile of unrelated requests rose by a factor of ${ratio.toFixed(2)}; ` +
        `at most ${ratioMax} is allowed.`,
    );
  return {
    figure: "bystanders",
    engine: "postgres",
    counts: {
      ...counts,
      requests: quiet.length + busy.length,
      "p99 quiet ms": round(percentile(quiet)),
      "p99 busy ms": round(percentile(busy)),
      "p99 ratio": round(ratio),
    },
    violations,
  };
}

/** Sends unrelated requests at a fixed rate. Returns the milliseconds from each due time to the answer. */
async function measure(
  ask: SendRequest,
  request: HttpRequest,
  { perSecond, periodMs }: BystandersPlan,
): Promise<number[]> {
  const startedAt = performance.now();
  const waiting: Promise<number>[] = [];
  for (let count = 0; count < (perSecond * periodMs) / 1000; count += 1) {
    const dueAt = startedAt + (count * 1000) / perSecond;
    await sleep(Math.max(0, dueAt - performance.now()));
    waiting.push(
      ask(request).then(({ status }) => {
        if (status !== 200) throw new Error(`An unrelated request was answered with ${status}.`);
        return performance.now() - dueAt;
      }),
    );
  }
  return Promise.all(waiting);
}

interface Flood {
  /** Ends the repeated requests; returns their number. Adds wrong answers to the violations. */
  end(violations: string[]): Promise<number>;
}

function startFlood(ask: SendRequest, { request }: Write, copies: number): Flood {
  const end = new AbortController();
  let sent = 0;
  const faults: string[] = [];
  const clients = Array.from({ length: copies }, async () => {
    // The clients start at random times within the first second.
    await sleep(Math.random() * retryAfterMs);
    while (!end.signal.aborted) {
      sent += 1;
      const { status, code, isReplay } = parseAnswer(await ask(request));
      if (code !== "idempotency_in_progress" && !(status === 200 && isReplay))
        faults.push(`A duplicate was answered with ${status} ${code ?? "not as a replay"}.`);
      await sleep(retryAfterMs);
    }
  });
  return {
    end: async (violations) => {
      end.abort();
      await Promise.all(clients);
      violations.push(...faults);
      return sent;
    },
  };
}

function percentile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

const round = (value: number): number => Math.round(value * 100) / 100;
