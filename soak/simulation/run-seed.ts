/** Runs the simulation of one seed: the processes, the clients and the faults, and then the judges. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { forgetIdleSearches } from "#database/due-work-poll.ts";
import { createId } from "#foundation/ids.ts";
import { findCheckoutFaults } from "#soak/checkout-checks.ts";
import { findEffectFaults } from "#soak/crash-checks.ts";
import type { BaseDatabase } from "./base-database.ts";
import { findLatePayments } from "./payment-delays.ts";
import type { SimulationSources } from "./replaced-globals.ts";
import { SimulatedDatabaseServer } from "./simulated-database.ts";
import { SimulatedOutside } from "./simulated-outside.ts";
import { SimulatedServiceProcesses } from "./service-processes.ts";
import {
  awaitSimulatedDecisions,
  compareSimulatedReplays,
  createClientRecord,
  runSimulatedClients,
} from "./simulated-clients.ts";
import { VirtualWorld } from "./virtual-world.ts";

export interface SeedResult {
  readonly seed: number;
  readonly traceHash: string;
  readonly trace: readonly string[];
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface SimulationHost {
  readonly base: BaseDatabase;
  readonly sources: SimulationSources;
  /** Makes a world the one whose events the timers of this process become. */
  readonly use: (world: VirtualWorld) => void;
  readonly startedAtMs: number;
}

const eventsMax = 300_000;

export async function runSeed(
  { base, sources, use, startedAtMs }: SimulationHost,
  seed: number,
): Promise<SeedResult> {
  base.pglite.reset();
  const world = new VirtualWorld(seed, startedAtMs);
  use(world);
  sources.nowMs = () => world.nowMs;
  sources.random = world.serviceRandom;
  discardUnusedIds(sources);
  forgetIdleSearches();
  const server = new SimulatedDatabaseServer(base.pglite, world);
  base.receiveNotices = (payload) => server.deliverNotice(payload);
  const outside = new SimulatedOutside(world, base.endpoint.secret);
  const processes = new SimulatedServiceProcesses({ world, base, server, outside, sources });
  const record = createClientRecord();
  const isSplit = world.random.chance(0.6);
  const slots = isSplit ? (["gateway", "worker"] as const) : (["all"] as const);
  for (const slot of slots) await processes.start(slot, slot);
  const clients = { ask: processes.ask, shop: base.shop, random: world.clientRandom };
  const isFaulty = world.random.chance(0.9);
  if (isFaulty) {
    Object.assign(server.faults, { cut: 0.004, cutCommit: 0.03 });
    Object.assign(outside.faults, { webhook: 0.3, payment: 0.2 });
    processes.faults.lost = 0.02;
  }
  const killer = isFaulty ? killAtRandom({ world, processes, slots }) : Promise.resolve();
  const work = async (): Promise<void> => {
    await Promise.all([runSimulatedClients(clients, record), killer]);
    Object.assign(server.faults, { cut: 0, cutCommit: 0 });
    Object.assign(outside.faults, { webhook: 0, payment: 0 });
    processes.faults.lost = 0;
    await awaitSimulatedDecisions(clients, record);
    await compareSimulatedReplays(clients, record);
    await awaitQuiet(base, server, startedAtMs);
  };
  await world.runUntil(work(), eventsMax).catch((error: unknown) => {
    record.violations.push(`The simulation did not end: ${String(error)}`);
  });
  // The end of all processes is not counted as a kill.
  const processCounts = { ...processes.counts };
  for (const slot of slots) await processes.kill(slot);
  const { kills } = processCounts;
  const judged = judge({ base, server, outside, record, kills });
  const faults = await world
    .runUntil(judged, eventsMax)
    .catch((error: unknown) => [`An acknowledged row is missing, or the check failed: ${String(error)}`]);
  return {
    seed,
    traceHash: world.hashTrace(),
    trace: world.trace,
    violations: [...record.violations, ...outside.violations, ...faults],
    counts: {
      events: world.eventCount,
      ...server.counts,
      ...processCounts,
      ...outside.counts,
      writes: record.done.length,
      checkouts: record.sessionIds.length,
    },
  };
}

/** Lets the pool of random bytes of ids begin anew, so that all ids come from the seed. */
function discardUnusedIds({ random }: SimulationSources): void {
  const { fillBytes } = random;
  const state = { isFilled: false };
  Object.assign(random, {
    fillBytes: (bytes: Uint8Array) => {
      state.isFilled = true;
      fillBytes(bytes);
    },
  });
  while (!state.isFilled) createId("request", 0);
  Object.assign(random, { fillBytes });
}

const killMsMax = 200;
const restartMsMax = 400;

interface KillOptions {
  readonly world: VirtualWorld;
  readonly processes: SimulatedServiceProcesses;
  readonly slots: readonly string[];
}

/** Kills processes up to two times at random moments, and starts them again. */
async function killAtRandom({ world, processes, slots }: KillOptions): Promise<void> {
  const kills = world.random.below(3);
  for (let done = 0; done < kills; done += 1) {
    await sleep(world.random.next() * killMsMax);
    const slot = slots[world.random.below(slots.length)] ?? "";
    const role = await processes.kill(slot);
    await sleep(world.random.next() * restartMsMax);
    if (role !== undefined) await processes.start(slot, role);
  }
}

const quietPollMs = 1_000;
/** Longer than all pauses before the void of a payment that the buyer has given up. */
const quietPollsMax = 1_800;

/**
 * Waits until no payment operation and no delivery is waiting. The statement runs in the only session of
 * PGlite and would also see the changes of an open transaction, which the end of the processes rolls back.
 */
async function awaitQuiet(
  { pglite, endpoint }: BaseDatabase,
  server: SimulatedDatabaseServer,
  startedAtMs: number,
): Promise<void> {
  const until = new Date(startedAtMs + quietPollMs * quietPollsMax);
  for (let poll = 0; poll < quietPollsMax; poll += 1) {
    if (!server.isInTransaction) {
      const { rows } = await pglite.query(waitingWork, [until, endpoint.id]);
      if (rows.length === 0) return;
    }
    await sleep(quietPollMs);
  }
}

const waitingWork = `select from payment_operation where status = 'pending' and due_at < $1
  union all select from webhook_delivery where next_attempt_at is not null and endpoint_id = $2
  union all select from event where position is null limit 1`;

interface Judged {
  readonly base: BaseDatabase;
  readonly server: SimulatedDatabaseServer;
  readonly outside: SimulatedOutside;
  readonly record: ReturnType<typeof createClientRecord>;
  readonly kills: number;
}

async function judge({ base, server, outside, record, kills }: Judged): Promise<string[]> {
  const { db } = server.open();
  const faults = { kills, cuts: server.counts.cuts, lostPayments: outside.counts["failed payments"] };
  const { rows } = await sql<{ id: string; status: string | null }>`
    select e.id, d.status from webhook_endpoint w
    join event e on e.merchant_id = w.merchant_id
      and (e.installation_id is null or e.installation_id = w.installation_id) and e.subject_id <> w.id
      and e.occurred_at > w.created_at
    left join webhook_delivery d on d.event_id = e.id and d.endpoint_id = w.id and d.replay_no = 0
    where w.id = ${base.endpoint.id}`.execute(db);
  return [
    ...(await findEffectFaults(db, record)),
    ...(await findCheckoutFaults(db, record.sessionIds)),
    ...(await findLatePayments(db, faults)),
    ...rows
      .filter(({ id, status }) => status !== "succeeded" || !outside.accepted.has(id))
      .map(({ id, status }) => `The event ${id} has not arrived: its delivery is ${status ?? "missing"}.`),
  ];
}
