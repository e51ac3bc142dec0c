/**
 * The stored checkout session: its type, the statement that reads any number of them, lists, its status and
 * its conflicts. The status depends on the clock: an open session that is past its time counts as expired,
 * even before a sweep writes it. The cart of the session has what is being checked out.
 */
import { type SelectQueryBuilder, sql } from "kysely";
import type { SessionCancellation } from "./end-session.ts";
import type { Reader } from "#database/transaction.ts";
import { utc } from "#database/sql-fragments.ts";
import type { Place, Sealed } from "#foundation/encryption.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-aggregate.ts";
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";
import type { Tables } from "#database/tables.ts";

export const sessionStatuses = ["open", "processing", "completed", "canceled", "expired"] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

export interface SessionAggregate {
  readonly id: string;
  readonly status: SessionStatus;
  readonly version: number;
  readonly merchant: { readonly id: string; readonly slug: string; readonly name: string };
  readonly cartId: string;
  readonly orderId: string | null;
  /** As the cart was at the session's last change. */
  readonly country: string;
  readonly currency: string;
  readonly locale: string;
  readonly amountTotalMinor: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** The internal token that made it; null: not known. */
  readonly createdBy: string | null;
  /** The secret of its page, for who made it; null when it has ended. */
  readonly secret: Sealed | null;
  readonly cancellation: SessionCancellation | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly submittedAt: string | null;
  readonly completedAt: string | null;
  readonly canceledAt: string | null;
}

interface SessionRow extends Omit<SessionAggregate, "secret" | "cancellation" | "merchant"> {
  readonly merchantId: string;
  readonly merchantSlug: string;
  readonly merchantName: string;
  readonly urlSealed: Uint8Array | null;
  readonly urlDataKey: Uint8Array | null;
  readonly urlKeyId: string | null;
  readonly cancelReason: SessionCancellation["reason"] | null;
  readonly cancelNote: string | null;
  readonly cancelActor: SessionCancellation["actor"] | null;
}

/** By id; one that is not there is left out. Tenancy is the caller's. */
export async function findSessions(
  reader: Reader,
  ids: readonly string[],
): Promise<Map<string, SessionAggregate>> {
  const { rows } = await sql<SessionRow>`
    select s.id, s.status, s.version, m.id as merchant_id, m.slug as merchant_slug, m.name as merchant_name, s.cart_id, s.order_id, s.country, s.currency,
      s.locale, s.amount_total_minor, s.success_url, s.cancel_url, s.created_by, s.url_sealed, s.url_data_key, s.url_key_id, s.cancel_reason,
      s.cancel_note, s.cancel_actor, ${utc(sql`s.created_at`)} as created_at, ${utc(sql`s.updated_at`)} as updated_at,
      ${utc(sql`s.expires_at`)} as expires_at, ${utc(sql`s.submitted_at`)} as submitted_at, ${utc(sql`s.completed_at`)} as completed_at,
      ${utc(sql`s.canceled_at`)} as canceled_at
    from hosted_checkout_session s join merchant m on m.id = s.merchant_id where s.id = any(${ids}::text[])`.execute(
    reader,
  );
  return new Map(rows.map((row) => [row.id, toSessionAggregate(row)]));
}

function toSessionAggregate(row: SessionRow): SessionAggregate {
  const {
    merchantId,
    merchantSlug,
    merchantName,
    urlSealed,
    urlDataKey,
    urlKeyId,
    cancelReason,
    cancelNote,
    cancelActor,
    ...session
  } = row;
  return {
    ...session,
    merchant: { id: merchantId, slug: merchantSlug, name: merchantName },
    secret:
      urlSealed === null || urlDataKey === null || urlKeyId === null
        ? null
        : { sealed: urlSealed, dataKey: urlDataKey, keyId: urlKeyId },
    cancellation:
      cancelReason === null
        ? null
        : { reason: cancelReason, note: cancelNote, actor: cancelActor ?? "system" },
  };
}

/** What a session's secret is sealed for. */
export const sessionSecretSealContext = (sessionId: string): Place => ({
  table: "hosted_checkout_session",
  column: "url_sealed",
  rowId: sessionId,
});

export function sessionStatusAt(
  { status, expiresAt }: Pick<SessionAggregate, "status" | "expiresAt">,
  now: Date,
): SessionStatus {
  return status === "open" && new Date(expiresAt) <= now ? "expired" : status;
}

const failureCodeOfStatus: Readonly<Record<Exclude<SessionStatus, "open">, FailureCode>> = {
  processing: "checkout_session_processing",
  completed: "checkout_session_completed",
  canceled: "checkout_session_canceled",
  expired: "checkout_session_expired",
};

/** State before version: of a session that has ended the version is of no interest. */
export function requireOpenSession(
  session: SessionAggregate,
  { expectedVersion }: ExpectedVersionInput,
  now: Date,
): void {
  const status = sessionStatusAt(session, now);
  if (status !== "open") throw sessionFailure(failureCodeOfStatus[status], session, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== session.version)
    throw sessionFailure("checkout_session_version_conflict", session, { now });
}

interface SessionConflictDetails {
  readonly now: Date;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A 409 that says what the session is like, so that the caller need not ask. */
export function sessionFailure(
  code: FailureCode,
  session: SessionAggregate,
  refused: SessionConflictDetails,
): Failure {
  return fail(code, { conflict: sessionConflict(session, refused) });
}

function sessionConflict(
  session: SessionAggregate,
  { now, reason = null, data = {} }: SessionConflictDetails,
): FailureConflict {
  const { id, version } = session;
  return {
    resource: "checkout_session",
    id,
    currentStatus: sessionStatusAt(session, now),
    currentVersion: version,
    reason,
    data,
  };
}

const failureCodeOfEnd = {
  completed: "checkout_session_completed",
  canceled: "checkout_session_canceled",
  expired: "checkout_session_expired",
} as const;

/** Only a session that was submitted can be completed or fail. Checks the state before the version. */
export function requireProcessingSession(
  session: SessionAggregate,
  { expectedVersion }: ExpectedVersionInput,
  now: Date,
): void {
  const status = sessionStatusAt(session, now);
  if (status === "open") throw sessionFailure("invalid_state", session, { now, reason: "not_submitted" });
  if (status !== "processing")
    throw sessionFailure(failureCodeOfEnd[status], session, {
      now,
      data: session.orderId === null ? {} : { orderId: session.orderId },
    });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== session.version)
    throw sessionFailure("checkout_session_version_conflict", session, { now });
}

interface SessionListFilter {
  /** Null for the sessions of all merchants. */
  readonly merchantId: string | null;
  readonly status: SessionStatus | null;
  readonly now: Date;
}

/** The query of a list of sessions, for the caller to page or count. It filters by the status at `now`. */
export function sessionListQuery(
  reader: Reader,
  { merchantId, status, now }: SessionListFilter,
): SelectQueryBuilder<Tables, "hostedCheckoutSession", { id: string }> {
  let list = reader.selectFrom("hostedCheckoutSession").select("hostedCheckoutSession.id");
  if (merchantId !== null) list = list.where("hostedCheckoutSession.merchantId", "=", merchantId);
  if (status !== null) {
    const current = sql`case when status = 'open' and expires_at <= ${now} then 'expired' else status end`;
    list = list.where(sql<boolean>`${current} = ${status}`);
  }
  return list;
}
