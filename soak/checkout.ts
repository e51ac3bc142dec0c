/**
 * Tests guarantee 7. First, all processes cancel and submit checkouts concurrently; then checkouts are paid
 * while all processes are killed. Both parts alternate until the time is over.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findCheckoutFaults } from "./checkout-checks.ts";
import { awaitDecisions, buyAndKill, createCheckoutLoad, withRetries } from "./checkout-crash.ts";
import { createRaceCounts, raceCancel, raceSingleUse, type RaceRun, raceSubmits } from "./checkout-races.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import { type SendRequest, openShop } from "./shop.ts";

export interface CheckoutPlan {
  /** The other processes on the same database. */
  readonly otherServices: readonly Service[];
  readonly isOver: () => boolean;
  readonly onStep?: (text: string) => void;
}

const copies = 20;
/** The number of races between a cancel and a submit in a round. */
const cancelsEach = 20;
const killsEach = { buyers: 8, kills: 2, submitsPerKill: 20 };
/** The number of rounds between two restarts of the processes, which take longer than a round. */
const roundsPerKills = 5;
const settleMs = 10;
const settle = (): Promise<void> => sleep(settleMs);

const retrying = ({ ask }: Service): SendRequest => withRetries(ask);

export async function runCheckout(
  service: Service,
  { otherServices, isOver, onStep }: CheckoutPlan,
): Promise<Report> {
  const services = [service, ...otherServices];
  const shop = await openShop(service.ask, service.access);
  const senders = [retrying(service), ...otherServices.map(retrying)] as const;
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
  await Promise.all(otherServices.map((other) => other.kill()));
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
