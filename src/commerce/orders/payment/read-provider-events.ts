/**
 * Reads the lists of events from payment providers. Handles the events that this service has not received,
 * for example during an outage.
 */
import type { Database } from "#database/connect.ts";
import { raceAgainstAbortSignal } from "#commerce/payments/execute-payment-operation.ts";
import {
  type PaymentConnectionOfProviderEvent,
  type PaymentProviderEvent,
  PaymentProviderKeyRefusedError,
} from "#commerce/payments/provider-events.ts";
import { handlePaymentProviderEvent, type PaymentProviderEventServices } from "./handle-provider-event.ts";

/**
 * Overlap of two readings of a provider's events, in milliseconds. Each reading starts this much earlier than
 * the previous reading ended, because a provider may list an event some time after it has happened.
 */
const overlapMs = 10 * 60_000;
/**
 * How long the events of an ended connection are still read, in milliseconds. A dispute can arrive months
 * after the payment.
 */
const endedConnectionMs = 180 * 86_400_000;

interface ReadServices extends PaymentProviderEventServices {
  readonly signal: AbortSignal;
}

interface ConnectionToRead extends PaymentConnectionOfProviderEvent {
  readonly eventsReadUntil: Date;
  readonly disconnectedAt: Date | null;
}

/**
 * Handles the missed events of all connections, and returns the number of events that were handled now. An
 * error does not stop the other events; at the end, an AggregateError with all errors is thrown.
 */
export async function handleMissedPaymentProviderEvents(given: ReadServices): Promise<number> {
  const services = { ...given, ...askUntilAborted(given) };
  const { db, now, signal } = services;
  const connections = await db
    .selectFrom("paymentConnection")
    .select(["id", "merchantId", "eventsReadUntil", "disconnectedAt"])
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
  for (const connection of connections) {
    if (signal.aborted) break;
    try {
      missed += await readEvents(services, connection, errors);
    } catch (error) {
      if (signal.aborted) break;
      // An ended connection whose key the merchant has revoked is no error. Its events can no longer be read.
      if (connection.disconnectedAt === null || !(error instanceof PaymentProviderKeyRefusedError))
        errors.push(error);
    }
  }
  if (errors.length > 0)
    throw new AggregateError(errors, "Some events of payment connections were not read or handled.");
  return missed;
}

/**
 * Handles the missed events of one connection, oldest first, and returns the number of events that were
 * handled now. Adds errors of single events to `errors`. The next reading starts with the oldest event that
 * was not handled.
 */
async function readEvents(
  services: ReadServices,
  connection: ConnectionToRead,
  errors: unknown[],
): Promise<number> {
  const { db, now, eventSource, signal } = services;
  const { id, merchantId, eventsReadUntil } = connection;
  const listed: PaymentProviderEvent[] = [];
  const since = new Date(eventsReadUntil.getTime() - overlapMs);
  for await (const event of eventSource.list(id, since)) listed.push(event);
  let missed = 0;
  let readUntil = now;
  for (const event of listed.toReversed()) {
    const result = signal.aborted
      ? "later"
      : await handlePaymentProviderEvent(services, { id, merchantId }, event).catch((error: unknown) => {
          if (!signal.aborted) errors.push(error);
          return "later" as const;
        });
    if (result === "handled") missed += 1;
    if (result === "later" && event.createdAt < readUntil) readUntil = event.createdAt;
  }
  if (readUntil > eventsReadUntil)
    await db
      .updateTable("paymentConnection")
      .set({ eventsReadUntil: readUntil })
      .where("id", "=", id)
      .execute();
  return missed;
}

/**
 * Returns the payment provider and its event source with requests that reject as soon as the signal aborts. A
 * stopping process then does not wait for the provider's answers.
 */
function askUntilAborted({
  provider,
  eventSource,
  signal,
}: ReadServices): Pick<ReadServices, "provider" | "eventSource"> {
  return {
    provider: {
      ...provider,
      lookup: (request) => raceAgainstAbortSignal(signal, () => provider.lookup(request)),
    },
    eventSource: {
      ...eventSource,
      list: async function* list(connectionId, since) {
        const events = eventSource.list(connectionId, since)[Symbol.asyncIterator]();
        for (;;) {
          const { done, value } = await raceAgainstAbortSignal(signal, () => events.next());
          if (done === true) return;
          yield value;
        }
      },
      readDispute: (connectionId, id) =>
        raceAgainstAbortSignal(signal, () => eventSource.readDispute(connectionId, id)),
      readRefund: (connectionId, id) =>
        raceAgainstAbortSignal(signal, () => eventSource.readRefund(connectionId, id)),
    },
  };
}

/**
 * How long the ids of handled events are stored, in milliseconds. Providers repeat an event only for some
 * days.
 */
const recordedMs = 45 * 86_400_000;

export async function deleteOldPaymentProviderEvents(db: Database, now: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("providerEvent")
    .where("handledAt", "<", new Date(now.getTime() - recordedMs))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
