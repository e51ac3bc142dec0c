/**
 * Sets how long the personal data of a checkout is kept: until 24 hours after the expiry of an open session.
 * While a payment is being processed, the data has no erasure time, because it may become part of an order
 * (see `cancelPlannedErasureOfOrderData`).
 */
import { sql } from "kysely";
import { getPersonalDataIdsOfCartOrOrder } from "#commerce/addresses/personal-data.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { endedCartRetentionMs } from "#commerce/carts/cart-status.ts";
import { bufferWriteUntilNextStatement, type Transaction } from "#database/transaction.ts";

/**
 * Time from the end of a checkout session to the erasure of its personal data, in milliseconds. The delay
 * lets operators analyze problems.
 */
const retentionAfterSessionMs = 24 * 3_600_000;

/**
 * Moves the erasure time of personal data rows to 24 hours after the checkout session expires. A later
 * erasure time stays unchanged.
 */
export async function extendPersonalDataRetentionForCheckoutSession(
  transaction: Transaction,
  ids: readonly string[],
  expiresAt: Date,
): Promise<void> {
  if (ids.length === 0) return;
  const query = sql`update personal_data set erase_after = greatest(erase_after,
    ${new Date(expiresAt.getTime() + retentionAfterSessionMs)}::timestamptz)
    where id = any(${ids}::text[]) and erased_at is null`.compile(transaction);
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["personalData"] });
}

/**
 * Sets the erasure times of personal data again after a failed payment. The address is kept until 24 hours
 * after the end of the checkout session. The e-mail address is kept as long as the cart can be read, and at
 * least as long as the address.
 */
export async function setPersonalDataRetentionAfterFailedPayment(
  transaction: Transaction,
  { cart, expiresAt, now }: { readonly cart: CartAggregate; readonly expiresAt: Date; readonly now: Date },
): Promise<void> {
  const addressEraseAfter = new Date(Math.max(expiresAt.getTime(), now.getTime()) + retentionAfterSessionMs);
  const emailEraseAfter = new Date(
    Math.max(Date.parse(cart.expiresAt) + endedCartRetentionMs, addressEraseAfter.getTime()),
  );
  const ids = getPersonalDataIdsOfCartOrOrder(cart);
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = case kind when 'buyer_email'
    then ${emailEraseAfter}::timestamptz else ${addressEraseAfter}::timestamptz end
    where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}
