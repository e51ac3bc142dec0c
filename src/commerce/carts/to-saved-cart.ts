/**
 * Computes the stored cart after a change, so that a command need not read the cart again. The result equals
 * the cart that the database returns after the change.
 */
import {
  type CartAggregate,
  cartColumns,
  type CartLineWithStock,
  type CartPromotionWithShownFields,
  type StoredCartLine,
  type StoredCartPromotion,
} from "./cart-aggregate.ts";
import { cartLifetimeMs } from "./cart-status.ts";
import { type RepricedCart, toCartColumnValues } from "./cart-draft.ts";
import type { CartPricingVariant, CurrentCartPricingData } from "./pricing-data.ts";

/** The checkout session for which a cart is locked, with its state at the end of the transaction. */
export interface LockingSessionState {
  readonly sessionId: string;
  readonly status: "open" | "processing";
  /** The time at which the session expires, as an RFC 3339 text. */
  readonly expiresAt: string;
}

interface CartChangeBasis {
  readonly before: CartAggregate;
  readonly next: RepricedCart;
  readonly offer: CurrentCartPricingData;
  readonly now: Date;
  /** The new e-mail address of the buyer; undefined if the change keeps the e-mail address. */
  readonly buyerEmail: CartAggregate["buyerEmail"] | undefined;
  /** The checkout session for which the cart is locked after the change; undefined if there is none. */
  readonly lockingSession: LockingSessionState | undefined;
}

/**
 * Returns the stored cart after a change. Returns undefined if the change sets an e-mail address of which it
 * does not name the masked form, which must then be read from the database.
 */
export function buildCartAggregateAfterChange({
  before,
  next,
  offer,
  now,
  buyerEmail = before.buyerEmail,
  lockingSession,
}: CartChangeBasis): CartAggregate | undefined {
  if (next.buyerEmailId !== (buyerEmail?.id ?? null)) return undefined;
  const values = toCartColumnValues(next);
  const columns = Object.fromEntries(cartColumns.map((name) => [name, values[name]])) as typeof values;
  const { address } = next;
  return {
    ...before,
    ...columns,
    ...(lockingSession === undefined ? {} : { status: "locked", session: toCartSession(lockingSession) }),
    buyerEmail,
    warnings: toJsonbKeyOrder(values.warnings),
    version: before.version + 1,
    countries: offer.market.countries,
    address: address === null ? null : { ...address, masked: toJsonbKeyOrder(address.masked) },
    updatedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + cartLifetimeMs).toISOString(),
    lines: next.lines.map((line) => withStock(line, before, offer)),
    promotions: next.promotions.map((promotion) => withRule(promotion, offer)),
  };
}

const toCartSession = ({
  sessionId: id,
  status,
  expiresAt,
}: LockingSessionState): NonNullable<CartAggregate["session"]> => ({ id, status, expiresAt });

function withStock(
  line: StoredCartLine,
  before: CartAggregate,
  { variants }: CurrentCartPricingData,
): CartLineWithStock {
  const known = before.lines.find(({ variantId }) => variantId === line.variantId);
  if (known !== undefined) return { ...line, stock: known.stock };
  return { ...line, stock: toCartLineStock(variants.get(line.variantId)) };
}

/** Returns the stock of a cart line; null if the variant was deleted or its product is not published. */
export function toCartLineStock(variant: CartPricingVariant | undefined): CartLineWithStock["stock"] {
  if (variant?.isPublished !== true) return null;
  const { onHand, reserved, backorderLimit, lowStockThreshold, discontinued, availableFrom } = variant;
  return { onHand, reserved, backorderLimit, lowStockThreshold, discontinued, availableFrom };
}

function withRule(
  promotion: StoredCartPromotion,
  { promotions }: CurrentCartPricingData,
): CartPromotionWithShownFields {
  const rule = promotions.get(promotion.promotionId);
  if (rule === undefined) throw new Error(`The promotion ${promotion.promotionId} was not loaded.`);
  return { ...promotion, ...rule };
}

/**
 * Returns a JSON value with its keys in the order in which PostgreSQL returns the keys of a jsonb value:
 * shorter keys first, keys of the same length by their characters.
 */
function toJsonbKeyOrder<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toJsonbKeyOrder) as Value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
      .map(([name, field]) => [name, toJsonbKeyOrder(field)]),
  ) as Value;
}
