/**
 * Controls the access to the checkout page of a session. The secret in the URL identifies the session. The
 * first browser that changes something on the page claims the page: another browser with the same URL sees no
 * personal data until the buyer has entered an address there. Also checks the URLs to which the page sends
 * the buyer back.
 */
import { createHash } from "node:crypto";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createRequestBodyErrorDetail, type InputFieldErrors } from "#foundation/faults.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";

export interface CheckoutPageSessionRow {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly cartId: string;
  /**
   * The digest of the cookie of the browser that claimed the checkout page. The first browser that changes
   * something on the page claims it. Null if no browser has claimed the page.
   */
  readonly holderDigest: Buffer | null;
}

export async function findCheckoutSessionByPageSecret(
  reader: DatabaseOrTransaction,
  secret: string,
): Promise<CheckoutPageSessionRow | undefined> {
  const row = await reader
    .selectFrom("hostedCheckoutSession")
    .select(["id as sessionId", "merchantId", "cartId", "pageDigest"])
    .where("urlDigest", "=", hashCheckoutPageSecret(secret))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { pageDigest, ...page } = row;
  return { ...page, holderDigest: pageDigest === null ? null : Buffer.from(pageDigest) };
}

export interface CheckoutPageClaimByBrowser {
  readonly sessionId: string;
  readonly digest: Buffer;
  /** True if this browser takes the checkout page over from another browser that claimed the page before. */
  readonly takesOver: boolean;
}

/**
 * Claims the checkout page for a browser. Returns false if another browser has claimed the page and this
 * browser does not take it over. The caller must run this function in the transaction that changed the
 * session, because this transaction has locked the cart and the session.
 */
export async function tryClaimCheckoutPageForBrowser(
  transaction: Transaction,
  { sessionId, digest, takesOver }: CheckoutPageClaimByBrowser,
): Promise<boolean> {
  let update = transaction
    .updateTable("hostedCheckoutSession")
    .set({ pageDigest: digest })
    .where("id", "=", sessionId);
  if (!takesOver)
    update = update.where((where) =>
      where.or([where("pageDigest", "is", null), where("pageDigest", "=", digest)]),
    );
  const { numUpdatedRows } = await update.executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Returns the digest of the secret in a checkout page's URL. The database stores only the digest, so that a
 * person who can read the database cannot open the page.
 */
export function hashCheckoutPageSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

const returnUrlLengthMax = 2048;
/**
 * Matches URLs in which exactly two slashes precede the host. URL parsers treat other numbers of slashes and
 * backslashes differently, so two parsers could find different hosts in the same URL.
 */
const unambiguousStart = /^https?:\/\/[^/\\]/i;

/**
 * Returns the faults of the URL to which the buyer returns after the checkout. The URL must use https, so
 * that it cannot be read on its way through the network.
 */
export function findCheckoutReturnUrlFaults(field: string, text: string): InputFieldErrors {
  if (text.length > returnUrlLengthMax)
    return [
      createRequestBodyErrorDetail(
        field,
        "too_long",
        `The URL must have at most ${returnUrlLengthMax} characters.`,
      ),
    ];
  const isPlain =
    isTextWithoutForbiddenCharacters(text) &&
    !/[\s\\]/.test(text) &&
    (unambiguousStart.test(text) || !/^https?:/i.test(text));
  const url = isPlain ? URL.parse(text) : null;
  if (url === null)
    return [
      createRequestBodyErrorDetail(
        field,
        "invalid_url",
        "The value must be a complete URL, for example https://shop.example/done.",
      ),
    ];
  if (url.username !== "" || url.password !== "")
    return [
      createRequestBodyErrorDetail(
        field,
        "not_allowed",
        "The URL must not contain a user name or a password.",
      ),
    ];
  if (url.protocol === "https:" || (url.protocol === "http:" && isLocalHost(url.hostname))) return [];
  return [
    createRequestBodyErrorDetail(
      field,
      "not_allowed",
      "The URL must start with https://; http:// is allowed for localhost only.",
    ),
  ];
}

/** Returns true if the host is the local machine, on which developers run shop pages without https. */
const isLocalHost = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
