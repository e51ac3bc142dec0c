/** How a cart comes free of its checkout, and how it becomes an order: nothing of what is in it changes by that. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import { cartLifeMs, emailLifeMs } from "./cart-status.ts";
import { type CartCommandContext, readBack, tell } from "./change-cart.ts";
import { addressLifeMs } from "./reprice.ts";

type Unlocker = Pick<CartCommandContext, "outbox" | "now" | "publicUrl">;

/** `isAsked`: somebody did it, and the lives of cart, address and e-mail begin anew as with any change; by the clock alone they go on. */
export async function unlockCart(
  transaction: Transaction,
  tenant: Unlocker,
  { cart, isAsked }: { readonly cart: CartAggregate; readonly isAsked: boolean },
): Promise<CartAggregate> {
  const { now } = tenant;
  const expiresAt = new Date(now.getTime() + cartLifeMs);
  const addressExpiresAt = new Date(now.getTime() + addressLifeMs);
  const emailEraseAfter = new Date(now.getTime() + emailLifeMs);
  const { rows } = await sql`
    with email as (
      update personal_data set erase_after = ${emailEraseAfter}::timestamptz
      where ${isAsked} and id = ${cart.buyerEmail?.id ?? null}::text and erased_at is null returning 1)
    update cart set status = 'active', version = version + 1, updated_at = ${now}::timestamptz,
      expires_at = case when ${isAsked} then ${expiresAt}::timestamptz else expires_at end,
      address_expires_at = case when ${isAsked} and address_id is not null then least(${addressExpiresAt}::timestamptz, address_expires_at_max)
        else address_expires_at end
    where id = ${cart.id} and version = ${cart.version} and status = 'locked' returning id`.execute(transaction);
  requireSaved(rows, cart);
  const after = await readBack(transaction, cart.id, now);
  tell(tenant, ["cart.unlocked"], { before: cart, after });
  return after;
}

/**
 * Only for the transaction that places its order. The order has the address and the e-mail from now on, which are kept for it; the cart keeps all
 * amounts, and no address.
 */
export async function completeCart(
  transaction: Transaction,
  tenant: Unlocker,
  { cart, orderId }: { readonly cart: CartAggregate; readonly orderId: string },
): Promise<CartAggregate> {
  const { now } = tenant;
  const { rows } = await sql`
    update cart set status = 'completed', version = version + 1, updated_at = ${now}::timestamptz, ended_at = ${now}::timestamptz, order_id = ${orderId},
      address_id = null, address_token_digest = null, address_expires_at = null, address_expires_at_max = null, delivery_options = null
    where id = ${cart.id} and version = ${cart.version} and status = 'locked' returning id`.execute(transaction);
  requireSaved(rows, cart);
  await keepForOrder(
    transaction,
    [cart.address?.id, cart.buyerEmail?.id].filter((id) => id !== undefined),
  );
  const after = await readBack(transaction, cart.id, now);
  tell(tenant, ["cart.completed"], { before: cart, after });
  return after;
}

/** Personal data that an order has is not erased with its cart. */
async function keepForOrder(transaction: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await transaction.updateTable("personalData").set({ eraseAfter: null }).where("id", "in", ids).where("erasedAt", "is", null).execute();
}

function requireSaved(rows: readonly unknown[], { id, version }: CartAggregate): void {
  if (rows.length !== 1) throw new Error(`Cart ${id} was locked at version ${version} and has another now.`);
}
