/**
 * Reads the events that payment providers list, and handles those that did not arrive, for example during an
 * outage of this service.
 */
import type { Database } from "#database/connect.ts";
import type { ProviderEvent } from "#commerce/payments/provider-events.ts";
import {
  handleProviderEvent,
  type ConnectionOfEvent,
  type ProviderEventResult,
  type ProviderEventServices,
} from "./handle-provider-event.ts";

/**
 * The events of this time before the last reading are read again, in milliseconds, because a provider may
 * list an event some time after it has happened.
 */
const overlapMs = 10 * 60_000;
/** The time for which ended connections are still read, in milliseconds; disputes arrive after months. */
const endedConnectionMs = 180 * 86_400_000;

/**
 * Handles the missed events of all connections, and returns their number. If the events of some connections
 * could not be read or handled, throws an AggregateError after the others.
 */
export async function readMissedProviderEvents(
  services: ProviderEventServices & { readonly signal: AbortSignal },
): Promise<number> {
  const { db, now, signal } = services;
  const connections = await db
    .selectFrom("paymentConnection")
    .select(["id", "merchantId", "eventsReadUntil"])
    .where((where) =>
      where.or([
        where("disconnectedAt", "is", null),
        where("disconnectedAt", ">", new Date(now.getTime() - endedConnectionMs)),
      ]),
    )
    .orderBy("id")
    .execute();
  const errors: unknown[] = [];
  let missed = 0;
  for (const { eventsReadUntil, ...connection } of connections) {
    if (signal.aborted) break;
    try {
      missed += await readEvents(services, connection, new Date(eventsReadUntil.getTime() - overlapMs));
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0)
    throw new AggregateError(errors, "The events of some payment connections were not handled.");
  return missed;
}

async function readEvents(
  services: ProviderEventServices,
  connection: ConnectionOfEvent,
  since: Date,
): Promise<number> {
  const { db, now, eventSource } = services;
  const listed: ProviderEvent[] = [];
  for await (const event of eventSource.list(connection.id, since)) listed.push(event);
  const results: ProviderEventResult[] = [];
  for (const event of listed.toReversed())
    results.push(await handleProviderEvent(services, connection, event));
  const missed = results.filter((result) => result === "handled").length;
  // An event that must be handled later is read again next time.
  if (results.includes("later")) return missed;
  await db
    .updateTable("paymentConnection")
    .set({ eventsReadUntil: now })
    .where("id", "=", connection.id)
    .execute();
  return missed;
}

/** The time for which handled events are recorded; providers repeat events for some days only. */
const recordedMs = 45 * 86_400_000;

export async function deleteOldProviderEvents(db: Database, now: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("providerEvent")
    .where("handledAt", "<", new Date(now.getTime() - recordedMs))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
