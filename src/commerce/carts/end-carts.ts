/** How a cart ends without an order: revoked, or left alone for too long. Its address and e-mail go a day later, with what they are sealed by. */
import { sql } from "kysely";
import { requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Database } from "#database/connect.ts";
import { handleDueRows } from "#database/due-rows.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { type RenderSubject, withOutbox } from "#webhooks/outbox.ts";
import { type CartAggregate, findCarts, type RevocationReason } from "./cart-aggregate.ts";
import { requireChangeable, statusOf } from "./cart-status.ts";
import { type CartCommandContext, lockCart, readBack, tell } from "./change-cart.ts";
import { type CartEnd, endCart } from "./save-cart.ts";
import { expireSession } from "./session-end.ts";

export interface CartTransitionInput {
  /** The version that the caller has seen: what is destroyed should have been. */
  readonly expectedVersion: number;
  readonly reason?: RevocationReason | null | undefined;
  readonly note?: string | null | undefined;
}

export const noteMax = 280;

export async function revokeCart(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartTransitionInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoFaults(textFaults("/note", input.note, { min: 0, max: noteMax, lines: "many" }));
  const cart = await lockCart(transaction, tenant, input.cartId);
  requireChangeable(cart, input, tenant.now);
  if (cart.status === "locked") await expireSession(transaction, tenant, cart);
  return end(transaction, tenant, {
    cart,
    status: "revoked",
    revocation: { reason: input.reason ?? "other", note: input.note ?? null },
    now: tenant.now,
  });
}

const eraseAfterMs = 24 * 3_600_000;

type Teller = Parameters<typeof tell>[0];

/** Writes the end, and tells of it by its name. Whose session ran out before was free again by the clock: that is told first. */
export async function end(transaction: Transaction, teller: Teller, ending: CartEnd): Promise<CartAggregate> {
  const { cart, status, now } = ending;
  await endCart(transaction, ending);
  await erasePersonalDataSoon(transaction, cart, now);
  const after = await readBack(transaction, cart.id, now);
  tell(teller, [...(cart.status === "locked" ? (["cart.unlocked"] as const) : []), `cart.${status}`], { before: cart, after });
  return after;
}

async function erasePersonalDataSoon(transaction: Transaction, { address, buyerEmail }: CartAggregate, now: Date): Promise<void> {
  const ids = [address?.id, buyerEmail?.id].filter((id) => id !== undefined);
  if (ids.length === 0) return;
  await transaction
    .updateTable("personalData")
    // What is due earlier stays due then; `least` passes over null.
    .set({ eraseAfter: sql<Date>`least(erase_after, ${new Date(now.getTime() + eraseAfterMs)}::timestamptz)` })
    .where("id", "in", ids)
    .where("erasedAt", "is", null)
    .execute();
}

interface ExpiryServices {
  readonly db: Database;
  readonly now: Date;
  readonly publicUrl: string;
  readonly render: RenderSubject;
  readonly signal?: AbortSignal | undefined;
}

/** Writes the expiry of carts that the clock has ended already; gives how many. What another process writes at the same time is left to it. */
export function expireCarts({ db, now, publicUrl, render, signal }: ExpiryServices): Promise<number> {
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  return handleDueRows({
    find: (after: DueCart | undefined, rowsMax) => findDueCarts(db, { now, after, rowsMax }),
    handle: ({ id, merchantId }) =>
      inTransaction(db, (transaction) =>
        withOutbox(transaction, { merchantId, now, cause, render }, (outbox) => expireCart(transaction, id, { merchantId, outbox, now, publicUrl })),
      ),
    signal,
  });
}

interface DueCart {
  readonly id: string;
  readonly merchantId: string;
  /** As PostgreSQL writes it: a Date has no microseconds, and a batch must begin exactly behind the last one. */
  readonly expiresAt: string;
}

/** As `statusOf` has it: also those that a session has locked, once it has run out. */
async function findDueCarts(
  db: Database,
  { now, after, rowsMax }: { readonly now: Date; readonly after: DueCart | undefined; readonly rowsMax: number },
): Promise<readonly DueCart[]> {
  const { rows } = await sql<DueCart>`
    select c.id, c.merchant_id, c.expires_at::text as expires_at from cart c
    where c.status in ('active', 'locked') and c.expires_at <= ${now}
      and (c.expires_at, c.id) > (${after?.expiresAt ?? "-infinity"}::text::timestamptz, ${after?.id ?? ""})
      and (c.status = 'active' or not exists (
        select 1 from hosted_checkout_session s
        where s.cart_id = c.id and (s.status = 'processing' or (s.status = 'open' and s.expires_at > ${now}))))
    order by c.expires_at, c.id limit ${rowsMax}`.execute(db);
  return rows;
}

async function expireCart(transaction: Transaction, cartId: string, teller: Teller & { readonly merchantId: string }): Promise<boolean> {
  const locked = await transaction.selectFrom("cart").select("id").where("id", "=", cartId).forNoKeyUpdate().skipLocked().executeTakeFirst();
  const cart = locked === undefined ? undefined : (await findCarts(transaction, [cartId], teller.now)).get(cartId);
  if (cart === undefined || (cart.status !== "active" && cart.status !== "locked") || statusOf(cart, teller.now) !== "expired") return false;
  if (cart.status === "locked") await expireSession(transaction, teller, cart);
  await end(transaction, teller, { cart, status: "expired", now: teller.now });
  return true;
}
