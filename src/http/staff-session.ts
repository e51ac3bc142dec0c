/**
 * The console's pages at the graph: who is signed in there is an admin of the merchant. The session counts only in a request that a page of this service
 * sent: with a header that no form and no other site's script can send along, and with the browser's word that it came from here.
 */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { findStaffSession, isSessionSecret, recordSessionUse, type StaffSession } from "#access/people/staff-sessions.ts";
import type { PersonViewer } from "#access/viewer.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { fail } from "#foundation/failure.ts";
import { isFromHere } from "./body.ts";

export interface CallerParts {
  /** What goes on by itself does not keep a session in use: neither what is asked for again here, nor what the page says that it asks by itself. */
  readonly isUse: boolean;
  /** Told of a secret that is nobody's, so that guessing has an end; it may throw what is to be answered. */
  readonly onUnknown: (request: FastifyRequest) => Promise<void>;
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
}

/** What the header says: whether a person does something, or the page by itself. */
const words = new Set(["1", "background"]);

/** Undefined for who does not come from the console, whatever cookies it has. */
export async function findConsoleCaller(request: FastifyRequest, parts: CallerParts): Promise<PersonViewer | undefined> {
  const { db, clock, publicUrl } = parts;
  const { headers } = request;
  if (headers.authorization !== undefined || !words.has(String(headers["x-commerce-console"]))) return undefined;
  const isTold = headers["sec-fetch-site"] !== undefined || headers.origin !== undefined;
  if (!isTold || !isFromHere(request, new URL(publicUrl).origin)) throw fail("credentials_missing", { message: elsewhere });
  const now = clock.now();
  const { secret, session } = await requireSession(request, parts, now);
  if (session.isSuspended) throw fail("merchant_suspended");
  if (parts.isUse && isByPerson(request)) void recordSessionUse(db, secret, now).catch(() => undefined);
  const { staffId, merchantId } = session.staff;
  return { kind: "internal", staffId, role: "admin", merchantId };
}

interface Shown {
  readonly secret: string;
  readonly session: StaffSession;
}

async function requireSession(request: FastifyRequest, { db, publicUrl, isUse, onUnknown }: CallerParts, now: Date): Promise<Shown> {
  const secret = readConsoleCookie(request, publicUrl);
  const session = await findStaffSession(db, secret, now);
  if (secret !== undefined && session !== undefined) return { secret, session };
  if (isUse && isSessionSecret(secret)) await onUnknown(request);
  throw fail("credentials_missing", { message: "The session at the console is over: sign in again." });
}

/** Streams are asked for again whenever they end, for as long as the page is open. */
const isByPerson = ({ headers }: FastifyRequest): boolean =>
  headers["x-commerce-console"] === "1" && !/\btext\/event-stream\b/i.test(headers.accept ?? "");

const elsewhere = "The console's session counts for the console's own pages alone.";

/** Over https no other host and no page that came without it can have set a cookie of this name. */
const nameAt = (publicUrl: string): string => `${isSecure(publicUrl) ? "__Host-" : ""}console-${markOf(publicUrl)}`;
/** Cookies know no port, and those of a host no path: several services on one host would sign each other out. */
const markOf = (publicUrl: string): string => createHash("sha256").update(publicUrl).digest("hex").slice(0, 8);
const isSecure = (publicUrl: string): boolean => publicUrl.startsWith("https:");

export function readConsoleCookie({ headers }: FastifyRequest, publicUrl: string): string | undefined {
  const start = `${nameAt(publicUrl)}=`;
  const pair = headers.cookie?.split(";").find((part) => part.trimStart().startsWith(start));
  return pair?.trim().slice(start.length);
}

/** Until the browser is closed; what it is good for ends by itself. */
export function setConsoleCookie(reply: FastifyReply, publicUrl: string, secret: string): void {
  void reply.header("set-cookie", `${nameAt(publicUrl)}=${secret}; ${attributesAt(publicUrl)}`);
}

export function clearConsoleCookie(reply: FastifyReply, publicUrl: string): void {
  void reply.header("set-cookie", `${nameAt(publicUrl)}=; expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributesAt(publicUrl)}`);
}

const attributesAt = (publicUrl: string): string => `path=/; httponly; samesite=strict${isSecure(publicUrl) ? "; secure" : ""}`;
