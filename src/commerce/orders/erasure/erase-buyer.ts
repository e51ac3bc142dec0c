/**
 * Erases a buyer's addresses and e-mails wherever they lie, in one transaction: their data keys go, what is
 * shown of them is reduced to the country, carts that are still open lose them, the bodies of events that
 * showed a part of them keep an id alone, and answers that were kept for retries are emptied. What was
 * bought, and for how much, stays.
 */
import { sql } from "kysely";
import { erasePersonalData } from "#commerce/addresses/personal-data.ts";
import { toCartDraft } from "#commerce/carts/cart-draft.ts";
import { cartStatusAt } from "#commerce/carts/cart-status.ts";
import { applyCartPlan, type CartCommandContext, lockCart } from "#commerce/carts/change-cart.ts";
import { emptyIdempotencyRecords, findIdempotencyRecords } from "#database/idempotency-maintenance.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";
import { type ErasureFinds, whoWasTold } from "./erasure-scope.ts";

export interface Erased {
  /** Addresses and e-mails; those that were erased before are not counted. */
  readonly personalData: number;
  readonly carts: number;
  readonly orders: number;
  readonly eventBodies: number;
  readonly keptAnswers: number;
}

interface Erasing {
  /** Its scope is locked, and is still what it was when it was found. */
  readonly finds: ErasureFinds;
  /** Also while an order is still to be sent, which then nobody knows where to. */
  readonly isForced: boolean;
}

export async function eraseBuyer(
  transaction: Transaction,
  context: CartCommandContext,
  { finds, isForced }: Erasing,
): Promise<Erased> {
  const { cartIds, orderIds, personalIds } = finds.scope;
  const openCartIds = await requireNotUnderWay(transaction, context, { finds, isForced });
  // First: carts are told of as they are then, which is without what is erased.
  const personalData = await erasePersonalData(transaction, personalIds, context.now);
  for (const cartId of openCartIds) await detach(transaction, context, cartId);
  return {
    personalData,
    carts: cartIds.length,
    orders: orderIds.length,
    eventBodies: await emptyEvents(transaction, [...cartIds, ...orderIds]),
    keptAnswers: await emptyAnswers(transaction, context, finds),
  };
}

/** Gives the carts that are still open. */
async function requireNotUnderWay(
  transaction: Transaction,
  { now }: CartCommandContext,
  { finds, isForced }: Erasing,
): Promise<readonly string[]> {
  const { cartIds, orderIds } = finds.scope;
  const carts = [...(await findCarts(transaction, cartIds, now)).values()];
  const locked = carts.filter((cart) => cartStatusAt(cart, now) === "locked");
  if (locked.length > 0) {
    const sessions = locked.map(({ session }) => session?.id).join(", ");
    throw fail("invalid_state", {
      message: `A checkout is under way (${sessions}): cancel it, or wait until it is over. Nothing was erased.`,
    });
  }
  const { rows: waiting } = await sql<{ id: string }>`
    select id from sales_order where id = any(${orderIds}::text[]) and status in ('pending', 'confirmed', 'on_hold') order by id`.execute(
    transaction,
  );
  if (waiting.length > 0 && !isForced) {
    const ids = waiting.map(({ id }) => id).join(", ");
    throw fail("invalid_state", {
      message: `Orders are not done yet (${ids}), and need their address: with --force it is erased all the same. Nothing was erased.`,
    });
  }
  return carts.filter((cart) => cartStatusAt(cart, now) === "active").map(({ id }) => id);
}

/** Priced anew: what it costs to send it is not known any more. */
async function detach(transaction: Transaction, context: CartCommandContext, cartId: string): Promise<void> {
  const cart = await lockCart(transaction, { ...context, isSystem: true }, cartId);
  if (cart.address === null && cart.buyerEmail === null) return;
  const draft = { ...toCartDraft(cart), address: null, buyerEmailId: null };
  await applyCartPlan(transaction, context, { cart, plan: () => ({ event: "cart.updated", draft }) });
}

/** A body that was cut off already looks like this: it has the id, and says that the rest is left out. */
async function emptyEvents(transaction: Transaction, subjectIds: readonly string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update event set snapshot = replace(thin, '"truncated":false', '"truncated":true')
    where subject_id = any(${subjectIds}::text[]) and snapshot <> replace(thin, '"truncated":false', '"truncated":true')`.execute(
    transaction,
  );
  return Number(numAffectedRows);
}

/** Those that were found, and those that may have come since. */
async function emptyAnswers(
  transaction: Transaction,
  { keyring, merchantId }: CartCommandContext,
  finds: ErasureFinds,
): Promise<number> {
  const { traces, answers, lookedUpTo } = finds;
  const ownerIds = await whoWasTold(transaction, merchantId);
  const newer = await findIdempotencyRecords(transaction, keyring, {
    ownerIds,
    holds: traces.isIn,
    since: lookedUpTo,
  });
  return emptyIdempotencyRecords(transaction, keyring, [...answers, ...newer]);
}
