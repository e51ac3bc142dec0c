/**
 * The page of a session: found by the secret of its address, and held by the browser that did something there. Another browser that comes with the same
 * address is shown nothing personal until it has given an address of its own.
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
    .where("urlDigest", "=", secretDigest(secret))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { pageDigest, ...page } = row;
  return { ...page, holderDigest: pageDigest === null ? null : Buffer.from(pageDigest) };
}

export interface PageHolder {
  readonly sessionId: string;
  readonly digest: Buffer;
  /** Also where another browser has it. */
  readonly takesOver: boolean;
}

/** After the change that it is for, whose locks it needs. False: another browser has it. */
export async function holdSessionPage(transaction: Transaction, { sessionId, digest, takesOver }: PageHolder): Promise<boolean> {
  let update = transaction.updateTable("hostedCheckoutSession").set({ pageDigest: digest }).where("id", "=", sessionId);
  if (!takesOver) update = update.where((is) => is.or([is("pageDigest", "is", null), is("pageDigest", "=", digest)]));
  const { numUpdatedRows } = await update.executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** What a session is found by from its page's address: who reads the database can open none. */
export function secretDigest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** Where a checkout's page sends the buyer back to: the merchant's own pages, which nobody else may read on the way. */
const urlMax = 2048;
/** Readers of addresses disagree about what begins otherwise, and about a backslash: some find another host in it. */
const plainStart = /^https?:\/\/[^/\\]/i;

export function returnUrlFaults(field: string, text: string): Faults {
  if (text.length > urlMax) return [faultAt(field, "too_long", `It may have ${urlMax} characters at most.`)];
  const isPlain = isCleanText(text) && !/[\s\\]/.test(text) && (plainStart.test(text) || !/^https?:/i.test(text));
  const url = isPlain ? URL.parse(text) : null;
  if (url === null) return [faultAt(field, "invalid_url", "It is not the address of a page.")];
  if (url.username !== "" || url.password !== "") return [faultAt(field, "not_allowed", "It must not have credentials in it.")];
  if (url.protocol === "https:" || (url.protocol === "http:" && isOwnMachine(url.hostname))) return [];
  return [faultAt(field, "not_allowed", "It must begin with https://; http:// is for localhost alone.")];
}

/** Who tries out a page does so on the machine that it is written on. */
const isOwnMachine = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
