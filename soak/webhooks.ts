/**
 * Figure 9. Clients write while the processes that send webhooks are killed again and again, and the receiver
 * fails with three of ten. Afterwards every event has arrived everywhere with a signature that is right, and
 * what came twice came with the same bytes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { withRetries } from "./checkout-crash.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import {
  type DemoCredentials,
  addressWrite,
  type HttpAnswer,
  type Ask,
  requireData,
  openCart,
  openShop,
  readAnswer,
  type Shop,
} from "./shop.ts";
import { arrivalKey, type Receiver, type Reply, startReceiver } from "./webhook-receiver.ts";

/** For every process: the waiting between attempts is short, and the receiver is on this machine. */
export const webhookEnvironment = { WEBHOOK_RETRY_SCALE: "0.001", WEBHOOK_ALLOW_LOOPBACK: "1" };

export interface WebhooksPlan {
  /** On the same database; the first one is asked. */
  readonly services: readonly [Service, ...Service[]];
  readonly writers: number;
  /** So many changes at most wait to be heard of, so that the end comes soon; as many as will unless told. */
  readonly aheadMax?: number;
  /** Killed after so many requests to the receiver; it varies by half. */
  readonly arrivalsPerKill: number;
  readonly isOver: (counts: { readonly kills: number }) => boolean;
  /** What waits at the end is due at once, as if whoever died had held it long enough. */
  readonly isHurried: boolean;
  readonly onStep?: (text: string) => void;
}

interface Endpoint {
  readonly id: string;
  readonly path: string;
}

export async function runWebhooks(plan: WebhooksPlan): Promise<Report> {
  const [service] = plan.services;
  const last = { arrivalMs: 0 };
  await using receiver = await startReceiver({
    reply: unreliable,
    onArrival: (_path, _eventId, atMs) => (last.arrivalMs = atMs),
  });
  const shop = await openShop(service.ask, service.access);
  const endpoints = await openEndpoints(service.ask, { access: service.access, receiver });
  const counts = { kills: 0, writes: 0, unanswered: 0 };
  const stopWriting = startWriting(plan, { shop, counts, receiver });
  try {
    for (;;) {
      const killed = await killSome(plan, receiver, counts.kills);
      counts.kills += 1;
      plan.onStep?.(
        `${service.engine}: ${counts.kills} kills, ${counts.writes} writes, ${receiver.counts.requests} requests to the receiver`,
      );
      if (plan.isOver(counts)) break;
      await startAll(killed);
    }
  } finally {
    await stopWriting();
  }
  const { events, faults } = await awaitDeliveries(plan, { endpoints, receiver, last });
  return {
    figure: "webhooks",
    engine: service.engine,
    counts: { ...counts, events, ...receiver.counts },
    violations: [...receiver.violations, ...faults, ...plan.services.flatMap((one) => one.faults)],
  };
}

const startAll = (services: readonly Service[]): Promise<unknown> =>
  Promise.all(services.map((service) => service.start()));
const killAll = (services: readonly Service[]): Promise<unknown> =>
  Promise.all(services.map((service) => service.kill()));

const failureShare = 0.3;

function unreliable(): Reply {
  if (Math.random() >= failureShare) return 204;
  return Math.random() < 0.5 ? 500 : "cut";
}

const endpointsWanted = [{ payloadMode: "snapshot" }, { payloadMode: "thin" }, { payloadMode: "snapshot" }];

async function openEndpoints(
  ask: Ask,
  { access, receiver }: { readonly access: DemoCredentials; readonly receiver: Receiver },
): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (const [index, wanted] of endpointsWanted.entries()) {
    const path = `/hooks/${index}`;
    const body = JSON.stringify({
      url: `${receiver.origin}${path}`,
      eventTypes: ["*"],
      maxPerSecond: 100,
      ...wanted,
    });
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${access.keys.full}`,
      "idempotency-key": `endpoint-${index}`,
    };
    const answered = await ask({ method: "POST", url: "/api/v1/open/webhooks/endpoints", headers, body });
    const { endpoint, secret } = requireData(readAnswer(answered)) as {
      readonly endpoint: { readonly id: string };
      readonly secret: { readonly value: string };
    };
    receiver.secrets.set(path, secret.value);
    endpoints.push({ id: endpoint.id, path });
  }
  return endpoints;
}

interface Writing {
  readonly shop: Shop;
  readonly receiver: Receiver;
  readonly counts: { writes: number; unanswered: number };
}

/** Instead of an answer, for whoever has none when it ends: what was written, the database says. */
const skippedAnswer: HttpAnswer = { status: 200, headers: {}, text: "{}" };

/** Gives how it ends. */
function startWriting(
  { services: [service], writers, aheadMax = Infinity }: WebhooksPlan,
  { shop, counts, receiver }: Writing,
): () => Promise<unknown> {
  const end = new AbortController();
  const ask = withRetries(
    (asked) => (end.signal.aborted ? Promise.resolve(skippedAnswer) : service.ask(asked)),
    {
      onLost: () => void (counts.unanswered += 1),
    },
  );
  const write = async (): Promise<void> => {
    const { id } = await openCart(ask, shop);
    while (!end.signal.aborted) {
      requireData(readAnswer(await ask(addressWrite(shop, id).asked)));
      counts.writes += 1;
      while (
        !end.signal.aborted &&
        counts.writes - receiver.accepted.size / endpointsWanted.length > aheadMax
      )
        await sleep(10);
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, write));
  return () => {
    end.abort();
    return writing;
  };
}

/** By turns each alone, and all of them. */
async function killSome(
  { services, arrivalsPerKill }: WebhooksPlan,
  { counts }: Receiver,
  turn: number,
): Promise<readonly Service[]> {
  const until = counts.requests + Math.round(arrivalsPerKill * (0.5 + Math.random()));
  while (counts.requests < until) await sleep(1);
  const one = services[turn % (services.length + 1)];
  const killed = one === undefined ? services : [one];
  await killAll(killed);
  return killed;
}

/** Given up when nothing has arrived for so long. */
const patienceMs = 180_000;
/** It is over when nothing comes for this long. */
const stillMs = {
  /** Longer than whoever died held what it was sending. */
  lease: 25_000,
  /** Longer than the waiting before the last attempt, which is the longest. */
  retry: 110_000,
  /** The same where what waits is due at once, and may fail once more. */
  hurriedRetry: 40_000,
  /** Longer than from the answer of a receiver to its note. */
  note: 1_000,
};

interface Settling {
  readonly endpoints: readonly Endpoint[];
  readonly receiver: Receiver;
  readonly last: { readonly arrivalMs: number };
}

/** Waits until nothing waits, and gives what is missing then. */
async function awaitDeliveries(
  { services, isHurried, onStep }: WebhooksPlan,
  { endpoints, receiver, last }: Settling,
): Promise<MissingDeliveries> {
  const beganMs = performance.now();
  const isPatient = (): boolean => performance.now() < Math.max(beganMs, last.arrivalMs) + patienceMs;
  for (;;) {
    await killAll(services);
    const found = await services[0].inspect(async ({ db }) => {
      const missing = await findMissing(db, { endpoints, receiver });
      if (isHurried)
        await sql`update webhook_delivery set next_attempt_at = now() where next_attempt_at is not null`.execute(
          db,
        );
      return missing;
    });
    onStep?.(
      `${services[0].engine}: ${found.missing.length} deliveries of ${found.events} events are still to come`,
    );
    if (found.faults.length === 0 || !isPatient()) return found;
    await startAll(services);
    const startedMs = performance.now();
    const hasAll = (): boolean => found.missing.every((arrival) => receiver.accepted.has(arrival));
    const [allMs, notAllMs] = isHurried
      ? [stillMs.note, stillMs.hurriedRetry]
      : [stillMs.lease, stillMs.retry];
    while (performance.now() - Math.max(startedMs, last.arrivalMs) < (hasAll() ? allMs : notAllMs))
      await sleep(50);
  }
}

interface ExpectedDelivery {
  readonly endpointId: string;
  readonly eventId: string;
  readonly status: string | null;
}

interface MissingDeliveries {
  readonly events: number;
  /** What has not arrived, as the receiver calls it. */
  readonly missing: readonly string[];
  readonly faults: readonly string[];
}

/** Of every event since the endpoints were there; an endpoint is not told of itself. */
async function findMissing(
  db: Database,
  { endpoints, receiver }: Pick<Settling, "endpoints" | "receiver">,
): Promise<MissingDeliveries> {
  const ids = endpoints.map(({ id }) => id);
  const { rows } = await sql<ExpectedDelivery>`
    select w.id as endpoint_id, e.id as event_id, d.status
    from webhook_endpoint w
    join event e on e.merchant_id = w.merchant_id and (e.installation_id is null or e.installation_id = w.installation_id) and e.subject_id <> w.id
      and e.occurred_at > (select max(created_at) from webhook_endpoint where id = any(${ids}::text[]))
    left join webhook_delivery d on d.event_id = e.id and d.endpoint_id = w.id and d.replay_no = 0
    where w.id = any(${ids}::text[])`.execute(db);
  const pathOf = new Map(endpoints.map(({ id, path }) => [id, path]));
  const arrival = ({ endpointId, eventId }: ExpectedDelivery): string =>
    arrivalKey(pathOf.get(endpointId) ?? "", eventId);
  const missing = rows.filter((owed) => !receiver.accepted.has(arrival(owed)));
  const undone = rows.filter(({ status }) => status !== "succeeded");
  return {
    events: new Set(rows.map(({ eventId }) => eventId)).size,
    missing: missing.map(arrival),
    faults: [
      ...missing.map(
        ({ eventId, endpointId, status }) =>
          `${eventId} never arrived at ${endpointId}: its delivery is ${status ?? "not there"}.`,
      ),
      ...undone.map(
        ({ eventId, endpointId, status }) =>
          `The delivery of ${eventId} to ${endpointId} is ${status ?? "not there"}.`,
      ),
    ],
  };
}
