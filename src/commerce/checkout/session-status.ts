/** The status of a session counts from the clock: one that is open past its time has expired, whether or not anybody has written that yet. */
import type { Expected } from "#commerce/carts/cart-aggregate.ts";
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";
import type { SessionAggregate, SessionStatus } from "./session-aggregate.ts";

export function sessionStatusOf({ status, expiresAt }: Pick<SessionAggregate, "status" | "expiresAt">, now: Date): SessionStatus {
  return status === "open" && new Date(expiresAt) <= now ? "expired" : status;
}

const refusals: Readonly<Record<Exclude<SessionStatus, "open">, FailureCode>> = {
  processing: "checkout_session_processing",
  completed: "checkout_session_completed",
  canceled: "checkout_session_canceled",
  expired: "checkout_session_expired",
};

/** State before version: of a session that has ended the version is of no interest. */
export function requireOpen(session: SessionAggregate, { expectedVersion }: Expected, now: Date): void {
  const status = sessionStatusOf(session, now);
  if (status !== "open") throw refuseSession(refusals[status], session, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== session.version)
    throw refuseSession("checkout_session_version_conflict", session, { now });
}

export interface RefusedSession {
  readonly now: Date;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A 409 that says what the session is like, so that the caller need not ask. */
export function refuseSession(code: FailureCode, session: SessionAggregate, refused: RefusedSession): Failure {
  return fail(code, { conflict: sessionConflict(session, refused) });
}

export function sessionConflict(session: SessionAggregate, { now, reason = null, data = {} }: RefusedSession): FailureConflict {
  const { id, version } = session;
  return { resource: "checkout_session", id, currentStatus: sessionStatusOf(session, now), currentVersion: version, reason, data };
}
