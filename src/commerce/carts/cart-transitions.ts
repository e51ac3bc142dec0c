/**
 * Changes the status of a cart: the cart is revoked, expires, is completed by an order, or becomes active
 * again after its checkout session. The lines of the cart and their prices stay unchanged. One day after the
 * end of a cart, its address and e-mail address are erased.
 */

import { sql } from "kysely";
import {
  cancelPlannedErasureOfOrderData,
  getPersonalDataIdsOfCartOrOrder,
} from "#commerce/addresses/personal-data.ts";
import { requireNoInputFieldErrors, getTextFieldErrors } from "#foundation/faults.ts";
import type { Database } from "#database/connect.ts";
import { processDueRows } from "#database/due-rows.ts";
import { bufferWriteUntilNextStatement, runInTransaction, type Transaction } from "#database/transaction.ts";
import { type EventSubjectRenderer, runFunctionAndInsertOutboxEvents } from "#webhooks/outbox.ts";
import { expireCheckoutSessionOfCart } from "#commerce/checkout/end-session.ts";
import {
  type CartAggregate,
  cartRevocationNoteLengthMax,
  type CartRevocationReason,
} from "./cart-aggregate.ts";
import {
  omitExpiredCartAddress,
  cartLifetimeMs,
  buyerEmailRetentionMs,
  requireChangeableCart,
  getCartStatusAtTime,
} from "./cart-status.ts";
import { type CartCommandContext, lockAndReadCart, reloadCartAfterSave } from "./change-cart.ts";
import { type CartEventPublishContext, publishCartEvents } from "./save-cart.ts";
import { cartAddressLifetimeMs } from "./cart-draft.ts";
import { findCarts } from "./find-carts.ts";

export interface RevokeCartInput {
  /**
   * The version of the cart that the caller has read. Required, so that a caller does not end a cart that has
   * changed since.
   */
  readonly expectedVersion: number;
  readonly reason?: CartRevocationReason | null | undefined;
  readonly note?: string | null | undefined;
}

export async function revokeCart(
  transaction: Transaction,
  context: CartCommandContext,
  input: RevokeCartInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoInputFieldErrors(
    getTextFieldErrors("/note", input.note, { min: 0, max: cartRevocationNoteLengthMax, lines: "many" }),
  );
  const cart = await lockAndReadCart(transaction, context, input.cartId);
  requireChangeableCart(cart, input, context.now);
  if (cart.status === "locked") await expireCheckoutSessionOfCart(transaction, context, cart);
  return endCartAndPublishEvent(transaction, context, {
    cart,
    status: "revoked",
    revocation: { reason: input.reason ?? "other", note: input.note ?? null },
    now: context.now,
  });
}

/**
 * Time from the end of a cart to the erasure of its address and of the buyer's e-mail address, in
 * milliseconds.
 */
const erasureDelayMs = 24 * 3_600_000;

/**
 * Ends a cart and publishes an event about the end. If the cart is still stored as locked although its
 * checkout session has expired, publishes `cart.unlocked` first.
 */
export async function endCartAndPublishEvent(
  transaction: Transaction,
  context: CartEventPublishContext,
  ending: CartEnd,
): Promise<CartAggregate> {
  const { cart, status, now } = ending;
  await endCart(transaction, ending);
  await schedulePersonalDataErasure(transaction, cart, now);
  const after = await reloadCartAfterSave(transaction, cart.id, now);
  publishCartEvents(
    context,
    [...(cart.status === "locked" ? (["cart.unlocked"] as const) : []), `cart.${status}`],
    {
      before: cart,
      after,
    },
  );
  return after;
}

interface CartEnd {
  readonly cart: CartAggregate;
  readonly status: "revoked" | "expired" | "merged";
  readonly revocation?: { readonly reason: string; readonly note: string | null };
  readonly mergedIntoCartId?: string;
  readonly now: Date;
}

/**
 * Saves a cart that has ended, for example because it was ordered: sets the final status, and removes the
 * address, tax, shipping price and delivery options. A warning that the address has expired is kept.
 */
async function endCart(
  transaction: Transaction,
  { cart, status, revocation, mergedIntoCartId, now }: CartEnd,
): Promise<void> {
  const { warnings } = omitExpiredCartAddress(cart, now);
  // The database trigger `cart_saved` refuses the update if the stored version is not the version that was read.
  const query = sql`
    with saved as (
      update cart set status = ${status}, version = ${cart.version + 1}, updated_at = ${now},
        ended_at = ${status === "expired" ? null : now}::timestamptz,
        revocation_reason = ${revocation?.reason ?? null}, revocation_note = ${revocation?.note ?? null},
        merged_into_cart_id = ${mergedIntoCartId ?? null},
        address_id = null, address_token_digest = null, address_expires_at = null, address_expires_at_max =
        null, delivery_options = null,
        warnings = ${JSON.stringify(warnings)}::jsonb, delivery_method_id = null, shipping_minor = null,
        shipping_discount_minor = 0, shipping_taxes = null, tax_minor = null,
        discount_minor = discount_minor - shipping_discount_minor, total_minor = subtotal_minor -
        discount_minor + shipping_discount_minor
      where id = ${cart.id}),
    lines as (
      update cart_line set tax_rate = null, tax_minor = null, total_minor = subtotal_minor - discount_minor
      where cart_id = ${cart.id} and tax_minor is not null),
    promotions as (
      update cart_promotion p set discount_minor = p.discount_minor - s.amount,
        allocations = (select coalesce(jsonb_agg(a), '[]') from jsonb_array_elements(p.allocations) a
        where a->>'lineId' is not null)
      from (select cart_id, promotion_id, (a->>'amountMinor')::bigint as amount
      from cart_promotion, jsonb_array_elements(allocations) a
        where cart_id = ${cart.id} and a->>'lineId' is null) s
      where p.cart_id = s.cart_id and p.promotion_id = s.promotion_id)
    select 1`.compile(transaction);
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["cart", "cartLine", "cartPromotion"] });
}

async function schedulePersonalDataErasure(
  transaction: Transaction,
  cart: CartAggregate,
  now: Date,
): Promise<void> {
  const ids = getPersonalDataIdsOfCartOrOrder(cart);
  if (ids.length === 0) return;
  const query = transaction
    .updateTable("personalData")
    // An earlier erasure time of the personal data is kept. The SQL function `least` ignores null, so a row
    // without an erasure time gets the new time.
    .set({
      eraseAfter: sql<Date>`least(erase_after, ${new Date(now.getTime() + erasureDelayMs)}::timestamptz)`,
    })
    .where("id", "in", ids)
    .where("erasedAt", "is", null)
    .compile();
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["personalData"] });
}

interface CartExpiryServices {
  readonly db: Database;
  readonly now: Date;
  readonly publicUrl: string;
  readonly render: EventSubjectRenderer;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Saves the status `expired` for carts whose expiry time has passed, and returns the number of these carts.
 * Skips carts that another process has locked.
 */
export function expireCarts({ db, now, publicUrl, render, signal }: CartExpiryServices): Promise<number> {
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  return processDueRows({
    find: (after: DueCart | undefined, rowsMax) => findDueCarts(db, { now, after, rowsMax }),
    handle: ({ id, merchantId }) =>
      runInTransaction(db, (transaction) =>
        runFunctionAndInsertOutboxEvents(transaction, { merchantId, now, cause, render }, (outbox) =>
          expireCart(transaction, id, { merchantId, outbox, now, publicUrl }),
        ),
      ),
    signal,
  });
}

interface DueCart {
  readonly id: string;
  readonly merchantId: string;
  /**
   * The cart's expiry time as a text with microseconds. The next batch of carts begins after this time. A
   * JavaScript Date has only milliseconds, so a batch that begins after a Date could repeat or skip a cart.
   */
  readonly expiresAt: string;
}

/**
 * Finds carts whose expiry time has passed, by the same rule as `getCartStatusAtTime`. Locked carts are
 * included if their checkout session has ended.
 */
async function findDueCarts(
  db: Database,
  {
    now,
    after,
    rowsMax,
  }: { readonly now: Date; readonly after: DueCart | undefined; readonly rowsMax: number },
): Promise<readonly DueCart[]> {
  const { rows } = await sql<DueCart>`
    select c.id, c.merchant_id, c.expires_at::text as expires_at from cart c
    where c.status in ('active', 'locked') and c.expires_at <= ${now}
      and (c.expires_at, c.id) > (${after?.expiresAt ?? "-infinity"}::text::timestamptz, ${after?.id ?? ""})
      and (c.status = 'active' or not exists (
        select 1 from hosted_checkout_session s
        where s.cart_id = c.id and (s.status = 'processing' or (s.status = 'open'
        and s.expires_at > ${now}))))
    order by c.expires_at, c.id limit ${rowsMax}`.execute(db);
  return rows;
}

async function expireCart(
  transaction: Transaction,
  cartId: string,
  context: CartEventPublishContext & { readonly merchantId: string },
): Promise<boolean> {
  const locked = await transaction
    .selectFrom("cart")
    .select("id")
    .where("id", "=", cartId)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst();
  const cart =
    locked === undefined ? undefined : (await findCarts(transaction, [cartId], context.now)).get(cartId);
  if (
    cart === undefined ||
    (cart.status !== "active" && cart.status !== "locked") ||
    getCartStatusAtTime(cart, context.now) !== "expired"
  )
    return false;
  if (cart.status === "locked") await expireCheckoutSessionOfCart(transaction, context, cart);
  await endCartAndPublishEvent(transaction, context, { cart, status: "expired", now: context.now });
  return true;
}

type CartUnlockContext = Pick<CartCommandContext, "outbox" | "now" | "publicUrl">;

/**
 * Makes a locked cart active again. If a caller canceled the checkout session (`isRequested`), the cart, its
 * address and its e-mail address get new expiry times, as at every change. If the session ran out, their
 * expiry times stay as they are.
 */
export async function unlockCartAfterCheckout(
  transaction: Transaction,
  context: CartUnlockContext,
  { cart, isRequested }: { readonly cart: CartAggregate; readonly isRequested: boolean },
): Promise<CartAggregate> {
  const { now } = context;
  const expiresAt = new Date(now.getTime() + cartLifetimeMs);
  const addressExpiresAt = new Date(now.getTime() + cartAddressLifetimeMs);
  const emailEraseAfter = new Date(now.getTime() + buyerEmailRetentionMs);
  const { rows } = await sql`
    with email as (
      update personal_data set erase_after = ${emailEraseAfter}::timestamptz
      where ${isRequested} and id = ${cart.buyerEmail?.id ?? null}::text and erased_at is null returning 1)
    update cart set status = 'active', version = version + 1, updated_at = ${now}::timestamptz,
      expires_at = case when ${isRequested} then ${expiresAt}::timestamptz else expires_at end,
      address_expires_at = case when ${isRequested} and address_id is not null
      then least(${addressExpiresAt}::timestamptz, address_expires_at_max)
        else address_expires_at end
    where id = ${cart.id} and version = ${cart.version} and status = 'locked' returning id`.execute(
    transaction,
  );
  requireOneRowSaved(rows, cart);
  const after = await reloadCartAfterSave(transaction, cart.id, now);
  publishCartEvents(context, ["cart.unlocked"], { before: cart, after });
  return after;
}

/**
 * Marks a cart as completed, in the transaction that places the order. The order keeps the buyer's address
 * and e-mail address. The cart keeps all amounts, but loses the address.
 */
export async function completeCart(
  transaction: Transaction,
  context: CartUnlockContext,
  { cart, orderId }: { readonly cart: CartAggregate; readonly orderId: string },
): Promise<CartAggregate> {
  const { now } = context;
  const { rows } = await sql`
    update cart set status = 'completed', version = version + 1, updated_at = ${now}::timestamptz, ended_at =
    ${now}::timestamptz, order_id = ${orderId},
      address_id = null, address_token_digest = null, address_expires_at = null, address_expires_at_max =
      null, delivery_options = null
    where id = ${cart.id} and version = ${cart.version} and status = 'locked' returning id`.execute(
    transaction,
  );
  requireOneRowSaved(rows, cart);
  await cancelPlannedErasureOfOrderData(transaction, getPersonalDataIdsOfCartOrOrder(cart));
  const after = await reloadCartAfterSave(transaction, cart.id, now);
  publishCartEvents(context, ["cart.completed"], { before: cart, after });
  return after;
}

function requireOneRowSaved(rows: readonly unknown[], { id, version }: CartAggregate): void {
  if (rows.length !== 1)
    throw new Error(`Cart ${id} was locked at version ${version}, but its version has changed.`);
}
