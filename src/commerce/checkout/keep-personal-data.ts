/**
 * How long a checkout keeps the personal data of its buyer: until 24 hours after the end of an open session.
 * While the session is being paid, `keepPersonalDataForOrder` keeps the data without a time limit, because
 * the order will refer to it.
 */
import { sql } from "kysely";
import { getPersonalDataIds } from "#commerce/addresses/personal-data.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { endedCartRetentionMs } from "#commerce/carts/cart-status.ts";
import type { Transaction } from "#database/transaction.ts";

/** Milliseconds that personal data is kept after the end of its session, for the analysis of problems. */
const retentionAfterSessionMs = 24 * 3_600_000;

/**
 * Keeps rows of personal data at least until 24 hours after the end of the session. Rows that are kept longer
 * already stay unchanged.
 */
export async function keepPersonalDataUntilSessionEnd(
  transaction: Transaction,
  ids: readonly string[],
  expiresAt: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = greatest(erase_after,
    ${new Date(expiresAt.getTime() + retentionAfterSessionMs)}::timestamptz)
    where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}

/**
 * Restores the time limits of personal data after a failed payment: the address is then kept as long as the
 * session, and the e-mail as long as the cart.
 */
export async function keepPersonalDataAfterFailedPayment(
  transaction: Transaction,
  { cart, expiresAt, now }: { readonly cart: CartAggregate; readonly expiresAt: Date; readonly now: Date },
): Promise<void> {
  const addressEraseAfter = new Date(Math.max(expiresAt.getTime(), now.getTime()) + retentionAfterSessionMs);
  const emailEraseAfter = new Date(
    Math.max(Date.parse(cart.expiresAt) + endedCartRetentionMs, addressEraseAfter.getTime()),
  );
  const ids = getPersonalDataIds(cart);
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = case kind when 'buyer_email'
    then ${emailEraseAfter}::timestamptz else ${addressEraseAfter}::timestamptz end
    where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}
