/**
 * Figure 3. A hundred copies of one write wait for its end, asking again each second as they are told to;
 * whoever asks for something else meanwhile is served as fast as before: at most twice the 99th percentile.
 * Quiet and busy times take turns, so that the machine's own moods hit both.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Report } from "./report.ts";
import {
  addressWrite,
  type Ask,
  type HttpRequest,
  openCart,
  readAnswer,
  type Shop,
  type Write,
} from "./shop.ts";

export interface BystandersPlan {
  readonly databaseUrl: string;
  readonly copies: number;
  /** Of each quiet and each busy time. */
  readonly spellMs: number;
  /** How many unrelated requests fall due in a second, answered or not. */
  readonly perSecond: number;
  readonly isOver: () => boolean;
  readonly onStep?: (text: string) => void;
}

const ratioMax = 2;
const retryAfterMs = 1000;

export async function runBystanders(ask: Ask, shop: Shop, plan: BystandersPlan): Promise<Report> {
  const { id } = await openCart(ask, shop);
  const holder = new Client({ connectionString: plan.databaseUrl });
  await holder.connect();
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
    // A first spell warms everything up and counts nowhere.
    await measure(ask, unrelated, plan);
    while (!plan.isOver()) {
      quiet.push(...(await measure(ask, unrelated, plan)));
      await holder.query("begin");
      await holder.query("select id from cart where id = $1 for update", [id]);
      const write = addressWrite(shop, id);
      const first = ask(write.asked);
      await sleep(retryAfterMs / 4);
      const flood = startFlood(ask, write, plan.copies);
      busy.push(...(await measure(ask, unrelated, plan)));
      await holder.query("rollback");
      const told = readAnswer(await first);
      counts.duplicates += await flood.end(violations);
      counts.spells += 1;
      if (told.status !== 200 || told.isReplay)
        violations.push(`The write itself was answered with ${told.status} ${told.code ?? "as a replay"}.`);
      plan.onStep?.(
        `postgres: p99 ${percentile(quiet).toFixed(1)} ms quiet, ${percentile(busy).toFixed(1)} ms beside duplicates`,
      );
    }
  } finally {
    await holder.end();
  }
  const ratio = percentile(busy) / percentile(quiet);
  if (ratio > ratioMax)
    violations.push(
      `The 99th percentile of unrelated requests rose by ${ratio.toFixed(2)}, and may by ${ratioMax}.`,
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

/** What the requests took, from when they fell due. */
async function measure(
  ask: Ask,
  asked: HttpRequest,
  { perSecond, spellMs }: BystandersPlan,
): Promise<number[]> {
  const startedAt = performance.now();
  const waiting: Promise<number>[] = [];
  for (let count = 0; count < (perSecond * spellMs) / 1000; count += 1) {
    const dueAt = startedAt + (count * 1000) / perSecond;
    await sleep(Math.max(0, dueAt - performance.now()));
    waiting.push(
      ask(asked).then(({ status }) => {
        if (status !== 200) throw new Error(`An unrelated request was answered with ${status}.`);
        return performance.now() - dueAt;
      }),
    );
  }
  return Promise.all(waiting);
}

interface Flood {
  /** How many were sent; says what was answered amiss. */
  end(violations: string[]): Promise<number>;
}

function startFlood(ask: Ask, { asked }: Write, copies: number): Flood {
  const end = new AbortController();
  let sent = 0;
  const amiss: string[] = [];
  const clients = Array.from({ length: copies }, async () => {
    // Clients do not strike all in the same moment.
    await sleep(Math.random() * retryAfterMs);
    while (!end.signal.aborted) {
      sent += 1;
      const { status, code, isReplay } = readAnswer(await ask(asked));
      if (code !== "idempotency_in_progress" && !(status === 200 && isReplay))
        amiss.push(`A duplicate was answered with ${status} ${code ?? "anew"}.`);
      await sleep(retryAfterMs);
    }
  });
  return {
    end: async (violations) => {
      end.abort();
      await Promise.all(clients);
      violations.push(...amiss);
      return sent;
    },
  };
}

function percentile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

const round = (value: number): number => Math.round(value * 100) / 100;
