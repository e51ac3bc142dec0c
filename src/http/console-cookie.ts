/** The cookie that a browser is signed in at the console with: no script reads it, and no other site can have it sent. */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";

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
