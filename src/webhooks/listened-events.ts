/**
 * The events that `commerce listen` forwards to a receiver on a developer's machine: signed requests as a
 * webhook endpoint of the installation would receive them. The service stores nothing for a listener: its
 * cursor is a position in the event feed, and its secret is derived from the encryption keys.
 */
import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { z } from "zod";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";
import { createWebhookHeaders } from "./dispatch/deliver.ts";
import { catalogReadSubjectTypes } from "./event-types.ts";

export const listenedEventsMax = 50;

export const listenCursor = z.object({
  /** The position in the event feed up to which the listener has received the events. */
  position: z.int().min(0),
});
export type EventListenerCursor = z.infer<typeof listenCursor>;

export interface EventListenerStartOptions {
  readonly merchantId: string;
  /**
   * The time from which the listener receives events; null if it receives only events that are added from now
   * on.
   */
  readonly since: Date | null;
}

/** Returns the cursor of a new listener. */
export async function createInitialEventListenerCursor(
  reader: DatabaseOrTransaction,
  { merchantId, since }: EventListenerStartOptions,
): Promise<EventListenerCursor> {
  const first =
    since === null
      ? sql`null`
      : // `+ 0` keeps PostgreSQL from finding the minimum in the index of positions, because it would then read
        // all older events first.
        sql`(select min(e.position + 0) - 1 from event e where e.merchant_id = ${merchantId}
          and e.position is not null and e.id >= ${getLowestIdAtTime("event", since.getTime())})`;
  const { rows } = await sql<EventListenerCursor>`
    select coalesce(${first}, last_position) as position from event_feed`.execute(reader);
  return requireFeedRow(rows[0]);
}

function requireFeedRow<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error("The table event_feed has no row.");
  return row;
}

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

export interface EventListenerPage {
  readonly events: readonly EventForListener[];
  /** The cursor with which the listener reads the events after this page. */
  readonly cursor: EventListenerCursor;
  /**
   * True if the merchant has new events that have no position in the event feed yet, so a later page may
   * contain them.
   */
  readonly hasWaitingEvents: boolean;
}

type ListenedRow = Pick<EventForListener, "type" | "occurredAt" | "body"> & {
  /** Id of the next event for the listener; null if there is no further event. */
  readonly id: string | null;
  readonly position: number;
  readonly lastPosition: number;
  readonly hasWaitingEvents: boolean;
};

/**
 * Reads the next events for a listener, in the order of the event feed. A listener receives the same events
 * as an endpoint of the installation with the same event types. An event gets its position after its
 * transaction has committed, so the listener misses no event of a transaction that commits late.
 */
export async function findEventsForListener(
  reader: DatabaseOrTransaction,
  { installationId, eventTypes }: EventListenerFilter,
  { position }: EventListenerCursor,
): Promise<EventListenerPage> {
  const groups = eventTypes.filter((name) => name.endsWith(".*")).map((name) => name.slice(0, -2));
  const { rows } = await sql<ListenedRow>`
    select f.last_position, exists (
        select from event w join installation n on n.id = ${installationId} and n.merchant_id = w.merchant_id
        where w.position is null
      ) as has_waiting_events, e.*
    from event_feed f left join (
      select e.id, e.type, e.occurred_at, e.snapshot as body, e.position from event e
      join installation i on i.id = ${installationId} and i.status = 'active' and i.merchant_id = e.merchant_id
        and (not e.subject_type = any(${catalogReadSubjectTypes}::text[]) or 'catalog:read' = any(i.scopes))
      where e.position > ${position}::bigint and (e.installation_id is null or e.installation_id = i.id)
        and (${eventTypes.includes("*")} or e.type = any(${eventTypes}::text[])
        or split_part(e.type, '.', 1) = any(${groups}::text[]))
      order by e.position limit ${listenedEventsMax}
    ) e on true order by e.position`.execute(reader);
  const { lastPosition, hasWaitingEvents } = requireFeedRow(rows[0]);
  const last = rows.length < listenedEventsMax ? lastPosition : (rows.at(-1)?.position ?? lastPosition);
  return {
    events: rows.flatMap(({ id, type, occurredAt, body }) =>
      id === null ? [] : [{ id, type, occurredAt, body }],
    ),
    cursor: { position: last },
    hasWaitingEvents,
  };
}

/** The identity of a listener: its credential and its installation. */
export interface EventListenerCredentialAndInstallation {
  readonly installationId: string;
  readonly credentialId: string;
}

/**
 * Returns the secret with which the service signs the events that it sends to the command `listen`. The
 * secret is derived from the credential and the first encryption key. A receiver can store the secret in its
 * configuration, because it changes only when the credential or the encryption key changes.
 */
export function deriveEventListenerSigningSecret(
  keyring: EncryptionKeyring,
  { installationId, credentialId }: EventListenerCredentialAndInstallation,
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

export interface SignedWebhookRequestForListener {
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
): SignedWebhookRequestForListener {
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
