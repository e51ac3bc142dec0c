/** Only a session that was submitted can be completed or fail. */
import type { Expected } from "#commerce/carts/cart-aggregate.ts";
import type { SessionAggregate } from "./session-aggregate.ts";
import { refuseSession, sessionStatusOf } from "./session-status.ts";

const ended = {
  completed: "checkout_session_completed",
  canceled: "checkout_session_canceled",
  expired: "checkout_session_expired",
} as const;

/** State before version. */
export function requireProcessing(session: SessionAggregate, { expectedVersion }: Expected, now: Date): void {
  const status = sessionStatusOf(session, now);
  if (status === "open") throw refuseSession("invalid_state", session, { now, reason: "not_submitted" });
  if (status !== "processing")
    throw refuseSession(ended[status], session, { now, data: session.orderId === null ? {} : { orderId: session.orderId } });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== session.version)
    throw refuseSession("checkout_session_version_conflict", session, { now });
}
