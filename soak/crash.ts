/**
 * Tests guarantee 1. Clients change carts and stock while the service is killed repeatedly. A client that
 * gets no answer repeats the request with the same idempotency key. At the end, every acknowledged change
 * must be stored, no change may have been made twice, and every replay must equal the first answer.
 *
 * Each client has its own cart and sends one write after another. Each write increases the cart's version by
 * one, so that the versions in the answers show every lost or repeated change.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findEffectFaults, type AcknowledgedWrite } from "./crash-checks.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import {
  createAddressWrite,
  type HttpAnswer,
  type SendRequest,
  createCartWrite,
  type CartState,
  openCart,
  openShop,
  parseAnswer,
  createRestWrite,
  type Shop,
  createStockWrite,
  type Write,
} from "./shop.ts";

export interface CrashPlan {
  readonly clients: number;
  /**
   * The average number of answers between a start and a kill of the service. The actual number is 50 to 150
   * percent of it.
   */
  readonly keysPerKill: number;
  readonly isOver: (counts: { readonly kills: number; readonly keys: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

/** The service whose process the test kills and starts again. The service may have further processes. */
export type KillableService = Pick<
  Service,
  "engine" | "ask" | "access" | "faults" | "kill" | "start" | "inspect"
>;

interface Run {
  readonly ask: SendRequest;
  readonly shop: Shop;
  readonly violations: string[];
  /** Returns the unexpected events of the service, for example that it ended by itself. */
  readonly faults: () => readonly string[];
  readonly done: AcknowledgedWrite[];
  /** The writes that were answered since the last kill. They are repeated after the next kill. */
  unchecked: { readonly write: Write; readonly first: HttpAnswer }[];
  isOver: boolean;
  /** The number of requests without an answer. */
  lost: number;
  /** The number of requests without an answer that were executed nevertheless. */
  lostAndDone: number;
}

export async function runCrash(service: KillableService, plan: CrashPlan): Promise<Report> {
  const { ask } = service;
  const shop = await openShop(ask, service.access);
  const run: Run = {
    ask,
    shop,
    violations: [],
    faults: () => service.faults,
    done: [],
    unchecked: [],
    isOver: false,
    lost: 0,
    lostAndDone: 0,
  };
  const carts: CartState[] = [];
  for (let client = 0; client < plan.clients; client += 1) carts.push(await openCart(ask, shop));

  const broken = (error: unknown): void => void run.violations.push(`A client gave up: ${String(error)}`);
  const clients = Promise.all(carts.map((cart, index) => runClient(run, cart, index).catch(broken)));
  const counts = { kills: 0, replays: 0 };
  try {
    await killAndCompare(service, { run, plan, counts });
  } finally {
    run.isOver = true;
  }
  await clients;
  if (run.faults().length === 0) counts.replays += await compareReplays(run);
  const faults = await service.inspect(({ db }) =>
    findEffectFaults(db, { done: run.done, carts: carts.map(({ id }) => id) }),
  );
  return {
    figure: "crash",
    engine: service.engine,
    counts: {
      kills: counts.kills,
      keys: run.done.length,
      unanswered: run.lost,
      "of them done": run.lostAndDone,
      replays: counts.replays,
    },
    violations: [...run.violations, ...faults, ...service.faults],
  };
}

const pauseMs = 25;

async function killAndCompare(
  service: KillableService,
  {
    run,
    plan,
    counts,
  }: { readonly run: Run; readonly plan: CrashPlan; readonly counts: { kills: number; replays: number } },
): Promise<void> {
  while (!plan.isOver({ kills: counts.kills, keys: run.done.length })) {
    const until = run.done.length + Math.round(plan.keysPerKill * (0.5 + Math.random()));
    while (run.done.length < until && !isBroken(run)) await sleep(1);
    // After a violation, the clients have stopped, but `kill` may wait for requests of clients.
    if (isBroken(run)) return;
    await service.kill();
    counts.kills += 1;
    await service.start();
    counts.replays += await compareReplays(run);
    plan.onStep?.(`${service.engine}: ${counts.kills} kills, ${run.done.length} keys`);
    if (isBroken(run)) return;
  }
}

const isBroken = ({ violations, faults }: Run): boolean => violations.length + faults().length > 0;

const comparedAtOnce = 8;

/** Repeats all writes that were answered since the last comparison, and compares the answers. */
async function compareReplays(run: Run): Promise<number> {
  const { unchecked } = run;
  run.unchecked = [];
  for (let start = 0; start < unchecked.length; start += comparedAtOnce) {
    await Promise.all(
      unchecked.slice(start, start + comparedAtOnce).map(async ({ write, first }) => {
        const replay = await retryUntilAnswered(run, write);
        const isSame =
          replay.text === first.text &&
          replay.status === first.status &&
          replay.headers["content-type"] === first.headers["content-type"];
        if (!isSame) run.violations.push(`The replay of ${write.key} differs from the first answer.`);
        if (!parseAnswer(replay).isReplay) run.violations.push(`A replay of ${write.key} had an effect.`);
      }),
    );
  }
  return unchecked.length;
}

async function runClient(run: Run, opened: CartState, index: number): Promise<void> {
  let { version } = opened;
  let hasCode = false;
  for (let turn = index; !run.isOver && run.violations.length === 0; turn += 1) {
    const { write, kind, variantId } = createWriteOfTurn(run.shop, {
      cartId: opened.id,
      version,
      hasCode,
      turn,
    });
    // Every fourth write is sent twice at the same time.
    const [first] = await Promise.all([
      retryUntilAnswered(run, write),
      ...(turn % 4 === 3 ? [retryUntilAnswered(run, write)] : []),
    ]);
    const answer = parseAnswer(first);
    if (answer.code !== undefined) {
      run.violations.push(
        `${kind} was refused with ${answer.status} ${answer.code}: ${answer.text.slice(0, 300)}`,
      );
      return;
    }
    const nextVersion = kind === "stock" ? null : getCartVersionInAnswer(answer.text);
    if (nextVersion !== null && nextVersion !== version + 1)
      run.violations.push(`${kind} took cart ${opened.id} from version ${version} to ${nextVersion}.`);
    version = nextVersion ?? version;
    hasCode = kind === "promotion" ? !hasCode : hasCode;
    run.unchecked.push({ write, first });
    run.done.push({ key: write.key, kind, cartId: opened.id, variantId, version: nextVersion });
  }
}

export const getCartVersionInAnswer = (text: string): number =>
  Number(/"(?:cartVersion|version)":(\d+)/.exec(text)?.[1]);

interface Turn {
  readonly cartId: string;
  readonly version: number;
  readonly hasCode: boolean;
  readonly turn: number;
}

/** Returns the next write. The kinds of writes take turns, so that each write changes data. */
export function createWriteOfTurn(
  shop: Shop,
  { cartId, version, hasCode, turn }: Turn,
): { write: Write; kind: AcknowledgedWrite["kind"]; variantId: string | null } {
  const variantId = shop.variantIds[turn % shop.variantIds.length] ?? "";
  switch (turn % 5) {
    case 0: {
      const write = hasCode
        ? createRestWrite(shop, {
            method: "DELETE",
            cartId,
            path: "/promotion",
            body: { expectedVersion: version },
          })
        : createRestWrite(shop, {
            method: "PUT",
            cartId,
            path: "/promotion",
            body: { code: shop.codes[0], expectedVersion: version },
          });
      return { write, kind: "promotion", variantId: null };
    }
    case 1:
      return {
        write: createAddressWrite(shop, cartId, { expectedVersion: version }),
        kind: "address",
        variantId: null,
      };
    case 2:
      return { write: createStockWrite(shop, variantId), kind: "stock", variantId };
    default: {
      const input = { lines: [{ variantId, quantity: 1 }] };
      return {
        write: createCartWrite(shop, { mutation: "cartLinesAdd", input, cartId }),
        kind: "line",
        variantId,
      };
    }
  }
}

/**
 * Sends a write. Returns undefined without an answer, and if the balancer got no answer of a gateway (502,
 * 504).
 */
async function sendOnce({ ask }: Run, { request }: Write): Promise<HttpAnswer | undefined> {
  const sent = await ask(request).catch(() => undefined);
  return sent?.status === 502 || sent?.status === 504 ? undefined : sent;
}

/** Repeats a write until it is answered: after a lost connection, a key in use, or an unavailable service. */
async function retryUntilAnswered(run: Run, write: Write): Promise<HttpAnswer> {
  let isLost = false;
  for (;;) {
    const sent = await sendOnce(run, write);
    const answer = sent === undefined ? undefined : parseAnswer(sent);
    if (answer === undefined) {
      // If the service ended by itself, it is not restarted, so the client gives up.
      const [fault] = run.faults();
      if (fault !== undefined) throw new Error(fault);
      isLost = true;
      run.lost += 1;
    }
    if (isLost && answer?.isReplay === true) run.lostAndDone += 1;
    const mustRetry =
      answer === undefined ||
      answer.code === "idempotency_in_progress" ||
      answer.code === "service_unavailable";
    if (sent !== undefined && !mustRetry) return sent;
    await sleep(pauseMs);
  }
}
