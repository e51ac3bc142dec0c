/**
 * Erases all addresses and e-mail addresses of a buyer in one transaction. Deletes their data keys, reduces
 * masked addresses to the country, and removes the data from open carts. Reduces the stored bodies of events
 * to ids, and empties stored answers of idempotent requests. Products, quantities and amounts of orders are
 * not changed.
 */
import { sql } from "kysely";
import { erasePersonalData } from "#commerce/addresses/personal-data.ts";
import { toUnpricedCartDraft } from "#commerce/carts/cart-draft.ts";
import { getCartStatusAtTime } from "#commerce/carts/cart-status.ts";
import {
  applyCartChangePlan,
  type CartCommandContext,
  lockAndReadCart,
} from "#commerce/carts/change-cart.ts";
import {
  eraseStoredAnswersOfIdempotencyRecords,
  findIdempotencyRecordsByBody,
} from "#database/idempotency-maintenance.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";
import { type BuyerDataToErase, findIdempotencyRecordOwnerIds } from "./erasure-scope.ts";

export interface BuyerErasureResult {
  /**
   * Number of addresses and e-mail addresses that this call erased. Data that was erased earlier is not
   * counted.
   */
  readonly personalData: number;
  readonly carts: number;
  readonly orders: number;
  readonly eventBodies: number;
  readonly keptAnswers: number;
}

interface ErasureInput {
  /**
   * The buyer's data, which was found before the transaction began. The caller must have locked the buyer's
   * carts and orders, and must have checked that they are still the same carts and orders.
   */
  readonly finds: BuyerDataToErase;
  /**
   * True to erase the buyer's data even if an order of the buyer is not completed. Such an order loses its
   * delivery address.
   */
  readonly isForced: boolean;
}

export async function eraseBuyerData(
  transaction: Transaction,
  context: CartCommandContext,
  { finds, isForced }: ErasureInput,
): Promise<BuyerErasureResult> {
  const { cartIds, orderIds, personalIds } = finds.scope;
  const openCartIds = await requireErasable(transaction, context, { finds, isForced });
  // The personal data is erased before the cart events are published, so that these events do not contain it.
  const personalData = await erasePersonalData(transaction, personalIds, context.now);
  for (const cartId of openCartIds) await removePersonalDataFromCart(transaction, context, cartId);
  return {
    personalData,
    carts: cartIds.length,
    orders: orderIds.length,
    eventBodies: await redactEvents(transaction, [...cartIds, ...orderIds]),
    keptAnswers: await redactStoredAnswers(transaction, context, finds),
  };
}

/**
 * Throws if a checkout of the buyer is in progress, or if an order is not completed and the erasure is not
 * forced. Returns the ids of the buyer's active carts.
 */
async function requireErasable(
  transaction: Transaction,
  { now }: CartCommandContext,
  { finds, isForced }: ErasureInput,
): Promise<readonly string[]> {
  const { cartIds, orderIds } = finds.scope;
  const carts = [...(await findCarts(transaction, cartIds, now)).values()];
  const locked = carts.filter((cart) => getCartStatusAtTime(cart, now) === "locked");
  if (locked.length > 0) {
    const sessions = locked.map(({ session }) => session?.id).join(", ");
    throw createFailure("invalid_state", {
      message:
        `A checkout is in progress (${sessions}). Cancel the checkout or wait until it ends. ` +
        "Nothing was erased.",
    });
  }
  const { rows: waiting } = await sql<{ id: string }>`
    select id from sales_order where id = any(${orderIds}::text[])
    and status in ('pending', 'confirmed', 'on_hold') order by id`.execute(transaction);
  if (waiting.length > 0 && !isForced) {
    const ids = waiting.map(({ id }) => id).join(", ");
    throw createFailure("invalid_state", {
      message:
        `Orders are not completed (${ids}) and need their address. Repeat with --force to erase it ` +
        "anyway. Nothing was erased.",
    });
  }
  return carts.filter((cart) => getCartStatusAtTime(cart, now) === "active").map(({ id }) => id);
}

/**
 * Removes the address and e-mail address from an active cart. Prices the cart again, because the shipping
 * price is not known without an address.
 */
async function removePersonalDataFromCart(
  transaction: Transaction,
  context: CartCommandContext,
  cartId: string,
): Promise<void> {
  const cart = await lockAndReadCart(transaction, { ...context, isSystem: true }, cartId);
  if (cart.address === null && cart.buyerEmail === null) return;
  const draft = { ...toUnpricedCartDraft(cart), address: null, buyerEmailId: null };
  await applyCartChangePlan(transaction, context, { cart, plan: () => ({ event: "cart.updated", draft }) });
}

/**
 * Removes personal data from the stored bodies of events about the given carts and orders. The new body
 * contains only the object's id and `"truncated": true`.
 */
async function redactEvents(transaction: Transaction, subjectIds: readonly string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update event set snapshot = replace(thin, '"truncated":false', '"truncated":true')
    where subject_id = any(${subjectIds}::text[]) and snapshot <> replace(thin, '"truncated":false',
    '"truncated":true')`.execute(transaction);
  return Number(numAffectedRows);
}

/**
 * Empties the stored answers of idempotent requests that contain data of the buyer. These are the answers
 * that were found before the transaction, and answers that were stored later.
 */
async function redactStoredAnswers(
  transaction: Transaction,
  { keyring, merchantId }: CartCommandContext,
  finds: BuyerDataToErase,
): Promise<number> {
  const { traces, answers, lookedUpTo } = finds;
  const ownerIds = await findIdempotencyRecordOwnerIds(transaction, merchantId);
  const newer = await findIdempotencyRecordsByBody(transaction, keyring, {
    ownerIds,
    matchesBody: traces.isIn,
    since: lookedUpTo,
  });
  return eraseStoredAnswersOfIdempotencyRecords(transaction, keyring, [...answers, ...newer]);
}
