/**
 * Changes of a cart's status: revoked, expired, merged into another cart, unlocked by its checkout session,
 * completed by an order. The lines and prices stay as they are. The address and the e-mail of a cart that
 * ends are erased a day later.
 */
import { sql } from "kysely";
import { keepForOrder, personalIdsOf } from "#commerce/addresses/personal-data.ts";
import { faultAt, requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Database } from "#database/connect.ts";
import { handleDueRows } from "#database/due-rows.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { type RenderSubject, withOutbox } from "#webhooks/outbox.ts";
import { createId, toId } from "#foundation/ids.ts";
import {
  atTime,
  type CartAggregate,
  cartLifeMs,
  codeOf,
  emailLifeMs,
  type Expected,
  requireChangeable,
  revocationNoteMax,
  type RevocationReason,
  statusOf,
  warning,
} from "./cart-aggregate.ts";
import { applyPlan, type CartCommandContext, lockCart, readBack, tell } from "./change-cart.ts";
import { expireSession } from "#commerce/checkout/end-session.ts";
import { addressLifeMs, type CartDraft, type DraftLine, draftOf } from "./cart-draft.ts";
import { linesMax } from "./change-lines.ts";
import { quantityMax } from "./price-lines.ts";
import { findCarts } from "./find-carts.ts";

export interface CartTransitionInput {
  /** The version that the caller has seen: what is destroyed should have been. */
  readonly expectedVersion: number;
  readonly reason?: RevocationReason | null | undefined;
  readonly note?: string | null | undefined;
}

export async function revokeCart(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartTransitionInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoFaults(textFaults("/note", input.note, { min: 0, max: revocationNoteMax, lines: "many" }));
  const cart = await lockCart(transaction, tenant, input.cartId);
  requireChangeable(cart, input, tenant.now);
  if (cart.status === "locked") await expireSession(transaction, tenant, cart);
  return endAndNotify(transaction, tenant, {
    cart,
    status: "revoked",
    revocation: { reason: input.reason ?? "other", note: input.note ?? null },
    now: tenant.now,
  });
}

const eraseAfterMs = 24 * 3_600_000;

type Teller = Parameters<typeof tell>[0];

/**
 * Writes the end, and tells of it by its name. Whose session ran out before was free again by the clock: that
 * is told first.
 */
async function endAndNotify(
  transaction: Transaction,
  teller: Teller,
  ending: CartEnd,
): Promise<CartAggregate> {
  const { cart, status, now } = ending;
  await endCart(transaction, ending);
  await erasePersonalDataSoon(transaction, cart, now);
  const after = await readBack(transaction, cart.id, now);
  tell(teller, [...(cart.status === "locked" ? (["cart.unlocked"] as const) : []), `cart.${status}`], {
    before: cart,
    after,
  });
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
 * Ends a cart: its address goes, and with it what only an address tells. That it had run out before is still
 * told.
 */
async function endCart(
  transaction: Transaction,
  { cart, status, revocation, mergedIntoCartId, now }: CartEnd,
): Promise<void> {
  const { warnings } = atTime(cart, now);
  const { rows } = await sql`
    with saved as (
      update cart set status = ${status}, version = version + 1, updated_at = ${now},
        ended_at = ${status === "expired" ? null : now}::timestamptz,
        revocation_reason = ${revocation?.reason ?? null}, revocation_note = ${revocation?.note ?? null}, merged_into_cart_id = ${mergedIntoCartId ?? null},
        address_id = null, address_token_digest = null, address_expires_at = null, address_expires_at_max = null, delivery_options = null,
        warnings = ${JSON.stringify(warnings)}::jsonb, delivery_method_id = null, shipping_minor = null, shipping_discount_minor = 0, tax_minor = null,
        discount_minor = discount_minor - shipping_discount_minor, total_minor = subtotal_minor - discount_minor + shipping_discount_minor
      where id = ${cart.id} and version = ${cart.version} returning id),
    lines as (
      update cart_line set tax_minor = null, total_minor = subtotal_minor - discount_minor where cart_id = ${cart.id} and tax_minor is not null),
    promotions as (
      update cart_promotion p set discount_minor = p.discount_minor - s.amount,
        allocations = (select coalesce(jsonb_agg(a), '[]') from jsonb_array_elements(p.allocations) a where a->>'lineId' is not null)
      from (select cart_id, promotion_id, (a->>'amountMinor')::bigint as amount from cart_promotion, jsonb_array_elements(allocations) a
        where cart_id = ${cart.id} and a->>'lineId' is null) s
      where p.cart_id = s.cart_id and p.promotion_id = s.promotion_id)
    select id from saved`.execute(transaction);
  if (rows.length !== 1)
    throw new Error(`Cart ${cart.id} was locked at version ${cart.version} and has another now.`);
}

async function erasePersonalDataSoon(
  transaction: Transaction,
  cart: CartAggregate,
  now: Date,
): Promise<void> {
  const ids = personalIdsOf(cart);
  if (ids.length === 0) return;
  await transaction
    .updateTable("personalData")
    // What is due earlier stays due then; `least` passes over null.
    .set({
      eraseAfter: sql<Date>`least(erase_after, ${new Date(now.getTime() + eraseAfterMs)}::timestamptz)`,
    })
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

/**
 * Writes the expiry of carts that the clock has ended already; gives how many. What another process writes at
 * the same time is left to it.
 */
export function expireCarts({ db, now, publicUrl, render, signal }: ExpiryServices): Promise<number> {
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  return handleDueRows({
    find: (after: DueCart | undefined, rowsMax) => findDueCarts(db, { now, after, rowsMax }),
    handle: ({ id, merchantId }) =>
      inTransaction(db, (transaction) =>
        withOutbox(transaction, { merchantId, now, cause, render }, (outbox) =>
          expireCart(transaction, id, { merchantId, outbox, now, publicUrl }),
        ),
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
        where s.cart_id = c.id and (s.status = 'processing' or (s.status = 'open' and s.expires_at > ${now}))))
    order by c.expires_at, c.id limit ${rowsMax}`.execute(db);
  return rows;
}

async function expireCart(
  transaction: Transaction,
  cartId: string,
  teller: Teller & { readonly merchantId: string },
): Promise<boolean> {
  const locked = await transaction
    .selectFrom("cart")
    .select("id")
    .where("id", "=", cartId)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst();
  const cart =
    locked === undefined ? undefined : (await findCarts(transaction, [cartId], teller.now)).get(cartId);
  if (
    cart === undefined ||
    (cart.status !== "active" && cart.status !== "locked") ||
    statusOf(cart, teller.now) !== "expired"
  )
    return false;
  if (cart.status === "locked") await expireSession(transaction, teller, cart);
  await endAndNotify(transaction, teller, { cart, status: "expired", now: teller.now });
  return true;
}

type Unlocker = Pick<CartCommandContext, "outbox" | "now" | "publicUrl">;

/**
 * `isAsked`: somebody did it, and the lives of cart, address and e-mail begin anew as with any change; by the
 * clock alone they go on.
 */
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
    where id = ${cart.id} and version = ${cart.version} and status = 'locked' returning id`.execute(
    transaction,
  );
  requireSaved(rows, cart);
  const after = await readBack(transaction, cart.id, now);
  tell(tenant, ["cart.unlocked"], { before: cart, after });
  return after;
}

/**
 * Only for the transaction that places its order. The order has the address and the e-mail from now on, which
 * are kept for it; the cart keeps all amounts, and no address.
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
    where id = ${cart.id} and version = ${cart.version} and status = 'locked' returning id`.execute(
    transaction,
  );
  requireSaved(rows, cart);
  await keepForOrder(transaction, personalIdsOf(cart));
  const after = await readBack(transaction, cart.id, now);
  tell(tenant, ["cart.completed"], { before: cart, after });
  return after;
}

function requireSaved(rows: readonly unknown[], { id, version }: CartAggregate): void {
  if (rows.length !== 1) throw new Error(`Cart ${id} was locked at version ${version} and has another now.`);
}

interface CartMergeInput extends Expected {
  readonly sourceCartId: string;
}

/**
 * Adds the lines of one cart to another, for example when a guest signs in; the source ends as merged.
 * Returns the target cart, which keeps its market, address and code, and takes the code of the source if it
 * has none.
 */
export async function mergeCarts(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartMergeInput & { readonly cartId: string },
): Promise<CartAggregate> {
  const { cartId, sourceCartId } = input;
  if (cartId === sourceCartId)
    requireNoFaults([faultAt("/sourceCartId", "not_allowed", "A cart cannot be merged into itself.")]);
  const { now } = tenant;
  // Always in the same order: two merges of the same carts must not wait for each other.
  const locked = new Map<string, CartAggregate>();
  for (const id of [cartId, sourceCartId].map(toId).toSorted())
    locked.set(id, await lockCart(transaction, tenant, id));
  const [target, source] = [locked.get(cartId), locked.get(sourceCartId)];
  if (target === undefined || source === undefined) throw new Error("Both carts were locked.");
  requireChangeable(target, input, now);
  requireChangeable(source, {}, now);
  if (
    target.buyerReference !== null &&
    source.buyerReference !== null &&
    target.buyerReference !== source.buyerReference
  )
    requireNoFaults([faultAt("/sourceCartId", "not_allowed", "The two carts belong to different buyers.")]);
  const merged = await applyPlan(transaction, tenant, {
    cart: target,
    plan: () => ({ event: "cart.updated", draft: mergedDraft(target, source) }),
  });
  if (source.status === "locked") await expireSession(transaction, tenant, source);
  await endAndNotify(transaction, tenant, {
    cart: source,
    status: "merged",
    mergedIntoCartId: merged.id,
    now,
  });
  return merged;
}

function mergedDraft(target: CartAggregate, source: CartAggregate): CartDraft {
  const draft = draftOf(target);
  const code = codeOf(source);
  const isDropped =
    code !== undefined && draft.promotionCodeId !== null && draft.promotionCodeId !== code.promotionCodeId;
  return {
    ...draft,
    lines: mergedLines(draft.lines, source),
    buyerReference: draft.buyerReference ?? source.buyerReference,
    promotionCodeId: draft.promotionCodeId ?? code?.promotionCodeId ?? null,
    warnings: isDropped ? [warning("promotion_removed", null, { code: code.code })] : [],
  };
}

function mergedLines(present: readonly DraftLine[], source: CartAggregate): DraftLine[] {
  const lines = new Map(present.map((line) => [line.variantId, line]));
  for (const { variantId, quantity } of source.lines) {
    const line = lines.get(variantId) ?? { id: createId("cartLine"), variantId, quantity: 0, before: null };
    lines.set(variantId, { ...line, quantity: Math.min(quantityMax, quantity + line.quantity) });
  }
  if (lines.size > linesMax)
    requireNoFaults([
      faultAt("/sourceCartId", "too_long", `Together they would have more than ${linesMax} lines.`),
    ]);
  return [...lines.values()];
}
