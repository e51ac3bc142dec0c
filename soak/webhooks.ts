/**
 * Tests guarantee 9. Clients write while the processes that send webhooks are killed repeatedly, and the
 * receiver fails three of ten requests, but the same delivery at most five times. At the end, every event
 * must have arrived at every endpoint with a correct signature, and repeated deliveries must have the same
 * bytes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { withRetries } from "./checkout-crash.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import {
  type DemoCredentials,
  createAddressWrite,
  type HttpAnswer,
  type SendRequest,
  requireData,
  openCart,
  openShop,
  parseAnswer,
  type Shop,
} from "./shop.ts";
import { toArrivalKey, type Receiver, type Reply, startReceiver } from "./webhook-receiver.ts";

/** Settings of every process: short waits between attempts, and a receiver on this machine. */
export const webhookEnvironment = { WEBHOOK_RETRY_SCALE: "0.001", WEBHOOK_ALLOW_LOOPBACK: "1" };

export interface WebhooksPlan {
  /** Processes on the same database. All requests are sent to the first process. */
  readonly services: readonly [Service, ...Service[]];
  readonly writers: number;
  /**
   * The maximum number of writes whose events are not delivered yet; no maximum if left out. A maximum limits
   * the time for the remaining deliveries at the end.
   */
  readonly aheadMax?: number;
  /** The average number of requests to the receiver per kill; the actual number is 50 to 150 % of it. */
  readonly arrivalsPerKill: number;
  readonly isOver: (counts: { readonly kills: number; readonly writes: number }) => boolean;
  /**
   * True to make all waiting deliveries due at the end, instead of waiting for the leases of killed
   * processes.
   */
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
    reply: createUnreliableReply(),
    onArrival: (_path, _eventId, atMs) => (last.arrivalMs = atMs),
  });
  const shop = await openShop(service.ask, service.access);
  const endpoints = await openEndpoints(service.ask, { access: service.access, receiver });
  const counts = { kills: 0, writes: 0, unanswered: 0 };
  const stopWriting = startWriting(plan, { shop, counts, receiver });
  try {
    for (;;) {
      const killed = await killServices(plan, receiver, counts.kills);
      counts.kills += 1;
      plan.onStep?.(
        `${service.engine}: ${counts.kills} kills, ${counts.writes} writes, ` +
          `${receiver.counts.requests} requests to the receiver`,
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
/** The service makes at most ten attempts at a delivery, of which some can end with a kill. */
const failuresPerDeliveryMax = 5;

/** The number of deliveries that fail first, so that each run has failures. */
const failedFirst = 12;

/** Fails the first deliveries and three of ten other requests, but the same delivery at most five times. */
function createUnreliableReply(): (path: string, eventId: string) => Reply {
  const failures = new Map<string, number>();
  return (path, eventId) => {
    const delivery = toArrivalKey(path, eventId);
    const before = failures.get(delivery) ?? 0;
    const isFailure = failures.size < failedFirst || Math.random() < failureShare;
    if (!isFailure || before === failuresPerDeliveryMax) return 204;
    failures.set(delivery, before + 1);
    return Math.random() < 0.5 ? 500 : "cut";
  };
}

const endpointOptions = [{ payloadMode: "snapshot" }, { payloadMode: "thin" }, { payloadMode: "snapshot" }];

async function openEndpoints(
  ask: SendRequest,
  { access, receiver }: { readonly access: DemoCredentials; readonly receiver: Receiver },
): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (const [index, options] of endpointOptions.entries()) {
    const path = `/hooks/${index}`;
    const body = JSON.stringify({
      url: `${receiver.origin}${path}`,
      eventTypes: ["*"],
      maxPerSecond: 100,
      ...options,
    });
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${access.keys.full}`,
      "idempotency-key": `endpoint-${index}`,
    };
    const answered = await ask({ method: "POST", url: "/api/v1/open/webhooks/endpoints", headers, body });
    const { endpoint, secret } = requireData(parseAnswer(answered)) as {
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

/** The answer to requests after the end, which are not sent. The database shows which writes were made. */
const skippedAnswer: HttpAnswer = { status: 200, headers: {}, text: "{}" };

/** Starts the writers. Returns a function that ends them. */
function startWriting(
  { services: [service], writers, aheadMax = Infinity }: WebhooksPlan,
  { shop, counts, receiver }: Writing,
): () => Promise<unknown> {
  const end = new AbortController();
  const ask = withRetries(
    (request) => (end.signal.aborted ? Promise.resolve(skippedAnswer) : service.ask(request)),
    {
      onLost: () => void (counts.unanswered += 1),
    },
  );
  const write = async (): Promise<void> => {
    const { id } = await openCart(ask, shop);
    while (!end.signal.aborted) {
      requireData(parseAnswer(await ask(createAddressWrite(shop, id).request)));
      counts.writes += 1;
      while (
        !end.signal.aborted &&
        counts.writes - receiver.accepted.size / endpointOptions.length > aheadMax
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

/**
 * Waits for requests to the receiver, and then kills one of the processes or all of them, in turn. Returns
 * the killed processes.
 */
async function killServices(
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

/** If no delivery arrives for this number of milliseconds, missing deliveries count as lost. */
const arrivalWaitMsMax = 180_000;
/** If no delivery arrives for these numbers of milliseconds, the database is read again. */
const quietMs = {
  /** Longer than the lease of a killed process on its deliveries. */
  lease: 25_000,
  /** Longer than the wait before the last attempt, which is the longest wait. */
  retry: 110_000,
  /** Used if waiting deliveries were made due at once; they may fail once more. */
  hurriedRetry: 40_000,
  /** Longer than the time until the service has recorded an answer of the receiver. */
  note: 1_000,
};

interface Settling {
  readonly endpoints: readonly Endpoint[];
  readonly receiver: Receiver;
  readonly last: { readonly arrivalMs: number };
}

/**
 * Waits until all deliveries have arrived, or no delivery arrives for a long time. Returns the missing
 * deliveries.
 */
async function awaitDeliveries(
  { services, isHurried, onStep }: WebhooksPlan,
  { endpoints, receiver, last }: Settling,
): Promise<MissingDeliveries> {
  const beganMs = performance.now();
  const mayStillArrive = (): boolean =>
    performance.now() < Math.max(beganMs, last.arrivalMs) + arrivalWaitMsMax;
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
      `${services[0].engine}: ${found.missing.length} deliveries of ${found.events} events are missing`,
    );
    if (found.faults.length === 0 || !mayStillArrive()) return found;
    await startAll(services);
    const startedMs = performance.now();
    const hasAll = (): boolean => found.missing.every((arrival) => receiver.accepted.has(arrival));
    const [allMs, notAllMs] = isHurried
      ? [quietMs.note, quietMs.hurriedRetry]
      : [quietMs.lease, quietMs.retry];
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
  /** The missing deliveries, by path and webhook-id. */
  readonly missing: readonly string[];
  readonly faults: readonly string[];
}

/**
 * Finds missing deliveries of all events after the creation of the endpoints. An endpoint receives no events
 * about itself.
 */
async function findMissing(
  db: Database,
  { endpoints, receiver }: Pick<Settling, "endpoints" | "receiver">,
): Promise<MissingDeliveries> {
  const ids = endpoints.map(({ id }) => id);
  const { rows } = await sql<ExpectedDelivery>`
    select w.id as endpoint_id, e.id as event_id, d.status
    from webhook_endpoint w
    join event e on e.merchant_id = w.merchant_id
      and (e.installation_id is null or e.installation_id = w.installation_id) and e.subject_id <> w.id
      and e.occurred_at > (select max(created_at) from webhook_endpoint where id = any(${ids}::text[]))
    left join webhook_delivery d on d.event_id = e.id and d.endpoint_id = w.id and d.replay_no = 0
    where w.id = any(${ids}::text[])`.execute(db);
  const pathOf = new Map(endpoints.map(({ id, path }) => [id, path]));
  const arrival = ({ endpointId, eventId }: ExpectedDelivery): string =>
    toArrivalKey(pathOf.get(endpointId) ?? "", eventId);
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
