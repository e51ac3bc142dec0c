/**
 * Sessions of staff at the console: their cookie, and requests of the console's pages to the graph, where a
 * signed-in member of staff is an admin of the merchant. A session counts only in requests that a page of
 * this service sent: with a header that no form and no script of another site can send, and with the
 * browser's statement that the request came from here.
 */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  findStaffSession,
  isSessionSecret,
  recordSessionUse,
  type StaffSession,
} from "#access/people/staff-sessions.ts";
import type { StaffViewer } from "#access/viewer.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { fail } from "#foundation/failure.ts";
import { isFromHere } from "./body.ts";

export interface CallerParts {
  /**
   * False for requests that no person caused, such as checks of an open stream: they do not keep a session in
   * use.
   */
  readonly isUse: boolean;
  /**
   * Called with the request if its session secret is unknown, so that guesses are limited; may throw the
   * failure to answer with.
   */
  readonly onUnknown: (request: FastifyRequest) => Promise<void>;
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
}

/** Values of the `x-commerce-console` header: a person acts, or the page polls in the background. */
const words = new Set(["1", "background"]);

/** Returns undefined for requests that the console did not send, whatever cookies they have. */
export async function findConsoleCaller(
  request: FastifyRequest,
  parts: CallerParts,
): Promise<StaffViewer | undefined> {
  const { db, clock, publicUrl } = parts;
  const { headers } = request;
  if (headers.authorization !== undefined || !words.has(String(headers["x-commerce-console"])))
    return undefined;
  const isTold = headers["sec-fetch-site"] !== undefined || headers.origin !== undefined;
  if (!isTold || !isFromHere(request, new URL(publicUrl).origin))
    throw fail("credentials_missing", { message: elsewhere });
  const now = clock.now();
  const { secret, session } = await requireSession(request, parts, now);
  if (session.isSuspended) throw fail("merchant_suspended");
  if (parts.isUse && isByPerson(request)) void recordSessionUse(db, secret, now).catch(() => undefined);
  const { staffId, merchantId } = session.staff;
  return { kind: "internal", staffId, role: "admin", merchantId };
}

interface FoundSession {
  readonly secret: string;
  readonly session: StaffSession;
}

async function requireSession(
  request: FastifyRequest,
  { db, publicUrl, isUse, onUnknown }: CallerParts,
  now: Date,
): Promise<FoundSession> {
  const secret = readConsoleCookie(request, publicUrl);
  const session = await findStaffSession(db, secret, now);
  if (secret !== undefined && session !== undefined) return { secret, session };
  if (isUse && isSessionSecret(secret)) await onUnknown(request);
  throw fail("credentials_missing", { message: "The session at the console is over: sign in again." });
}

/** Streams reconnect by themselves as long as the page is open. */
const isByPerson = ({ headers }: FastifyRequest): boolean =>
  headers["x-commerce-console"] === "1" && !/\btext\/event-stream\b/i.test(headers.accept ?? "");

const elsewhere = "The console's session counts for the console's own pages alone.";

/** `__Host-`: over https no other host and no page that came over http can have set a cookie of this name. */
const nameAt = (publicUrl: string): string =>
  `${isSecure(publicUrl) ? "__Host-" : ""}console-${markOf(publicUrl)}`;
/**
 * Cookies are shared by all ports of a host: without the mark, several services on one host would sign each
 * other out.
 */
const markOf = (publicUrl: string): string =>
  createHash("sha256").update(publicUrl).digest("hex").slice(0, 8);
const isSecure = (publicUrl: string): boolean => publicUrl.startsWith("https:");

export function readConsoleCookie({ headers }: FastifyRequest, publicUrl: string): string | undefined {
  const start = `${nameAt(publicUrl)}=`;
  const pair = headers.cookie?.split(";").find((part) => part.trimStart().startsWith(start));
  return pair?.trim().slice(start.length);
}

/** The cookie lasts until the browser is closed; the session ends by itself. */
export function setConsoleCookie(reply: FastifyReply, publicUrl: string, secret: string): void {
  void reply.header("set-cookie", `${nameAt(publicUrl)}=${secret}; ${attributesAt(publicUrl)}`);
}

export function clearConsoleCookie(reply: FastifyReply, publicUrl: string): void {
  void reply.header(
    "set-cookie",
    `${nameAt(publicUrl)}=; expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributesAt(publicUrl)}`,
  );
}

const attributesAt = (publicUrl: string): string =>
  `path=/; httponly; samesite=strict${isSecure(publicUrl) ? "; secure" : ""}`;
