/**
 * Figure 1. Clients write to carts and stock while the service is killed again and again; whoever gets no
 * answer sends the same again under the same key. Afterwards everything that was acknowledged is there,
 * nothing happened twice, and every answer is the one that was given first.
 *
 * Each client has a cart of its own and does one thing after the other, each of which raises the version by
 * one: so the versions in the answers tell of every change that was lost or made twice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findEffectFaults, type AcknowledgedWrite } from "./crash-checks.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import {
  addressWrite,
  type HttpAnswer,
  type Ask,
  cartWrite,
  type CartState,
  openCart,
  openShop,
  readAnswer,
  restWrite,
  type Shop,
  stockWrite,
  type Write,
} from "./shop.ts";

export interface CrashPlan {
  readonly clients: number;
  /** The service is killed after so many answers since its last start; it varies by half. */
  readonly keysPerKill: number;
  readonly isOver: (counts: { readonly kills: number; readonly keys: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

/** What is killed and started again: one process, or one of several. */
export type KillableService = Pick<
  Service,
  "engine" | "ask" | "access" | "faults" | "kill" | "start" | "inspect"
>;

interface Run {
  readonly ask: Ask;
  readonly shop: Shop;
  readonly violations: string[];
  /** The service's. */
  readonly faults: () => readonly string[];
  readonly done: AcknowledgedWrite[];
  /** Answered since the last kill: to be asked for again after it. */
  fresh: { readonly write: Write; readonly first: HttpAnswer }[];
  isOver: boolean;
  /** Requests that got no answer. */
  lost: number;
  /** Of those, the ones that had their effect all the same. */
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
    fresh: [],
    isOver: false,
    lost: 0,
    lostAndDone: 0,
  };
  const carts: CartState[] = [];
  for (let client = 0; client < plan.clients; client += 1) carts.push(await openCart(ask, shop));

  const broken = (error: unknown): void =>
    void run.violations.push(`A client had to give up: ${String(error)}`);
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
    // Nobody asks any more, and a kill may be one that waits for what clients do.
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

/** Each key that was answered since the last time is sent once more. */
async function compareReplays(run: Run): Promise<number> {
  const { fresh } = run;
  run.fresh = [];
  for (let start = 0; start < fresh.length; start += comparedAtOnce) {
    await Promise.all(
      fresh.slice(start, start + comparedAtOnce).map(async ({ write, first }) => {
        const again = await retryUntilAnswered(run, write);
        const isSame =
          again.text === first.text &&
          again.status === first.status &&
          again.headers["content-type"] === first.headers["content-type"];
        if (!isSame) run.violations.push(`A replay of ${write.key} was another answer than the first.`);
        if (!readAnswer(again).isReplay) run.violations.push(`A replay of ${write.key} had an effect.`);
      }),
    );
  }
  return fresh.length;
}

async function runClient(run: Run, opened: CartState, index: number): Promise<void> {
  let { version } = opened;
  let hasCode = false;
  for (let turn = index; !run.isOver && run.violations.length === 0; turn += 1) {
    const { write, kind, variantId } = nextWrite(run.shop, { cartId: opened.id, version, hasCode, turn });
    // Every fourth client is impatient: it sends twice at once.
    const [first] = await Promise.all([
      retryUntilAnswered(run, write),
      ...(turn % 4 === 3 ? [retryUntilAnswered(run, write)] : []),
    ]);
    const told = readAnswer(first);
    if (told.code !== undefined) {
      run.violations.push(`${kind} was refused with ${told.status} ${told.code}: ${told.text.slice(0, 300)}`);
      return;
    }
    const now = kind === "stock" ? null : versionIn(told.text);
    if (now !== null && now !== version + 1)
      run.violations.push(`${kind} took cart ${opened.id} from version ${version} to ${now}.`);
    version = now ?? version;
    hasCode = kind === "promotion" ? !hasCode : hasCode;
    run.fresh.push({ write, first });
    run.done.push({ key: write.key, kind, cartId: opened.id, variantId, version: now });
  }
}

const versionIn = (text: string): number => Number(/"(?:cartVersion|version)":(\d+)/.exec(text)?.[1]);

interface Turn {
  readonly cartId: string;
  readonly version: number;
  readonly hasCode: boolean;
  readonly turn: number;
}

/** In such an order that each changes something. */
function nextWrite(
  shop: Shop,
  { cartId, version, hasCode, turn }: Turn,
): { write: Write; kind: AcknowledgedWrite["kind"]; variantId: string | null } {
  const variantId = shop.variantIds[turn % shop.variantIds.length] ?? "";
  switch (turn % 5) {
    case 0: {
      const write = hasCode
        ? restWrite(shop, {
            method: "DELETE",
            cartId,
            path: "/promotion",
            body: { expectedVersion: version },
          })
        : restWrite(shop, {
            method: "PUT",
            cartId,
            path: "/promotion",
            body: { code: shop.codes[0], expectedVersion: version },
          });
      return { write, kind: "promotion", variantId: null };
    }
    case 1:
      return {
        write: addressWrite(shop, cartId, { expectedVersion: version }),
        kind: "address",
        variantId: null,
      };
    case 2:
      return { write: stockWrite(shop, variantId), kind: "stock", variantId };
    default: {
      const input = { lines: [{ variantId, quantity: 1 }] };
      return { write: cartWrite(shop, { mutation: "cartLinesAdd", input, cartId }), kind: "line", variantId };
    }
  }
}

/** Undefined: nothing came back, or what a balancer says for a gateway that has said nothing. */
async function sendOnce({ ask }: Run, { asked }: Write): Promise<HttpAnswer | undefined> {
  const answered = await ask(asked).catch(() => undefined);
  return answered?.status === 502 || answered?.status === 504 ? undefined : answered;
}

/** As a client does that was told to: again after a lost connection, a key in use, and a service that is away. */
async function retryUntilAnswered(run: Run, write: Write): Promise<HttpAnswer> {
  let isLost = false;
  for (;;) {
    const answered = await sendOnce(run, write);
    const told = answered === undefined ? undefined : readAnswer(answered);
    if (told === undefined) {
      // It ended by itself, and nobody starts it again.
      const [fault] = run.faults();
      if (fault !== undefined) throw new Error(fault);
      isLost = true;
      run.lost += 1;
    }
    if (isLost && told?.isReplay === true) run.lostAndDone += 1;
    const isLater =
      told === undefined || told.code === "idempotency_in_progress" || told.code === "service_unavailable";
    if (answered !== undefined && !isLater) return answered;
    await sleep(pauseMs);
  }
}
