/** Gives up a checkout that nobody has submitted yet. */
import type { Expected } from "#commerce/carts/cart-aggregate.ts";
import type { CancelReason } from "#commerce/carts/session-end.ts";
import { requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { type LockedSession, lockSession } from "./change-session.ts";
import { releaseSession } from "./end-session.ts";
import { requireOpen } from "./session-status.ts";
import type { SessionCommandContext } from "./session-tenant.ts";

export interface SessionCancelInput extends Expected {
  readonly reason: CancelReason;
  readonly note?: string | null | undefined;
}

export const cancelNoteMax = 500;

export async function cancelSession(
  transaction: Transaction,
  tenant: SessionCommandContext,
  input: SessionCancelInput & { readonly sessionId: string },
): Promise<LockedSession> {
  requireNoFaults(textFaults("/note", input.note, { min: 0, max: cancelNoteMax, lines: "many" }));
  const { cart, session } = await lockSession(transaction, tenant, input.sessionId);
  requireOpen(session, input, tenant.now);
  const cancellation = { reason: input.reason, note: input.note ?? null, actor: tenant.causedBy };
  return releaseSession(transaction, tenant, { cart, session, status: "canceled", cancellation });
}
