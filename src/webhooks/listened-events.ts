/**
 * The events that `commerce listen` forwards to a receiver on a developer's machine: signed requests as a
 * webhook endpoint of the installation would receive them. The service stores nothing for a listener: its
 * cursor says which events it has received, and its secret is derived from the encryption keys.
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
 * Milliseconds for which a cursor lists each received event. Events are read in the order of their ids, and
 * an id begins with the time of the change. A transaction that commits late therefore inserts an event before
 * events that the listener has already received. The listener recognizes it as new because its id is not in
 * the cursor. Two minutes are longer than any transaction takes.
 */
const lateCommitMs = 120_000;
/**
 * The largest number of received events that a cursor lists. If there are more, the lower limit of the cursor
 * moves up to the oldest events that still fit.
 */
const receivedMax = 10_000;
export const listenedEventsMax = 50;

export const listenCursor = z.object({
  /**
   * The lower limit of the cursor: all events with a lower id were either received, or occurred before the
   * listener began.
   */
  floor: z.string().max(64),
  /** Ids of those received events whose ids are not lower than `floor`. */
  received: z.array(z.string().max(64)).max(receivedMax + listenedEventsMax),
});
export type EventListenerCursor = z.infer<typeof listenCursor>;

/** Returns the cursor of a listener that receives the events from `since` on. */
export const createEventListenerCursor = (since: Date): EventListenerCursor => ({
  floor: getLowestIdAtTime("event", since.getTime()),
  received: [],
});

export interface EventListenerFilter {
  readonly installationId: string;
  /** Event types, groups such as `order.*`, or `*` alone. */
  readonly eventTypes: readonly string[];
}

export interface EventForListener {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly body: string;
}

/**
 * Reads the next events for a listener, oldest first. A listener receives the same events that an endpoint of
 * the installation with the same event types would receive.
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

/** Returns the cursor after the given events were received. */
export function advanceEventListenerCursor(
  cursor: EventListenerCursor,
  events: readonly EventForListener[],
  now: Date,
): EventListenerCursor {
  const received = [...cursor.received, ...events.map(({ id }) => id)].toSorted();
  const settled = getLowestIdAtTime("event", now.getTime() - lateCommitMs);
  // After a full page, older events may remain that the listener has not received yet.
  const last = events.length < listenedEventsMax ? settled : (events.at(-1)?.id ?? settled);
  const full = received.at(-receivedMax) ?? cursor.floor;
  const reached = last < settled ? last : settled;
  const floor = [cursor.floor, reached, received.length > receivedMax ? full : cursor.floor]
    .toSorted()
    .at(-1);
  return { floor: floor ?? cursor.floor, received: received.filter((id) => id >= (floor ?? "")) };
}

/** Identifies the credential of a listener and its installation. */
export interface EventListenerIdentity {
  readonly installationId: string;
  readonly credentialId: string;
}

/**
 * Returns the secret that signs a listener's requests. The secret is derived from the credential and the
 * first encryption key. It changes only if one of these changes, so a receiver can store it in its
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

/** Creates the request that a receiver gets for an event. Its delivery id is the event's id with `whd_`. */
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
