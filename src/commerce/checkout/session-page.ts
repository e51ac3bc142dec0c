/**
 * The page of a session: found by the secret of its address, and held by the browser that did something there. Another browser that comes with the same
 * address is shown nothing personal until it has given an address of its own.
 */
import type { Reader, Transaction } from "#database/transaction.ts";
import { secretDigest } from "./page-secret.ts";

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
