/**
 * How long a checkout keeps what it knows of its buyer: past its own end while it is open, and without end while it is paid, because the order will
 * have it, however long the provider takes to answer.
 */
import { sql } from "kysely";
import { type CartAggregate, endedLifeMs } from "#commerce/carts/cart-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";

/** After the end of the session, for who asks what went wrong. */
const keptAfterMs = 24 * 3_600_000;

interface Kept {
  readonly addressId: string | null;
  readonly emailId: string | null;
  /** Of the session. */
  readonly expiresAt: Date;
}

/** At least for as long as the session is open; what is kept longer stays. */
export async function keepUntilOver(transaction: Transaction, { addressId, emailId, expiresAt }: Kept): Promise<void> {
  const ids = [addressId, emailId].filter((id) => id !== null);
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = greatest(erase_after, ${new Date(expiresAt.getTime() + keptAfterMs)}::timestamptz)
    where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}

/** From its submission on it is the order's. */
export async function keepForOrder(transaction: Transaction, cart: CartAggregate): Promise<void> {
  const ids = [cart.address?.id, cart.buyerEmail?.id].filter((id) => id !== undefined);
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = null where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}

/** There is no order: the address is the session's again, and the e-mail the cart's. */
export async function keepForCart(
  transaction: Transaction,
  { cart, expiresAt, now }: { readonly cart: CartAggregate; readonly expiresAt: Date; readonly now: Date },
): Promise<void> {
  const over = new Date(Math.max(expiresAt.getTime(), now.getTime()) + keptAfterMs);
  const emailOver = new Date(Math.max(Date.parse(cart.expiresAt) + endedLifeMs, over.getTime()));
  const ids = [cart.address?.id, cart.buyerEmail?.id].filter((id) => id !== undefined);
  if (ids.length === 0) return;
  await sql`update personal_data set erase_after = case kind when 'buyer_email' then ${emailOver}::timestamptz else ${over}::timestamptz end
    where id = any(${ids}::text[]) and erased_at is null`.execute(transaction);
}
