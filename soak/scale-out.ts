/**
 * Tests guarantee 1 with several processes, nginx, PgBouncer and Redis, while gateways and workers are killed
 * in turn. A client that gets no answer, or an error of the balancer, repeats the request with the same
 * idempotency key.
 */
import type { Cluster } from "./cluster.ts";
import { type CrashPlan, runCrash } from "./crash.ts";
import { findDuplicateFaults, runDuplicates } from "./duplicates.ts";
import type { Report } from "./report.ts";
import { openShop } from "./shop.ts";

export interface ScaleOutPlan extends Omit<CrashPlan, "isOver"> {
  readonly copies: number;
  /** Returns true if enough writes were sent many times at once. */
  readonly areCopiesOver: (counts: { readonly keys: number }) => boolean;
  readonly isOver: CrashPlan["isOver"];
}

export async function runScaleOut(
  cluster: Cluster,
  { copies, areCopiesOver, ...plan }: ScaleOutPlan,
): Promise<Report> {
  const { ask, access, database, gateways, workers } = cluster;
  const shop = await openShop(ask, access);
  const { sent, counts, violations } = await runDuplicates(shop, {
    engine: "postgres",
    senders: [ask],
    copies,
    isOver: areCopiesOver,
  });
  const faults = await findDuplicateFaults(database.db, sent);
  // The processes are killed one at a time, so that the other process of the same role still runs.
  const turns = [gateways[0], workers[0], gateways[1], workers[1]] as const;
  let turn = 0;
  const next = (): (typeof turns)[number] => turns[turn % turns.length] ?? turns[0];
  const crash = await runCrash(
    {
      engine: "postgres",
      ask,
      access,
      get faults() {
        return cluster.faults();
      },
      kill: () => next().kill(),
      start: async () => {
        await next().start();
        turn += 1;
      },
      // No request is running any more, because the clients have stopped.
      inspect: (work) => work(database),
    },
    plan,
  );
  return {
    figure: "scale-out",
    engine: "postgres",
    counts: { copied: counts["keys"] ?? 0, ...crash.counts },
    violations: [...violations, ...faults, ...crash.violations],
  };
}
