/**
 * Several machines' worth on one: the figures of one service through nginx, PgBouncer and Redis, while
 * gateways and workers are killed in turn. A client sends again what got no answer, or only the balancer's
 * own, under the same key.
 */
import type { Cluster } from "./cluster.ts";
import { type CrashPlan, runCrash } from "./crash.ts";
import { findDuplicateFaults, runDuplicates } from "./duplicates.ts";
import type { Report } from "./report.ts";
import { openShop } from "./shop.ts";

export interface ScaleOutPlan extends Omit<CrashPlan, "isOver"> {
  readonly copies: number;
  /** Of the writes that are sent many times at once. */
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
    doors: [ask],
    copies,
    isOver: areCopiesOver,
  });
  const faults = await findDuplicateFaults(database.db, sent);
  // One is away at a time, so that there is always one left of its kind.
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
      // Nothing is on its way any more: who asks has stopped.
      inspect: (look) => look(database),
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
