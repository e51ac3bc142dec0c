/** What comes due by the clock alone is written from time to time; until then every read counts it from the clock itself. */
import { eraseDue } from "#commerce/addresses/personal-data.ts";
import { expireCarts } from "#commerce/carts/end-carts.ts";
import { endDuePromotions } from "#commerce/promotions/end-due-promotions.ts";
import { refreshDue } from "#commerce/search/refresh-due.ts";
import { sweepRecords } from "#database/idempotency.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";

interface Sweep {
  readonly name: string;
  readonly run: (services: GraphServices, now: Date) => Promise<unknown>;
}

export const sweeps: readonly Sweep[] = [
  // A pre-order is found as one for a minute at most after its date.
  { name: "index what came due", run: ({ db }, now) => refreshDue(db, now) },
  { name: "expire carts", run: ({ db, publicUrl, render }, now) => expireCarts({ db, publicUrl, render, now }) },
  { name: "end promotions", run: ({ db, render }, now) => endDuePromotions({ db, render, now }) },
  { name: "erase personal data", run: ({ db }, now) => eraseDue(db, now) },
  { name: "delete idempotency records", run: ({ db }, now) => sweepRecords(db, now) },
];

/** One round at a time; what is returned waits for the one that runs. */
export function startSweeps(services: GraphServices, log: Log, everyMs = 60_000): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let isIdle = true;
  let isStopped = false;
  const round = async (): Promise<void> => {
    isIdle = false;
    for (const { name, run } of sweeps) {
      if (isStopped) break;
      await run(services, services.clock.now()).catch((error: unknown) => log.error({ err: error, sweep: name }, "A sweep failed."));
    }
    isIdle = true;
  };
  const timer = setInterval(() => {
    if (isIdle) running = round();
  }, everyMs);
  return () => {
    clearInterval(timer);
    isStopped = true;
    return running;
  };
}
