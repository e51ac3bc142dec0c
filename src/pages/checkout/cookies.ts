/**
 * The cookies of a checkout page. Their path is the path of the page, so browsers send them only to this
 * page. Both cookies expire two days after they were set.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { getBasePathOfPublicUrl } from "#pages/shared/assets.ts";

const lifeSeconds = 2 * 86_400;

/**
 * Returns the attributes of a cookie. With SameSite=Lax, browsers send the cookie when the buyer follows a
 * link from the shop, but not with a form of another site.
 */
export function getCheckoutCookieAttributes(secret: string, publicUrl: string): string {
  const path = `${getBasePathOfPublicUrl(publicUrl)}/checkout/${secret}`;
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `Path=${path}; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Returns the value of a cookie; undefined if the browser sent no such cookie. */
export function readCheckoutCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/**
 * The name of the cookie that identifies the browser. The cookie's value is a random text, signed with the
 * secret of the checkout session. The page of another session therefore does not accept it.
 */
const browserCookieName = "checkout";

/** The identity of a browser on the page of one checkout session. */
export interface CheckoutBrowserIdentity {
  readonly value: string;
  /** The SHA-256 digest of the random text that identifies the browser. The database stores only this digest. */
  readonly digest: Buffer;
}

export function createCheckoutBrowserIdentity(secret: string): CheckoutBrowserIdentity {
  return browserOf(randomBytes(32).toString("base64url"), secret);
}

/**
 * Returns the identity of the browser that sends the request, read from the Cookie header. Returns undefined
 * if the cookie is missing or was signed for another checkout session.
 */
export function parseCheckoutBrowserIdentity(
  header: string | undefined,
  secret: string,
): CheckoutBrowserIdentity | undefined {
  const [name = "", tag = ""] = (readCheckoutCookie(header, browserCookieName) ?? "").split(".");
  const made = browserOf(name, secret);
  const [given, right] = [Buffer.from(tag), Buffer.from(made.value.slice(name.length + 1))];
  return name !== "" && given.length === right.length && timingSafeEqual(given, right) ? made : undefined;
}

function browserOf(name: string, secret: string): CheckoutBrowserIdentity {
  const tag = createHmac("sha256", secret).update(`checkout page ${name}`).digest("base64url");
  return { value: `${name}.${tag}`, digest: createHash("sha256").update(name).digest() };
}

export const formatCheckoutBrowserCookie = ({ value }: CheckoutBrowserIdentity, attributes: string): string =>
  `${browserCookieName}=${value}; ${attributes}`;
