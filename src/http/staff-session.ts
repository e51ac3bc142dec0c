/**
 * Recognizes staff members who are signed in to the console, by the session cookie of GraphQL requests from
 * the console's pages and GraphiQL. A staff member has the rights of the account's role, for the account's
 * merchant. A session is accepted only in requests from a page of this service. Such a request has the header
 * `x-commerce-console`, which no form and no script of another site can send. Its browser headers name this
 * service as the origin. A request that follows a link does not have `x-commerce-console`. Routes with the
 * option `acceptsLinks`, such as downloads, accept it if the browser's header `Sec-Fetch-Site` says that the
 * link is on a page of this service.
 */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  findStaffSession,
  hasStaffSessionSecretFormat,
  recordStaffSessionUse,
  type StaffSession,
} from "#access/people/staff-sessions.ts";
import type { StaffViewer } from "#access/viewer.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { createFailure } from "#foundation/failure.ts";
import { isSameOriginRequest } from "./body.ts";

export interface ConsoleStaffAuthenticationOptions {
  /**
   * True if an action of a person caused the request; false for requests that a page sends by itself, for
   * example the repeated checks of an open stream. Only a request that a person caused extends the staff
   * member's session.
   */
  readonly isUse: boolean;
  /**
   * True if the route accepts a request without the header `x-commerce-console` when a person has followed a
   * link on a page of this service. Allowed only for routes that change nothing, such as downloads.
   */
  readonly acceptsLinks: boolean;
  /**
   * Called with a request whose session secret is unknown, so that guessing can be limited. A failure that
   * this function throws becomes the answer.
   */
  readonly onUnknown: (request: FastifyRequest) => Promise<void>;
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
}

/**
 * The allowed values of the header `x-commerce-console`: `1` for actions of a person, `background` for
 * polling.
 */
const consoleHeaderValues = new Set(["1", "background"]);

/**
 * Returns the staff member who sent a request from the console; undefined if the console did not send the
 * request.
 */
export async function findStaffMemberOfConsoleRequest(
  request: FastifyRequest,
  parts: ConsoleStaffAuthenticationOptions,
): Promise<StaffViewer | undefined> {
  const { db, clock, publicUrl } = parts;
  const { headers } = request;
  if (headers.authorization !== undefined) return undefined;
  const isLink = parts.acceptsLinks && isOwnLink(request, publicUrl);
  if (!isLink && !consoleHeaderValues.has(String(headers["x-commerce-console"]))) return undefined;
  const hasOrigin = headers["sec-fetch-site"] !== undefined || headers.origin !== undefined;
  if (!hasOrigin || !isSameOriginRequest(request, new URL(publicUrl).origin))
    throw createFailure("credentials_missing", { message: foreignPageMessage });
  const now = clock.now();
  const { secret, session } = await requireSession(request, parts, now);
  if (session.isSuspended) throw createFailure("merchant_suspended");
  if (parts.isUse && (isLink || isCausedByPerson(request)))
    void recordStaffSessionUse(db, secret, now).catch(() => undefined);
  const { staffId, role, merchantId } = session.staff;
  return { kind: "internal", staffId, role, merchantId };
}

/**
 * Returns whether a person with a session cookie followed a link on a page of this service. The browser's
 * header `Sec-Fetch-Site` must be present and say so. The header `Origin` cannot replace it, because browsers
 * send no `Origin` when a link is followed.
 */
const isOwnLink = (request: FastifyRequest, publicUrl: string): boolean =>
  (request.method === "GET" || request.method === "HEAD") &&
  request.headers["x-commerce-console"] === undefined &&
  request.headers["sec-fetch-site"] === "same-origin" &&
  isSameOriginRequest(request, new URL(publicUrl).origin) &&
  readConsoleSessionCookie(request, publicUrl) !== undefined;

interface FoundSession {
  readonly secret: string;
  readonly session: StaffSession;
}

async function requireSession(
  request: FastifyRequest,
  { db, publicUrl, isUse, onUnknown }: ConsoleStaffAuthenticationOptions,
  now: Date,
): Promise<FoundSession> {
  const secret = readConsoleSessionCookie(request, publicUrl);
  const session = await findStaffSession(db, secret, now);
  if (secret !== undefined && session !== undefined) return { secret, session };
  if (isUse && hasStaffSessionSecretFormat(secret)) await onUnknown(request);
  throw createFailure("credentials_missing", { message: "The console session has ended. Sign in again." });
}

/**
 * Returns whether a person caused a console request. Requests for event streams are excluded, because open
 * pages reconnect their streams by themselves.
 */
const isCausedByPerson = ({ headers }: FastifyRequest): boolean =>
  headers["x-commerce-console"] === "1" && !/\btext\/event-stream\b/i.test(headers.accept ?? "");

const foreignPageMessage = "A console session is accepted only in requests from pages of this service.";

/**
 * Returns the name of the session cookie. The prefix `__Host-` makes browsers refuse a cookie of this name
 * from other hosts and from pages without https.
 */
const consoleCookieName = (publicUrl: string): string =>
  `${isSecure(publicUrl) ? "__Host-" : ""}console-${urlHash(publicUrl)}`;

/**
 * Returns a short hash of the service's URL, which is a part of the cookie's name. Browsers send the cookies
 * of a host to all of its ports. Without the hash, two services on different ports of one host would
 * overwrite each other's cookie, and so sign each other's users out.
 */
const urlHash = (publicUrl: string): string =>
  createHash("sha256").update(publicUrl).digest("hex").slice(0, 8);
const isSecure = (publicUrl: string): boolean => publicUrl.startsWith("https:");

export function readConsoleSessionCookie({ headers }: FastifyRequest, publicUrl: string): string | undefined {
  const start = `${consoleCookieName(publicUrl)}=`;
  const pair = headers.cookie?.split(";").find((part) => part.trimStart().startsWith(start));
  return pair?.trim().slice(start.length);
}

/**
 * Sets the console's session cookie, which lasts until the browser is closed. The session itself can end
 * earlier.
 */
export function setConsoleSessionCookie(reply: FastifyReply, publicUrl: string, secret: string): void {
  void reply.header(
    "set-cookie",
    `${formatConsoleSessionCookie(publicUrl, secret)}; ${cookieAttributes(publicUrl)}`,
  );
}

/** Returns the session cookie in the form in which a request sends it: name, `=`, secret. */
export const formatConsoleSessionCookie = (publicUrl: string, secret: string): string =>
  `${consoleCookieName(publicUrl)}=${secret}`;

export function clearConsoleSessionCookie(reply: FastifyReply, publicUrl: string): void {
  void reply.header(
    "set-cookie",
    `${consoleCookieName(publicUrl)}=; expires=Thu, 01 Jan 1970 00:00:00 GMT; ${cookieAttributes(publicUrl)}`,
  );
}

const cookieAttributes = (publicUrl: string): string =>
  `path=/; httponly; samesite=strict${isSecure(publicUrl) ? "; secure" : ""}`;
