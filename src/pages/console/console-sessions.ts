/** Finds the console session of a request, and records sign-in and sign-out in the audit log. */
import type { FastifyRequest } from "fastify";
import { appendAuditEntries } from "#access/audit.ts";
import type { SignedInStaff } from "#access/people/staff.ts";
import { findStaffSession, type StaffSession } from "#access/people/staff-sessions.ts";
import type { Database } from "#database/connect.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { readConsoleSessionCookie } from "#http/staff-session.ts";

export interface ConsoleSessionServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
}

export type StaffSessionWithSecret = StaffSession & { readonly secret: string };

/** Returns the session of the request's cookie; undefined if there is no such session or it has ended. */
export async function findStaffSessionOfConsoleRequest(
  request: FastifyRequest,
  { db, clock, publicUrl }: ConsoleSessionServices,
): Promise<StaffSessionWithSecret | undefined> {
  const secret = readConsoleSessionCookie(request, publicUrl);
  const session = await findStaffSession(db, secret, clock.now());
  return secret === undefined || session === undefined ? undefined : { ...session, secret };
}

interface SessionChange {
  readonly staff: Pick<SignedInStaff, "staffId" | "merchantId">;
  readonly now: Date;
  readonly requestId: string;
}

export function auditStaffSignInOrSignOut(
  transaction: Transaction,
  action: "consoleSignIn" | "consoleSignOut" | "commandLineSignIn",
  { staff: { staffId, merchantId }, now, requestId }: SessionChange,
): Promise<void> {
  return appendAuditEntries(transaction, {
    actor: "staff",
    actorId: staffId,
    merchantId,
    now,
    action,
    targetId: staffId,
    requestId,
    details: {},
  });
}
