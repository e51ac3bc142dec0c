/**
 * Guarantee 7. Checkouts are canceled and submitted concurrently at all processes, and then paid while all
 * processes are killed. Both alternate until the time is over.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findCheckoutFaults } from "./checkout-checks.ts";
import { awaitDecisions, buyAndKill, createCheckoutLoad, withRetries } from "./checkout-crash.ts";
import { createRaceCounts, raceCancel, raceSingleUse, type RaceRun, raceSubmits } from "./checkout-races.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import { type Ask, openShop } from "./shop.ts";

export interface CheckoutPlan {
  /** Further processes on the same database. */
  readonly beside: readonly Service[];
  readonly isOver: () => boolean;
  readonly onStep?: (text: string) => void;
}

const copies = 20;
/** Races between a cancel and a submit per round. */
const cancelsEach = 20;
const killsEach = { buyers: 8, kills: 2, submitsPerKill: 20 };
/** Rounds per restart. A restart takes longer than all races of a round. */
const roundsPerKills = 5;
const settleMs = 10;
const settle = (): Promise<void> => sleep(settleMs);

const retrying = ({ ask }: Service): Ask => withRetries(ask);

export async function runCheckout(
  service: Service,
  { beside, isOver, onStep }: CheckoutPlan,
): Promise<Report> {
  const services = [service, ...beside];
  const shop = await openShop(service.ask, service.access);
  const senders = [retrying(service), ...beside.map(retrying)] as const;
  const races: RaceRun = {
    senders,
    shop,
    settle,
    violations: [],
    sessionIds: [],
    counts: createRaceCounts(),
  };
  const buying = createCheckoutLoad(service.ask, shop);
  let kills = 0;
  let round = 0;
  const isBroken = (): boolean =>
    [races, buying].some(({ violations }) => violations.length > 0) ||
    services.some(({ faults }) => faults.length > 0);
  do {
    for (let count = 0; count < cancelsEach; count += 1) await raceCancel(races);
    await raceSingleUse(races, copies);
    await raceSubmits(races, copies);
    if (round % roundsPerKills === 0) kills += await buyAndKill(buying, { services, ...killsEach });
    round += 1;
    onStep?.(
      `${service.engine}: ${races.counts.rounds} races with a cancel, ${kills} kills, ${buying.submitted.length} paid`,
    );
  } while (!isOver() && !isBroken());
  const ends = await awaitDecisions(buying);
  await Promise.all(beside.map((other) => other.kill()));
  const faults = await service.inspect(({ db }) =>
    findCheckoutFaults(db, [...races.sessionIds, ...buying.sessionIds]),
  );
  return {
    figure: "checkout",
    engine: service.engine,
    counts: { ...races.counts, kills, paid: buying.submitted.length, ...ends, unanswered: buying.unanswered },
    violations: [
      ...races.violations,
      ...buying.violations,
      ...faults,
      ...services.flatMap((one) => one.faults),
    ],
  };
}
