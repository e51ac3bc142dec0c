/**
 * What every change of a session has in common. The change locks the cart, then the session, and checks the
 * session's state and version. It prices the whole cart anew, which stays locked, holds the stock that the
 * cart needs, and raises both versions by one. A change without an effect leaves both versions. A cart that
 * cannot be sold now is refused here.
 */
import {
  type CartAggregate,
  type ExpectedVersionInput,
  cartFailure,
  cartStatusAt,
  type StoredCartLine,
  type StoredCartWarning,
} from "#commerce/carts/cart-aggregate.ts";
import { type CartDraft, toCartDraft } from "#commerce/carts/cart-draft.ts";
import {
  applyCartPlan,
  type CartCommandContext,
  type PlanCartChange,
  tryLockCart,
} from "#commerce/carts/change-cart.ts";
import { holdStock, type StockShortage } from "#commerce/inventory/stock-holds.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { money } from "#foundation/money.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { toId } from "#foundation/ids.ts";
import type { SessionCancelActor } from "./end-session.ts";
import type { VariantQuantity } from "#commerce/inventory/stock-levels.ts";
import { sessionPaymentStatus } from "./render-session.ts";
import {
  findSessions,
  requireOpenSession,
  type SessionAggregate,
  type SessionStatus,
} from "./session-aggregate.ts";

export interface LockedSession {
  readonly cart: CartAggregate;
  readonly session: SessionAggregate;
}

/** Locks the cart and the session until the end of the transaction, then reads both. */
export async function lockSession(
  transaction: Transaction,
  context: CartCommandContext,
  sessionId: string,
): Promise<LockedSession> {
  const found = await transaction
    .selectFrom("hostedCheckoutSession")
    .select(["id", "cartId"])
    .where("id", "=", toId(sessionId))
    .where("merchantId", "=", context.merchantId)
    .executeTakeFirst();
  const cart = found === undefined ? undefined : await tryLockCart(transaction, context, found.cartId);
  if (found === undefined || cart === undefined) throw fail("checkout_session_not_found");
  await transaction
    .selectFrom("hostedCheckoutSession")
    .select("id")
    .where("id", "=", found.id)
    .forNoKeyUpdate()
    .execute();
  return { cart, session: await readSession(transaction, found.id) };
}

export async function readSession(transaction: Transaction, sessionId: string): Promise<SessionAggregate> {
  const session = (await findSessions(transaction, [sessionId])).get(sessionId);
  if (session === undefined) throw new Error(`Session ${sessionId} was locked and is not there.`);
  return session;
}

/**
 * What becomes of a session's row; what is left out stays. How one ends without an order is
 * `releaseSession`'s.
 */
export interface SessionPatch {
  readonly status?: Extract<SessionStatus, "open" | "processing" | "completed">;
  readonly country?: string;
  readonly currency?: string;
  readonly locale?: string;
  readonly amountTotalMinor?: number;
  readonly submittedAt?: Date | null;
  readonly completedAt?: Date;
  readonly orderId?: string;
}

/** Raises the version. The secret of its page goes when it is completed. */
export async function saveSession(
  transaction: Transaction,
  { now }: Pick<CartCommandContext, "now">,
  { session, patch }: { readonly session: SessionAggregate; readonly patch: SessionPatch },
): Promise<SessionAggregate> {
  const secretless =
    patch.status === "completed" ? { urlSealed: null, urlDataKey: null, urlKeyId: null } : {};
  const { numUpdatedRows } = await transaction
    .updateTable("hostedCheckoutSession")
    .set({ ...patch, ...secretless, version: session.version + 1, updatedAt: now })
    .where("id", "=", session.id)
    .where("version", "=", session.version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n)
    throw new Error(`Session ${session.id} was locked at version ${session.version} and has another now.`);
  return readSession(transaction, session.id);
}

/** What a session takes over from its cart. */
export function sessionFieldsOfCart({ country, currency, locale, totalMinor }: CartAggregate): SessionPatch {
  return { country, currency, locale, amountTotalMinor: totalMinor };
}

export interface SessionEventInput {
  readonly before: SessionAggregate;
  readonly after: SessionAggregate;
  /** Where the cart changed with it. */
  readonly carts?: { readonly before: CartAggregate; readonly after: CartAggregate };
}

/** With what was different before. */
export function publishSessionEvent(
  { outbox, now }: Pick<CartCommandContext, "outbox" | "now">,
  type: EventType,
  { before, after, carts }: SessionEventInput,
): void {
  const [was, is] = [changeableFields(before), changeableFields(after)];
  const ofSession = Object.entries(was).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(is[name]),
  );
  const ofCart = carts === undefined ? [] : cartDifferences(carts, now);
  outbox.append({ type, id: after.id, previous: Object.fromEntries([...ofSession, ...ofCart]) });
}

/** What of the contract's fields can change. */
function changeableFields(session: SessionAggregate): Record<string, unknown> {
  const {
    version,
    status,
    orderId,
    country: market,
    currency,
    locale,
    amountTotalMinor,
    completedAt,
    canceledAt,
    cancellation,
  } = session;
  const [amountTotal, paymentStatus] = [money(amountTotalMinor, currency), sessionPaymentStatus(session)];
  return {
    version,
    status,
    orderId,
    market,
    currency,
    locale,
    amountTotal,
    paymentStatus,
    completedAt,
    canceledAt,
    cancellation,
  };
}

function cartDifferences(
  { before, after }: NonNullable<SessionEventInput["carts"]>,
  now: Date,
): [string, unknown][] {
  const status: [string, unknown][] =
    before.status === cartStatusAt(after, now) ? [] : [["cartStatus", before.status]];
  return [
    ...(before.version === after.version ? [] : [["cartVersion", before.version] as [string, unknown]]),
    ...status,
  ];
}

export interface SessionRepriceInput extends LockedSession {
  /** What shall be different; left out: nothing but what is for sale by now. */
  readonly plan?: PlanCartChange;
}

export interface SessionRepriceResult {
  /** Saved where it is different, and locked by the session as before. */
  readonly cart: CartAggregate;
  /** What is said of its lines now: a cart that was not saved keeps the warnings of its last change. */
  readonly warnings: readonly StoredCartWarning[];
  readonly isChanged: boolean;
}

/**
 * Prices the cart of an open session anew, and has the session hold exactly what is in it. The session itself
 * is the caller's to save.
 */
export async function repriceSessionCart(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, session, plan = planNoChange }: SessionRepriceInput,
): Promise<SessionRepriceResult> {
  let warnings: readonly StoredCartWarning[] = cart.warnings;
  const noting: PlanCartChange = (before) => {
    const planned = plan(before);
    return planned === null
      ? null
      : {
          ...planned,
          accept: (next, refusal) => {
            planned.accept?.(next, refusal);
            ({ warnings } = next);
          },
        };
  };
  const after = await applyCartPlan(transaction, context, {
    cart,
    plan: noting,
    holder: { sessionId: session.id },
  });
  const shortages = await holdStock(transaction, context, {
    sessionId: session.id,
    expiresAt: new Date(session.expiresAt),
    lines: sellableLines(after.lines, warnings),
  });
  // Named as the caller knows it: what was saved of it is taken back with the refusal.
  requireStockHeld({ ...after, version: cart.version }, shortages, context.now);
  return { cart: after, warnings, isChanged: after.version !== cart.version };
}

const planNoChange = (
  cart: CartAggregate,
): { readonly draft: CartDraft; readonly event: "cart.updated" } => ({
  draft: toCartDraft(cart),
  event: "cart.updated",
});

export interface SessionTarget extends ExpectedVersionInput {
  readonly sessionId: string;
}

export interface SessionChange {
  readonly target: SessionTarget;
  /** May write what belongs to the change; gives what shall be different of the cart. */
  readonly work: (cart: CartAggregate, session: SessionAggregate) => PlanCartChange | Promise<PlanCartChange>;
}

/** By the session's own page, while it is open. */
export async function changeSession(
  transaction: Transaction,
  context: CartCommandContext,
  { target, work }: SessionChange,
): Promise<LockedSession> {
  const { cart, session } = await lockSession(transaction, context, target.sessionId);
  requireOpenSession(session, target, context.now);
  const { cart: after, isChanged } = await repriceSessionCart(transaction, context, {
    cart,
    session,
    plan: await work(cart, session),
  });
  if (!isChanged) return { cart: after, session };
  return {
    cart: after,
    session: await saveSession(transaction, context, { session, patch: sessionFieldsOfCart(after) }),
  };
}

/** The context of commands that create or cancel sessions. */
export interface SessionCommandContext extends CartCommandContext {
  readonly cancelActor: SessionCancelActor;
  /** The internal token of the request; null if it has another credential. */
  readonly tokenId: string | null;
}

/** Warnings about lines that cannot be bought now. */
const unbuyableWarningCodes: ReadonlySet<string> = new Set(["line_unavailable", "out_of_stock"]);

function unbuyableLineIds(warnings: readonly StoredCartWarning[]): string[] {
  return warnings.flatMap(({ code, lineId }) =>
    lineId !== null && unbuyableWarningCodes.has(code) ? [lineId] : [],
  );
}

function sellableLines(
  lines: readonly StoredCartLine[],
  warnings: readonly StoredCartWarning[],
): VariantQuantity[] {
  const stopped = new Set(unbuyableLineIds(warnings));
  return lines
    .filter(({ id }) => !stopped.has(id))
    .map(({ variantId, quantity }) => ({ variantId, quantity }));
}

/** 409 `invalid_state`, reason `line_unavailable`, with the lines. */
export function requireAvailableLines(
  cart: CartAggregate,
  warnings: readonly StoredCartWarning[],
  now: Date,
): void {
  const lineIds = unbuyableLineIds(warnings);
  if (lineIds.length > 0)
    throw cartFailure("invalid_state", cart, { now, reason: "line_unavailable", data: { lineIds } });
}

/** The same, with reason `insufficient_stock`, where a line had to be made less. */
export function requireFullQuantities(
  cart: CartAggregate,
  warnings: readonly StoredCartWarning[],
  now: Date,
): void {
  const lines = warnings.flatMap(({ code, lineId, data }) =>
    code === "quantity_reduced" ? [{ lineId, wanted: data["wanted"], available: data["quantity"] }] : [],
  );
  if (lines.length > 0) throw insufficientStockFailure(cart, lines, now);
}

export function requireStockHeld(cart: CartAggregate, shortages: readonly StockShortage[], now: Date): void {
  if (shortages.length === 0) return;
  const lines = shortages.map(({ variantId, wanted, available }) => ({
    lineId: cart.lines.find((line) => line.variantId === variantId)?.id ?? null,
    wanted,
    available,
  }));
  throw insufficientStockFailure(cart, lines, now);
}

const insufficientStockFailure = (cart: CartAggregate, lines: readonly object[], now: Date): Error =>
  cartFailure("invalid_state", cart, { now, reason: "insufficient_stock", data: { lines } });
