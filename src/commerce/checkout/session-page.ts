/**
 * The page of a session. The secret in its URL finds the session, and the browser that did something there
 * first holds it: another browser with the same URL sees nothing personal until the buyer has entered an
 * address in it. Also checks the URLs that the page sends the buyer back to.
 */
import { createHash } from "node:crypto";
import type { Reader, Transaction } from "#database/transaction.ts";
import { faultAt, type Faults } from "#foundation/faults.ts";
import { isCleanText } from "#foundation/text.ts";

export interface SessionPage {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly cartId: string;
  /** Of the cookie of the browser that has it; null: nobody has done anything there. */
  readonly holderDigest: Buffer | null;
}

export async function findSessionPage(reader: Reader, secret: string): Promise<SessionPage | undefined> {
  const row = await reader
    .selectFrom("hostedCheckoutSession")
    .select(["id as sessionId", "merchantId", "cartId", "pageDigest"])
    .where("urlDigest", "=", digestPageSecret(secret))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { pageDigest, ...page } = row;
  return { ...page, holderDigest: pageDigest === null ? null : Buffer.from(pageDigest) };
}

export interface SessionPageClaim {
  readonly sessionId: string;
  readonly digest: Buffer;
  /** Also where another browser has it. */
  readonly takesOver: boolean;
}

/** After the change that it is for, whose locks it needs. False: another browser has it. */
export async function claimSessionPage(
  transaction: Transaction,
  { sessionId, digest, takesOver }: SessionPageClaim,
): Promise<boolean> {
  let update = transaction
    .updateTable("hostedCheckoutSession")
    .set({ pageDigest: digest })
    .where("id", "=", sessionId);
  if (!takesOver)
    update = update.where((is) => is.or([is("pageDigest", "is", null), is("pageDigest", "=", digest)]));
  const { numUpdatedRows } = await update.executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The database keeps only the digest of the secret, so that a reader of the database cannot open a page. */
export function digestPageSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

const returnUrlLengthMax = 2048;
/**
 * Readers of addresses disagree about what begins otherwise, and about a backslash: some find another host in
 * it.
 */
const unambiguousStart = /^https?:\/\/[^/\\]/i;

/** The URL of one of the merchant's pages: https, so that nobody reads it on the way. */
export function returnUrlFaults(field: string, text: string): Faults {
  if (text.length > returnUrlLengthMax)
    return [faultAt(field, "too_long", `It may have ${returnUrlLengthMax} characters at most.`)];
  const isPlain =
    isCleanText(text) && !/[\s\\]/.test(text) && (unambiguousStart.test(text) || !/^https?:/i.test(text));
  const url = isPlain ? URL.parse(text) : null;
  if (url === null) return [faultAt(field, "invalid_url", "It is not the address of a page.")];
  if (url.username !== "" || url.password !== "")
    return [faultAt(field, "not_allowed", "It must not have credentials in it.")];
  if (url.protocol === "https:" || (url.protocol === "http:" && isLocalHost(url.hostname))) return [];
  return [faultAt(field, "not_allowed", "It must begin with https://; http:// is for localhost alone.")];
}

/** A developer runs the page on the local machine. */
const isLocalHost = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
