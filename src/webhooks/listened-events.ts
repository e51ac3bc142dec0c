/**
 * The events that the command `commerce listen` forwards to a receiver on a developer's machine. They are
 * signed requests, as a webhook endpoint of the installation would receive them. The service stores nothing
 * for a listener: the listener's cursor says which events it has received, and its secret is derived from the
 * encryption keys.
 */
import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { z } from "zod";
import type { DatabaseReader } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";
import { createWebhookHeaders } from "./dispatch/deliver.ts";
import { catalogReadSubjectTypes } from "./event-types.ts";

/**
 * The number of milliseconds for which the cursor of a listener lists each event that the listener has
 * received. Events are read in the order of their ids, and an id begins with the time of the change, so a
 * transaction that commits late inserts an event before events that were already received. The listener
 * recognizes such an event as new because its id is not in the cursor. Two minutes are longer than any
 * transaction takes.
 */
const lateCommitMs = 120_000;
/**
 * The largest number of received events that a cursor lists. If there are more, the lower limit of the cursor
 * (`floor`) moves up, and the oldest events are dropped from the list.
 */
const receivedMax = 10_000;
export const listenedEventsMax = 50;

export const listenCursor = z.object({
  /**
   * The lower limit of the cursor. All events with a lower id were either received by the listener, or
   * occurred before the listener began.
   */
  floor: z.string().max(64),
  /** The ids of the received events that are not lower than `floor`. */
  received: z.array(z.string().max(64)).max(receivedMax + listenedEventsMax),
});
export type EventListenerCursor = z.infer<typeof listenCursor>;

/** Returns the first cursor of a listener, which receives the events from the time `since` on. */
export const createEventListenerCursor = (since: Date): EventListenerCursor => ({
  floor: getLowestIdAtTime("event", since.getTime()),
  received: [],
});

export interface EventListenerFilter {
  readonly installationId: string;
  /**
   * The event types that the listener receives: names of event types, groups such as `order.*`, or `*` alone
   * for all types.
   */
  readonly eventTypes: readonly string[];
}

export interface EventForListener {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly body: string;
}

/**
 * Reads the next events for a listener, oldest first. The listener receives the same events as an endpoint of
 * the installation that subscribes to the same event types.
 */
export async function findEventsForListener(
  reader: DatabaseReader,
  { installationId, eventTypes }: EventListenerFilter,
  { floor, received }: EventListenerCursor,
): Promise<EventForListener[]> {
  const groups = eventTypes.filter((name) => name.endsWith(".*")).map((name) => name.slice(0, -2));
  const { rows } = await sql<EventForListener>`
    select e.id, e.type, e.occurred_at, e.snapshot as body from event e
    join installation i on i.id = ${installationId} and i.status = 'active' and i.merchant_id = e.merchant_id
      and (not e.subject_type = any(${catalogReadSubjectTypes}::text[]) or 'catalog:read' = any(i.scopes))
    where e.id >= ${floor} and e.id <> all(${received}::text[])
      and (e.installation_id is null or e.installation_id = i.id)
      and (${eventTypes.includes("*")} or e.type = any(${eventTypes}::text[])
      or split_part(e.type, '.', 1) = any(${groups}::text[]))
    order by e.id limit ${listenedEventsMax}`.execute(reader);
  return rows;
}

/** Returns the cursor of a listener after it has received the given events. */
export function advanceEventListenerCursor(
  cursor: EventListenerCursor,
  events: readonly EventForListener[],
  now: Date,
): EventListenerCursor {
  const received = [...cursor.received, ...events.map(({ id }) => id)].toSorted();
  const settled = getLowestIdAtTime("event", now.getTime() - lateCommitMs);
  // If the page of events was full, older events may remain that the listener has not received yet.
  const last = events.length < listenedEventsMax ? settled : (events.at(-1)?.id ?? settled);
  const full = received.at(-receivedMax) ?? cursor.floor;
  const reached = last < settled ? last : settled;
  const floor = [cursor.floor, reached, received.length > receivedMax ? full : cursor.floor]
    .toSorted()
    .at(-1);
  return { floor: floor ?? cursor.floor, received: received.filter((id) => id >= (floor ?? "")) };
}

/** The identity of a listener: its credential and its installation. */
export interface EventListenerIdentity {
  readonly installationId: string;
  readonly credentialId: string;
}

/**
 * Returns the secret that signs a listener's requests. The secret is derived from the credential and the
 * first encryption key, and changes only if one of these changes, so a receiver can store the secret in its
 * configuration.
 */
export function deriveEventListenerSigningSecret(
  keyring: EncryptionKeyring,
  { installationId, credentialId }: EventListenerIdentity,
): string {
  const [key] = keyring.derive("secrets of listeners");
  if (key === undefined) throw new Error("The keyring has no key.");
  const mac = createHmac("sha256", key).update(`${installationId} ${credentialId}`).digest("base64");
  return `whsec_${mac}`;
}

interface SignContext {
  readonly secret: string;
  readonly installationId: string;
  readonly now: Date;
}

export interface SignedRequestForListener {
  readonly event: { readonly id: string; readonly type: string; readonly occurredAt: Date };
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Creates the signed request that a listener's receiver gets for an event. The request's delivery id is the
 * event's id with the prefix `whd_` instead of `evt_`.
 */
export function signEventForListener(
  { id, type, occurredAt, body }: EventForListener,
  { secret, installationId, now }: SignContext,
): SignedRequestForListener {
  const headers = createWebhookHeaders({
    eventId: id,
    eventType: type,
    deliveryId: id.replace(/^evt_/, "whd_"),
    installationId,
    attemptNumber: 1,
    isReplay: false,
    body,
    secrets: [secret],
    now,
  });
  return { event: { id, type, occurredAt }, headers, body };
}
