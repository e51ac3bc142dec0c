/**
 * The type of a stored checkout session, with the functions that read and list sessions, compute their status
 * and create conflict errors. An open session whose expiry time has passed is treated as expired, even before
 * a background job stores this status. The items of a session are the lines of its cart; the session itself
 * stores no items.
 */
import { type CompiledQuery, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { CheckoutSessionCancellation } from "./end-session.ts";
import { createPaddedInClauseTemplate, prepareStatementTemplate } from "#database/prepared-template.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import type { EncryptionContext, EncryptedValue } from "#foundation/encryption.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import {
  createFailure,
  type Failure,
  type FailureCode,
  type ConflictErrorDetails,
} from "#foundation/failure.ts";
import type { Tables } from "#database/tables.ts";
import { type MerchantPaymentSetup, toPaymentModeAndProvider } from "#commerce/payments/connections.ts";

export const sessionStatuses = ["open", "processing", "completed", "canceled", "expired"] as const;
export type CheckoutSessionStatus = (typeof sessionStatuses)[number];

export interface CheckoutSessionAggregate {
  readonly id: string;
  readonly status: CheckoutSessionStatus;
  readonly version: number;
  readonly merchant: { readonly id: string; readonly slug: string; readonly name: string };
  /** The merchant's mode (live or test), and the payment provider of the session's next payment. */
  readonly paymentSetup: MerchantPaymentSetup;
  readonly cartId: string;
  readonly orderId: string | null;
  /** The country for which the cart's prices were calculated at the last change of the session. */
  readonly country: string;
  readonly currency: string;
  readonly locale: string;
  readonly amountTotalMinor: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /**
   * The id of the internal token that created the session; null if the creator used another kind of
   * credential.
   */
  readonly createdBy: string | null;
  /** The encrypted secret in the URL of the checkout page; null if the session has ended. */
  readonly secret: EncryptedValue | null;
  readonly cancellation: CheckoutSessionCancellation | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly submittedAt: string | null;
  readonly completedAt: string | null;
  readonly canceledAt: string | null;
}

/** A checkout session and its cart, which the transaction has locked. */
export interface LockedCartAndCheckoutSession {
  readonly cart: CartAggregate;
  readonly session: CheckoutSessionAggregate;
}

/** A row of the statement that `buildCheckoutSessionsByIdSqlQuery` builds. */
export interface CheckoutSessionRow extends Omit<
  CheckoutSessionAggregate,
  "secret" | "cancellation" | "merchant" | "paymentSetup"
> {
  readonly merchantId: string;
  readonly merchantSlug: string;
  readonly merchantName: string;
  readonly merchantMode: "live" | "test";
  readonly connectedProvider: string | null;
  readonly connectionId: string | null;
  readonly urlSealed: Uint8Array | null;
  readonly urlDataKey: Uint8Array | null;
  readonly urlKeyId: string | null;
  readonly cancelReason: CheckoutSessionCancellation["reason"] | null;
  readonly cancelNote: string | null;
  readonly cancelActor: CheckoutSessionCancellation["actor"] | null;
}

/**
 * Reads checkout sessions by id; ids without a session are ignored. The caller must check that the sessions
 * belong to the right merchant.
 */
export async function findCheckoutSessions(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, CheckoutSessionAggregate>> {
  const { rows } = await reader.executeQuery(buildCheckoutSessionsByIdSqlQuery(reader, ids));
  return new Map(rows.map((row) => [row.id, toCheckoutSessionAggregate(row)]));
}

/**
 * Returns the SQL statement that `findCheckoutSessions` runs, for callers that send it together with other
 * statements in one round trip.
 */
export function buildCheckoutSessionsByIdSqlQuery(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): CompiledQuery<CheckoutSessionRow> {
  const list = createPaddedInClauseTemplate(ids);
  const write = (): RawBuilder<CheckoutSessionRow> => sql`
    select s.id, s.status, s.version, m.id as "merchantId", m.slug as "merchantSlug", m.name as "merchantName",
      m.mode as "merchantMode", c.provider as "connectedProvider", c.id as "connectionId",
      s.cart_id as "cartId", s.order_id as "orderId", s.country, s.currency, s.locale,
      s.amount_total_minor as "amountTotalMinor", s.success_url as "successUrl", s.cancel_url as "cancelUrl",
      s.created_by as "createdBy", s.url_sealed as "urlSealed", s.url_data_key as "urlDataKey",
      s.url_key_id as "urlKeyId", s.cancel_reason as "cancelReason", s.cancel_note as "cancelNote",
      s.cancel_actor as "cancelActor", ${formatUtcTimeSql(sql`s.created_at`)} as "createdAt",
      ${formatUtcTimeSql(sql`s.updated_at`)} as "updatedAt",
      ${formatUtcTimeSql(sql`s.expires_at`)} as "expiresAt",
      ${formatUtcTimeSql(sql`s.submitted_at`)} as "submittedAt",
      ${formatUtcTimeSql(sql`s.completed_at`)} as "completedAt",
      ${formatUtcTimeSql(sql`s.canceled_at`)} as "canceledAt"
    from hosted_checkout_session s join merchant m on m.id = s.merchant_id
      left join payment_connection c on c.merchant_id = m.id and c.disconnected_at is null
    where s.id ${list.write()}`;
  return prepareStatementTemplate(reader, {
    form: `checkout sessions ${list.form}`,
    write,
    values: list.values,
  });
}

export function toCheckoutSessionAggregate(row: CheckoutSessionRow): CheckoutSessionAggregate {
  const {
    merchantId,
    merchantSlug,
    merchantName,
    merchantMode: mode,
    connectedProvider: provider,
    connectionId,
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
    paymentSetup: toPaymentModeAndProvider({ mode, provider, connectionId }),
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

/**
 * Returns the table, column and row to which the encryption of a checkout page's secret is bound. A secret
 * that is copied to another session cannot be decrypted there.
 */
export const getCheckoutPageSecretEncryptionContext = (sessionId: string): EncryptionContext => ({
  table: "hosted_checkout_session",
  column: "url_sealed",
  rowId: sessionId,
});

/** Computes the status of a checkout session at the time `now`. The stored status may be outdated. */
export function getCheckoutSessionStatusAtTime(
  { status, expiresAt }: Pick<CheckoutSessionAggregate, "status" | "expiresAt">,
  now: Date,
): CheckoutSessionStatus {
  return status === "open" && new Date(expiresAt) <= now ? "expired" : status;
}

const failureCodeOfStatus: Readonly<Record<Exclude<CheckoutSessionStatus, "open">, FailureCode>> = {
  processing: "checkout_session_processing",
  completed: "checkout_session_completed",
  canceled: "checkout_session_canceled",
  expired: "checkout_session_expired",
};

/**
 * Throws if the checkout session is not open, or if it has another version than the caller expects. The
 * status is checked first, because the version of an ended session does not matter.
 */
export function requireOpenCheckoutSession(
  session: CheckoutSessionAggregate,
  { expectedVersion }: ExpectedVersionInput,
  now: Date,
): void {
  const status = getCheckoutSessionStatusAtTime(session, now);
  if (status !== "open")
    throw createCheckoutSessionConflictFailure(failureCodeOfStatus[status], session, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== session.version)
    throw createCheckoutSessionConflictFailure("checkout_session_version_conflict", session, { now });
}

interface SessionConflictDetails {
  readonly now: Date;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Creates a 409 failure that contains the status and version of the checkout session, so that the caller need
 * not read the session again.
 */
export function createCheckoutSessionConflictFailure(
  code: FailureCode,
  session: CheckoutSessionAggregate,
  details: SessionConflictDetails,
): Failure {
  return createFailure(code, { conflict: sessionConflict(session, details) });
}

function sessionConflict(
  session: CheckoutSessionAggregate,
  { now, reason = null, data = {} }: SessionConflictDetails,
): ConflictErrorDetails {
  const { id, version } = session;
  return {
    resource: "checkout_session",
    id,
    currentStatus: getCheckoutSessionStatusAtTime(session, now),
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

/**
 * Requires a checkout session that was submitted and waits for the payment. Throws if the session has another
 * status, or another version than the caller expects. The status is checked first.
 */
export function requireProcessingCheckoutSession(
  session: CheckoutSessionAggregate,
  { expectedVersion }: ExpectedVersionInput,
  now: Date,
): void {
  const status = getCheckoutSessionStatusAtTime(session, now);
  if (status === "open")
    throw createCheckoutSessionConflictFailure("invalid_state", session, { now, reason: "not_submitted" });
  if (status !== "processing")
    throw createCheckoutSessionConflictFailure(failureCodeOfEnd[status], session, {
      now,
      data: session.orderId === null ? {} : { orderId: session.orderId },
    });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== session.version)
    throw createCheckoutSessionConflictFailure("checkout_session_version_conflict", session, { now });
}

interface SessionListFilter {
  /** Id of the merchant whose sessions are listed; null to list the sessions of all merchants. */
  readonly merchantId: string | null;
  readonly status: CheckoutSessionStatus | null;
  readonly now: Date;
}

/**
 * Returns the SQL condition for sessions that have the given status at the time `now`. The condition compares
 * the stored status, so that PostgreSQL can use an index on the stored status.
 */
function hasStatusAt(status: CheckoutSessionStatus, now: Date): RawBuilder<boolean> {
  if (status === "open") return sql<boolean>`status = 'open' and expires_at > ${now}`;
  if (status === "expired")
    return sql<boolean>`status in ('expired', 'open') and (status = 'expired' or expires_at <= ${now})`;
  return sql<boolean>`status = ${status}`;
}

/**
 * Returns the query that lists checkout sessions. The caller adds paging or counts the rows. The filter
 * compares the status that a session has at the time `now`.
 */
export function buildCheckoutSessionListSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, status, now }: SessionListFilter,
): SelectQueryBuilder<Tables, "hostedCheckoutSession", { id: string }> {
  let list = reader.selectFrom("hostedCheckoutSession").select("hostedCheckoutSession.id");
  if (merchantId !== null) list = list.where("hostedCheckoutSession.merchantId", "=", merchantId);
  if (status !== null) list = list.where(hasStatusAt(status, now));
  return list;
}
