/**
 * How long a checkout keeps the personal data of its buyer: past the end of the session while the session is
 * open. While the session is being paid `keepForOrder` keeps the data without an end, because the order will
 * refer to it.
 */
import { sql } from "kysely";
import { personalDataIds } from "#commerce/addresses/personal-data.ts";
import { type CartAggregate, endedCartRetentionMs } from "#commerce/carts/cart-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";

/** How long personal data outlives its session, so that problems can be looked into. */
const retentionAfterSessionMs = 24 * 3_600_000;

/**
 * Keeps rows of personal data at least for as long as the session is open; rows that are kept longer stay as
 * they are.
 */
export async function keepUntilSessionEnd(
  transaction: Transaction,
  ids: readonly string[],
  expiresAt: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = greatest(erase_after, ${new Date(expiresAt.getTime() + retentionAfterSessionMs)}::timestamptz)
    where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}

/** After a failed payment: the address is kept for the session again, and the e-mail for the cart. */
export async function keepAfterFailedPayment(
  transaction: Transaction,
  { cart, expiresAt, now }: { readonly cart: CartAggregate; readonly expiresAt: Date; readonly now: Date },
): Promise<void> {
  const over = new Date(Math.max(expiresAt.getTime(), now.getTime()) + retentionAfterSessionMs);
  const emailOver = new Date(Math.max(Date.parse(cart.expiresAt) + endedCartRetentionMs, over.getTime()));
  const ids = personalDataIds(cart);
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = case kind when 'buyer_email' then ${emailOver}::timestamptz else ${over}::timestamptz end
    where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}
