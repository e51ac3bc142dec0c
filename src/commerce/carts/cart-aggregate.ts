/**
 * A cart as it is stored, with all that any view of it needs, in one statement however many are asked for. Prices and texts are those of its
 * last change; only what is for sale of a line is read as it is now.
 */
import { type CompiledQuery, type RawBuilder, sql } from "kysely";
import type { Translated } from "#commerce/catalog/read-products.ts";
import { reservedAt } from "#commerce/catalog/availability.ts";
import type { PromotionKind, RefusalReason } from "#commerce/promotions/promotion-rule.ts";
import type { MaskedAddress } from "#commerce/addresses/mask-address.ts";
import { paddedInTemplate, parameter, prepareStatement } from "#database/prepared-template.ts";
import type { Reader } from "#database/transaction.ts";
import { utc } from "#database/sql-fragments.ts";
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";

export const cartStatuses = ["active", "locked", "completed", "revoked", "expired", "merged"] as const;
export type CartStatus = (typeof cartStatuses)[number];

export const warningCodes = [
  "price_changed",
  "quantity_reduced",
  "out_of_stock",
  "line_unavailable",
  "promotion_suspended",
  "promotion_removed",
  "address_expired",
  "currency_changed",
  "market_changed",
] as const;
export type WarningCode = (typeof warningCodes)[number];

export interface StoredWarning {
  readonly code: WarningCode;
  readonly lineId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface StoredOption {
  readonly id: string;
  readonly name: string;
  readonly carrier: string | null;
  readonly priceMinor: number;
  readonly minDays: number;
  readonly maxDays: number;
  readonly pickup: boolean;
}

export interface LineDisplay {
  readonly productSlug: string;
  readonly sku: string;
  readonly title: string;
  readonly variantTitle: string | null;
  /** The address of our own pictures is a path. */
  readonly image: { readonly url: string; readonly alt: string | null; readonly width: number; readonly height: number } | null;
}

export interface StoredLine {
  readonly id: string;
  readonly position: number;
  readonly productId: string;
  readonly variantId: string;
  readonly quantity: number;
  readonly unitPriceMinor: number;
  readonly compareAtMinor: number | null;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly display: LineDisplay;
  readonly requiresShipping: boolean;
  readonly restrictions: readonly string[];
}

/** A line, and what is for sale of it now; null: nothing any more. */
export interface ReadLine extends StoredLine {
  readonly stock: {
    readonly onHand: number;
    readonly reserved: number;
    readonly backorderLimit: number;
    readonly lowStockThreshold: number;
    readonly discontinued: boolean;
    readonly availableFrom: string | null;
  } | null;
}

export interface StoredPromotion {
  readonly promotionId: string;
  readonly trigger: "code" | "automatic";
  readonly promotionCodeId: string | null;
  readonly state: "applied" | "suspended";
  readonly suspendedReason: RefusalReason | null;
  readonly discountMinor: number;
  /** A line's, or off the shipping. */
  readonly allocations: readonly { readonly lineId: string | null; readonly amountMinor: number }[];
}

/** With what the promotion says of itself. */
export interface ReadPromotion extends StoredPromotion {
  readonly code: string | null;
  readonly titles: Translated;
  readonly kind: PromotionKind;
  readonly basisPoints: number | null;
  readonly amountMinor: number | null;
  readonly currency: string | null;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly isExclusive: boolean;
}

export interface StoredAddress {
  readonly id: string;
  readonly masked: MaskedAddress;
  readonly level: "strict" | "basic";
  readonly expiresAt: string;
  readonly expiresAtMax: string;
}

export type RevocationReason = "buyer_request" | "merchant_request" | "security" | "duplicate" | "test" | "other";

export interface CartAggregate {
  readonly id: string;
  readonly status: CartStatus;
  readonly version: number;
  readonly merchant: { readonly id: string; readonly slug: string; readonly name: string; readonly defaultLocale: string };
  readonly marketId: string;
  /** All countries of its market. */
  readonly countries: readonly string[];
  readonly country: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly locale: string;
  readonly buyerReference: string | null;
  readonly buyerEmail: { readonly id: string; readonly hint: string } | null;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  readonly shippingMinor: number | null;
  readonly shippingDiscountMinor: number;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly deliveryMethodId: string | null;
  readonly deliveryOptions: readonly StoredOption[] | null;
  readonly warnings: readonly StoredWarning[];
  readonly address: StoredAddress | null;
  readonly session: {
    readonly id: string;
    readonly status: "open" | "processing" | "completed" | "canceled" | "expired";
    readonly expiresAt: string;
  } | null;
  readonly orderId: string | null;
  readonly mergedIntoCartId: string | null;
  readonly revocation: { readonly reason: RevocationReason; readonly note: string | null } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly endedAt: string | null;
  /** In the order of their positions. */
  readonly lines: readonly ReadLine[];
  /** In order of application. */
  readonly promotions: readonly ReadPromotion[];
}

/** By id; one that is not there is left out. Tenancy is the caller's. The time says which holds of stock have ended. */
export async function findCarts(reader: Reader, ids: readonly string[], now: Date): Promise<Map<string, CartAggregate>> {
  const { rows } = await reader.executeQuery(cartsQuery(reader, ids, now));
  return new Map(rows.map(({ cart }) => [cart.id, cart]));
}

export interface CartRow {
  readonly cart: CartAggregate;
}

/** For who sends it together with others. */
export function cartsQuery(reader: Reader, ids: readonly string[], now: Date): CompiledQuery<CartRow> {
  const list = paddedInTemplate(ids);
  const write = (): RawBuilder<CartRow> =>
    sql`select ${aggregate} as cart from cart c join merchant m on m.id = c.merchant_id where c.id ${list.write()}`;
  return prepareStatement(reader, { form: `carts ${list.form}`, write, values: { ...list.values, now } });
}

const now = parameter<Date>("now");

const ownHold = sql`h.session_id in (select hs.id from hosted_checkout_session hs where hs.cart_id = c.id)`;

const lines = sql<
  ReadLine[]
>`coalesce((select json_agg(json_build_object('id', l.id, 'position', l.position, 'productId', l.product_id, 'variantId', l.variant_id,
    'quantity', l.quantity, 'unitPriceMinor', l.unit_price_minor, 'compareAtMinor', l.compare_at_minor, 'subtotalMinor', l.subtotal_minor,
    'discountMinor', l.discount_minor, 'taxMinor', l.tax_minor, 'totalMinor', l.total_minor, 'display', l.display,
    'requiresShipping', l.requires_shipping, 'restrictions', l.restrictions,
    'stock', case when p.status = 'published' then json_build_object('onHand', coalesce(sl.on_hand, 0), 'reserved', ${reservedAt(now, ownHold)},
      'backorderLimit', coalesce(sl.backorder_limit, 0), 'lowStockThreshold', coalesce(sl.low_stock_threshold, 0), 'discontinued', v.discontinued,
      'availableFrom', ${utc(sql`v.available_from`)}) end) order by l.position, l.id)
  from cart_line l left join variant v on v.id = l.variant_id left join product p on p.id = v.product_id left join stock_level sl on sl.variant_id = v.id
  where l.cart_id = c.id), '[]'::json)`;

const promotions = sql`coalesce((select json_agg(json_build_object('promotionId', cp.promotion_id, 'trigger', cp.trigger, 'promotionCodeId', cp.promotion_code_id,
    'state', cp.state, 'suspendedReason', cp.suspended_reason, 'discountMinor', cp.discount_minor, 'allocations', cp.allocations,
    'code', pc.code, 'titles', pm.titles, 'kind', pm.kind, 'basisPoints', pm.basis_points, 'amountMinor', pm.amount_minor, 'currency', pm.currency,
    'startsAt', ${utc(sql`pm.starts_at`)}, 'endsAt', ${utc(sql`pm.ends_at`)}, 'isExclusive', pm.is_exclusive) order by cp.position, cp.promotion_id)
  from cart_promotion cp join promotion pm on pm.id = cp.promotion_id left join promotion_code pc on pc.id = cp.promotion_code_id
  where cp.cart_id = c.id), '[]'::json)`;

const aggregate = sql<CartAggregate>`json_build_object(
  'id', c.id, 'status', c.status, 'version', c.version,
  'merchant', json_build_object('id', m.id, 'slug', m.slug, 'name', m.name, 'defaultLocale', m.default_locale),
  'marketId', c.market_id, 'countries', (select json_agg(mc.country order by mc.position) from market_country mc where mc.market_id = c.market_id),
  'country', c.country, 'currency', c.currency, 'taxIncluded', c.tax_included, 'locale', c.locale, 'buyerReference', c.buyer_reference,
  'buyerEmail', (select json_build_object('id', e.id, 'hint', e.masked->'emailHint') from personal_data e where e.id = c.buyer_email_id),
  'subtotalMinor', c.subtotal_minor, 'discountMinor', c.discount_minor, 'shippingMinor', c.shipping_minor, 'shippingDiscountMinor', c.shipping_discount_minor,
  'taxMinor', c.tax_minor, 'totalMinor', c.total_minor, 'deliveryMethodId', c.delivery_method_id, 'deliveryOptions', c.delivery_options, 'warnings', c.warnings,
  'address', (select json_build_object('id', a.id, 'masked', a.masked, 'level', a.level, 'expiresAt', ${utc(sql`c.address_expires_at`)},
    'expiresAtMax', ${utc(sql`c.address_expires_at_max`)}) from personal_data a where a.id = c.address_id),
  'session', (select json_build_object('id', s.id, 'status', s.status, 'expiresAt', ${utc(sql`s.expires_at`)}) from hosted_checkout_session s
    where s.cart_id = c.id order by s.status in ('open', 'processing', 'completed') desc, s.id desc limit 1),
  'orderId', c.order_id, 'mergedIntoCartId', c.merged_into_cart_id,
  'revocation', case when c.revocation_reason is not null then json_build_object('reason', c.revocation_reason, 'note', c.revocation_note) end,
  'createdAt', ${utc(sql`c.created_at`)}, 'updatedAt', ${utc(sql`c.updated_at`)}, 'expiresAt', ${utc(sql`c.expires_at`)}, 'endedAt', ${utc(sql`c.ended_at`)},
  'lines', ${lines}, 'promotions', ${promotions})`;

/**
 * The status of a cart counts from the clock: one whose checkout session has run out is active again, one that nobody changed for 30 days has
 * expired, whether or not anybody has written that yet. What may be done in which status stands here alone.
 */
const dayMs = 86_400_000;
export const cartLifeMs = 30 * dayMs;
/** Ended carts can still be read for so long. */
export const endedLifeMs = 90 * dayMs;
/** Kept for as long as the cart can be read, counted from each change of it; an order keeps its own. */
export const emailLifeMs = cartLifeMs + endedLifeMs;

type Dated = Pick<CartAggregate, "status" | "session" | "expiresAt" | "endedAt">;

export function statusOf(cart: Dated, now: Date): CartStatus {
  if (cart.status === "locked" && !isSessionOver(cart, now)) return "locked";
  if (cart.status !== "active" && cart.status !== "locked") return cart.status;
  return new Date(cart.expiresAt) <= now ? "expired" : "active";
}

/** Locked by a session that has ended, by the clock alone as well. */
export function isSessionOver({ session }: Pick<Dated, "session">, now: Date): boolean {
  if (session === null) return true;
  return session.status === "open" ? new Date(session.expiresAt) <= now : session.status !== "processing";
}

/** Ended so long ago that it is as if it had never been. */
export function isGone(cart: Dated, now: Date): boolean {
  const status = statusOf(cart, now);
  if (status === "active" || status === "locked") return false;
  const endedAt = new Date(cart.endedAt ?? cart.expiresAt);
  return endedAt.getTime() + endedLifeMs <= now.getTime();
}

const refusals: Readonly<Record<Exclude<CartStatus, "active">, FailureCode>> = {
  locked: "cart_locked",
  completed: "cart_completed",
  revoked: "cart_revoked",
  expired: "cart_expired",
  merged: "cart_merged",
};

export interface Expected {
  readonly expectedVersion?: number | null | undefined;
}

/** State before version: of a cart that has ended the version is of no interest. */
export function requireChangeable(cart: CartAggregate, { expectedVersion }: Expected, now: Date): void {
  const status = statusOf(cart, now);
  if (status !== "active") throw refuse(refusals[status], cart, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== cart.version)
    throw refuse("cart_version_conflict", cart, { now });
}

interface Refused {
  readonly now: Date;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A 409 that says what the cart is like, so that the caller need not ask. */
export function refuse(code: FailureCode, cart: CartAggregate, refused: Refused): Failure {
  return fail(code, { conflict: cartConflict(cart, refused) });
}

export function cartConflict(cart: CartAggregate, { now, reason = null, data = {} }: Refused): FailureConflict {
  return { resource: "cart", id: cart.id, currentStatus: statusOf(cart, now), currentVersion: cart.version, reason, data };
}
