/**
 * The cookie of a checkout page: a random name for the browser, tagged with the session's own secret, so that one of another session is none here. Its path
 * is the page's address; browsers send it nowhere else.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { basePathOf } from "#pages/shared/assets.ts";

const cookieName = "checkout";
const lifeSeconds = 2 * 86_400;

/** Who a browser is on the page of one session. */
export interface PageBrowser {
  readonly value: string;
  /** SHA-256 of its name, which is kept. */
  readonly digest: Buffer;
}

export function newBrowser(secret: string): PageBrowser {
  return browserOf(randomBytes(32).toString("base64url"), secret);
}

/** Undefined where there is none, or one of another session. */
export function readBrowser(header: string | undefined, secret: string): PageBrowser | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? "";
  const [name = "", tag = ""] = value.split(".");
  const made = browserOf(name, secret);
  const [given, right] = [Buffer.from(tag), Buffer.from(made.value.slice(name.length + 1))];
  return name !== "" && given.length === right.length && timingSafeEqual(given, right) ? made : undefined;
}

function browserOf(name: string, secret: string): PageBrowser {
  const tag = createHmac("sha256", secret).update(`checkout page ${name}`).digest("base64url");
  return { value: `${name}.${tag}`, digest: createHash("sha256").update(name).digest() };
}

/** Lax: a buyer who comes back by a link of the shop's still has it; a form of another site's does not. */
export function cookieHeader({ value }: PageBrowser, secret: string, publicUrl: string): string {
  const path = `${basePathOf(publicUrl)}/checkout/${secret}`;
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${cookieName}=${value}; Path=${path}; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
