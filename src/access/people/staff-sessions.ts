/**
 * Sessions of people at the console. What the browser holds is a secret of 256 bits, here lies its digest; each request looks it up anew, together with
 * the account and its merchant, so that a session is over in every process from the commit on that ends it.
 */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { noteUse } from "#access/last-used.ts";
import { digestOf } from "#access/secrets.ts";
import type { Database } from "#database/connect.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import type { StaffViewer } from "./staff.ts";

const secretBytes = 32;
const lifeMs = 12 * 3_600_000;
const idleMs = 3_600_000;

export interface StaffSession {
  readonly staff: StaffViewer;
  readonly merchantName: string;
  /** While its merchant is, the session is of no use; it comes back with the merchant unless its time is over by then. */
  readonly isSuspended: boolean;
}

/** Its secret, which is for the browser alone. */
export async function createStaffSession(transaction: Transaction, { staffId, version }: StaffViewer, now: Date): Promise<string> {
  const secret = randomBytes(secretBytes).toString("base64url");
  await transaction
    .insertInto("staffSession")
    .values({
      digest: digestOf(secret),
      staffId,
      staffVersion: version,
      createdAt: now,
      lastUsedAt: now,
      expiresAt: new Date(now.getTime() + lifeMs),
    })
    .execute();
  return secret;
}

const form = /^[\w-]{43}$/;

/** Looks like one; only then is it looked up. */
export const isSessionSecret = (text: string | undefined): text is string => text !== undefined && form.test(text);

/** Undefined where there is none, or it is over: signed out, too old, unused for too long, its account disabled or given another password. */
export async function findStaffSession(reader: Reader, secret: string | undefined, now: Date): Promise<StaffSession | undefined> {
  if (!isSessionSecret(secret)) return undefined;
  const row = await reader
    .selectFrom("staffSession")
    .innerJoin("staffAccount", (join) =>
      join.onRef("staffAccount.id", "=", "staffSession.staffId").onRef("staffAccount.version", "=", "staffSession.staffVersion"),
    )
    .innerJoin("merchant", "merchant.id", "staffAccount.merchantId")
    .select(["staffAccount.id", "staffAccount.merchantId", "staffAccount.email", "staffAccount.name", "staffAccount.version"])
    .select(["merchant.name as merchantName", "merchant.status as merchantStatus"])
    .where("digest", "=", digestOf(secret))
    .where("staffAccount.disabledAt", "is", null)
    .where("expiresAt", ">", now)
    .where("lastUsedAt", ">", new Date(now.getTime() - idleMs))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { id: staffId, merchantId, email, name, version, merchantName, merchantStatus } = row;
  return { staff: { kind: "staff", staffId, merchantId, email, name, version }, merchantName, isSuspended: merchantStatus === "suspended" };
}

/** At most one write per session and minute; nobody need wait for it. */
export function recordSessionUse(db: Database, secret: string, now: Date): Promise<void> {
  const digest = digestOf(secret);
  const minuteAgo = new Date(now.getTime() - 60_000);
  return noteUse(db, { credentialId: digest.toString("base64"), now }, () =>
    sql`update staff_session set last_used_at = ${now} where digest = ${digest} and last_used_at <= ${minuteAgo}`.execute(db),
  );
}

/** False when it was over already. */
export async function endStaffSession(transaction: Transaction, secret: string): Promise<boolean> {
  const { numDeletedRows } = await transaction.deleteFrom("staffSession").where("digest", "=", digestOf(secret)).executeTakeFirst();
  return numDeletedRows > 0n;
}

const sweptAtOnce = 500;

/** Those that are over by their time. How many that were. */
export async function sweepStaffSessions(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from staff_session where digest in (select digest from staff_session where expires_at <= ${now} order by expires_at limit ${sweptAtOnce})`.execute(
      db,
    );
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}
