/**
 * What every change of a cart has in common: the cart is locked before it is read, its state and version are
 * checked, the whole of it is priced anew, and where anything is different it is saved once and told of. A
 * change that changes nothing leaves the version, and tells nothing.
 */
import type { ServiceEvents } from "#foundation/events.ts";
import { type RawBuilder, sql } from "kysely";
import { AmountOutOfRange } from "#commerce/pricing/discounts.ts";
import type { PromotionRefusal } from "#commerce/promotions/choose-promotions.ts";
import { prepareStatement, parameter } from "#database/prepared-template.ts";
import { runPipelined, type Transaction } from "#database/transaction.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { fail, failAt } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { toId } from "#foundation/ids.ts";
import {
  type CartAggregate,
  findCodePromotion,
  type ExpectedVersionInput,
  belongsToOtherBuyer,
  isCartPastRetention,
  requireChangeableCart,
  type StoredCartWarning,
} from "./cart-aggregate.ts";
import { type CartDraft, isCartUnchanged, type NextCart } from "./cart-draft.ts";
import { loadOffer, type CartOffer, type OfferRequest } from "./load-offer.ts";
import { previousCartFields } from "./render-cart.ts";
import { repriceCart } from "./reprice.ts";
import { updateCart } from "./save-cart.ts";
import { expireCartSession } from "#commerce/checkout/end-session.ts";
import { type CartRow, cartsQuery, findCarts } from "./find-carts.ts";

/** For whom a cart changes. */
export interface CartCommandContext extends CommandContext {
  readonly keyring: Keyring;
  /** The buyer an internal frontend acts for: then carts of other buyers are not there. */
  readonly buyerReference: string | null;
  /** Nobody asks: what comes due for a cart that ended long ago is done all the same. */
  readonly isSystem?: boolean | undefined;
  readonly publicUrl: string;
  readonly events: ServiceEvents;
}

export interface CartTarget extends ExpectedVersionInput {
  readonly cartId: string;
}

export interface CartPlan {
  readonly draft: CartDraft;
  /** What happened, where anything did; null: what becomes of the code tells it. */
  readonly event: EventType | null;
  /** A code by what the buyer typed; else the draft's. */
  readonly codeNormalized?: string;
  /** Sees what there is for sale, and may refuse or want something else. */
  readonly review?: (offer: CartOffer) => CartDraft;
  /** Sees what came of it, and may refuse. */
  readonly accept?: (next: NextCart, refusal: PromotionRefusal | null) => void;
}

/** Null: nothing is to be done. */
export type PlanCartChange = (cart: CartAggregate) => CartPlan | null;

export interface CartChange {
  readonly target: CartTarget;
  readonly plan: PlanCartChange;
}

export async function changeCart(
  transaction: Transaction,
  context: CartCommandContext,
  { target, plan }: CartChange,
): Promise<CartAggregate> {
  const cart = await lockCart(transaction, context, target.cartId);
  requireChangeableCart(cart, target, context.now);
  return applyCartPlan(transaction, context, { cart, plan });
}

/** The newest there is of it, and nobody else changes it until the end of the transaction. */
export async function lockCart(
  transaction: Transaction,
  context: CartCommandContext,
  cartId: string,
): Promise<CartAggregate> {
  const cart = await tryLockCart(transaction, context, cartId);
  if (cart === undefined) throw fail("cart_not_found");
  return cart;
}

/** Undefined: there is none for the asker. */
export async function tryLockCart(
  transaction: Transaction,
  context: CartCommandContext,
  cartId: string,
): Promise<CartAggregate | undefined> {
  const id = toId(cartId);
  // A statement of its own: one that waited for the lock would have read the lines from before. Nobody waits
  // for the one before.
  const lock = prepareStatement(transaction, {
    form: "lock cart",
    write: lockStatement,
    values: { id, merchantId: context.merchantId },
  });
  const [locked, read] = await runPipelined(transaction, [lock, cartsQuery(transaction, [id], context.now)]);
  const [found] = locked?.rows.length === 1 ? ((read?.rows ?? []) as readonly CartRow[]) : [];
  const cart = found?.cart;
  if (cart === undefined || context.isSystem === true) return cart;
  return isCartPastRetention(cart, context.now) || belongsToOtherBuyer(cart, context.buyerReference)
    ? undefined
    : cart;
}

const lockStatement = (): RawBuilder<unknown> =>
  sql`select c.id from cart c where c.id = ${parameter("id")} and c.merchant_id = ${parameter("merchantId")} for no key update`;

/** The checkout session that has the cart after the change. */
export interface LockingSession {
  readonly sessionId: string;
  /** Of one that begins with this change: writes it. */
  readonly begin?: (next: NextCart) => Promise<void>;
}

export interface PlannedCartChange {
  /** Locked for the transaction, and free to be changed; or checked out, by the session that changes it. */
  readonly cart: CartAggregate;
  readonly plan: PlanCartChange;
  /** Left out: the cart is active after it. */
  readonly holder?: LockingSession;
}

export async function applyCartPlan(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, plan, holder }: PlannedCartChange,
): Promise<CartAggregate> {
  const planned = plan(cart);
  if (planned === null) return cart;
  const { draft, event, codeNormalized, review, accept } = planned;
  const offer = await loadOffer(transaction, toOfferRequest(context, draft, { codeNormalized, holder }));
  const basis = { before: cart, offer, now: context.now, isInCheckout: isLockedBefore(holder) };
  const { next, refusal } = repriceOrFail(review === undefined ? draft : review(offer), basis);
  accept?.(next, refusal);
  const isFree = cart.status === "active" && holder === undefined;
  if ((isFree || isLockedBefore(holder)) && isCartUnchanged(cart, next))
    return withCurrentWarnings(cart, next.warnings);
  return saveCartChange(transaction, context, { cart, holder, next, event });
}

/** By a session that had it before. */
const isLockedBefore = (holder: LockingSession | undefined): boolean =>
  holder !== undefined && holder.begin === undefined;

interface ChangeToSave {
  readonly cart: CartAggregate;
  readonly holder: LockingSession | undefined;
  readonly next: NextCart;
  readonly event: EventType | null;
}

async function saveCartChange(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, holder, next, event }: ChangeToSave,
): Promise<CartAggregate> {
  const { now, merchantId } = context;
  // What a session has locked that is over is free again by the clock; now that is written.
  const isUnlocked = cart.status === "locked" && !isLockedBefore(holder);
  if (isUnlocked) await expireCartSession(transaction, context, cart);
  await holder?.begin?.(next);
  const status = holder === undefined ? "active" : "locked";
  const after = await updateCart(transaction, {
    cartId: cart.id,
    merchantId,
    next,
    now,
    version: cart.version,
    status,
  });
  const types: EventType[] = [
    ...(isUnlocked ? (["cart.unlocked"] as const) : []),
    ...promotionCodeEvents(cart, after),
    ...(event === null ? [] : [event]),
  ];
  // A session that keeps the cart may still change in this transaction, and the cart shows it.
  publishCartEvents(context, types, { before: cart, after, isFinal: !isLockedBefore(holder) });
  return after;
}

/** Nothing is saved, but who asked for more than there is reads so. */
function withCurrentWarnings(cart: CartAggregate, found: readonly StoredCartWarning[]): CartAggregate {
  const kept = cart.warnings.filter(
    ({ code, lineId }) => !found.some((warning) => warning.code === code && warning.lineId === lineId),
  );
  return { ...cart, warnings: [...kept, ...found] };
}

export async function readSavedCart(
  transaction: Transaction,
  cartId: string,
  now: Date,
): Promise<CartAggregate> {
  const cart = (await findCarts(transaction, [cartId], now)).get(cartId);
  if (cart === undefined) throw new Error(`Cart ${cartId} was saved and is not there.`);
  return cart;
}

export function repriceOrFail(
  draft: CartDraft,
  basis: {
    readonly before: CartAggregate | undefined;
    readonly offer: CartOffer;
    readonly now: Date;
    readonly isInCheckout?: boolean;
  },
): ReturnType<typeof repriceCart> {
  try {
    return repriceCart({ draft, ...basis });
  } catch (error) {
    if (!(error instanceof AmountOutOfRange)) throw error;
    const message = "The cart's amounts would leave the range of whole numbers that JSON can carry.";
    throw failAt("invalid_field", { in: "body", field: "/lines", code: "out_of_range", message });
  }
}

function toOfferRequest(
  { merchantId, now }: CartCommandContext,
  draft: CartDraft,
  {
    codeNormalized,
    holder,
  }: { readonly codeNormalized: string | undefined; readonly holder: LockingSession | undefined },
): OfferRequest {
  const { marketId, buyerReference, promotionCodeId } = draft;
  const code =
    codeNormalized !== undefined
      ? { normalized: codeNormalized }
      : promotionCodeId === null
        ? null
        : { id: promotionCodeId };
  const variantIds = draft.lines.map(({ variantId }) => variantId);
  return {
    merchantId,
    marketId,
    variantIds,
    buyerReference,
    code,
    heldBySessionId: holder?.sessionId ?? null,
    now,
  };
}

/** What became of the code, whether it was asked for or found. */
function promotionCodeEvents(before: CartAggregate, after: CartAggregate): EventType[] {
  const [was, is] = [findCodePromotion(before), findCodePromotion(after)];
  if (is === undefined) return was === undefined ? [] : ["cart.promotion_removed"];
  const isNew = was?.promotionCodeId !== is.promotionCodeId;
  if (is.state === "suspended")
    return isNew
      ? ["cart.promotion_applied", "cart.promotion_suspended"]
      : was.state === "suspended"
        ? []
        : ["cart.promotion_suspended"];
  if (isNew) return ["cart.promotion_applied"];
  return was.state === "suspended" ? ["cart.promotion_restored"] : [];
}

/**
 * Each with what was different before. `isFinal`: no more of what it shows changes in this transaction, so
 * that it need not be read again.
 */
export function publishCartEvents(
  { outbox, now, publicUrl }: Pick<CartCommandContext, "outbox" | "now" | "publicUrl">,
  types: readonly EventType[],
  {
    before,
    after,
    isFinal = true,
  }: { readonly before: CartAggregate | null; readonly after: CartAggregate; readonly isFinal?: boolean },
): void {
  const previous = before === null ? null : previousCartFields({ before, after }, { now, publicUrl });
  for (const type of types)
    outbox.append({ type, id: after.id, previous, ...(isFinal ? { thing: after } : {}) });
}
