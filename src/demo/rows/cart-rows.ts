/**
 * Creates the database rows of carts, with prices computed by the rules of the service. Inserts the rows of
 * many carts with one statement per table.
 */
import type { CartStatus, CartRevocationReason } from "#commerce/carts/cart-aggregate.ts";
import { cartLifetimeMs } from "#commerce/carts/cart-status.ts";
import type { Transaction } from "#database/transaction.ts";
import { maskAddress, encryptPersonalData } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import {
  type UnpricedCartDraft,
  createEmptyUnpricedCartDraft,
  type RepricedCart,
} from "#commerce/carts/cart-draft.ts";
import type { CurrentCartPricingData } from "#commerce/carts/pricing-data.ts";
import { repriceCart } from "#commerce/carts/reprice.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import { hashCartAddressToken } from "#commerce/carts/find-carts.ts";
import { insertTableRows, type DemoTableRowToInsert } from "./insert-rows.ts";

/** The status of a cart of the demo data, with the values that this status requires. */
export interface DemoCartStatusWithDetails {
  readonly status: CartStatus;
  readonly version: number;
  readonly orderId?: string;
  readonly mergedIntoCartId?: string;
  readonly revocation?: { readonly reason: CartRevocationReason; readonly note: string };
}

export interface DemoCartRows {
  readonly cart: DemoTableRowToInsert<"cart">;
  readonly cartLine: readonly DemoTableRowToInsert<"cartLine">[];
  readonly cartPromotion: readonly DemoTableRowToInsert<"cartPromotion">[];
  readonly personalData: readonly DemoTableRowToInsert<"personalData">[];
}

export function createDemoCartRows(cart: UnsavedDemoCart, state: DemoCartStatusWithDetails): DemoCartRows {
  const { id: cartId, merchantId, next, updatedAt, personalData } = cart;
  return {
    cart: createCartRow(cart, state),
    cartLine: next.lines.map((line) =>
      Object.assign({ cartId, merchantId, createdAt: updatedAt }, line, {
        restrictions: [...line.restrictions],
      }),
    ),
    cartPromotion: next.promotions.map((promotion, position) =>
      Object.assign({ cartId, position }, promotion),
    ),
    personalData,
  };
}

function createCartRow(
  { id, merchantId, next, createdAt, updatedAt }: UnsavedDemoCart,
  state: DemoCartStatusWithDetails,
): DemoTableRowToInsert<"cart"> {
  const {
    priced,
    lines: _lines,
    promotions: _promotions,
    address: _address,
    addressTokenDigest: _digest,
    unseenWarnings: _unseen,
    ...fields
  } = next;
  return {
    ...fields,
    ...priced,
    ...createAddressColumns(next),
    id,
    merchantId,
    ...createStatusColumns(state, updatedAt),
    createdAt,
    updatedAt,
    expiresAt: new Date(updatedAt.getTime() + cartLifetimeMs),
  };
}

type Columns<Name extends keyof DemoTableRowToInsert<"cart">> = Required<
  Pick<DemoTableRowToInsert<"cart">, Name>
>;

function createAddressColumns({
  address,
  addressTokenDigest,
}: UnsavedDemoCart["next"]): Columns<
  "addressId" | "addressTokenDigest" | "addressExpiresAt" | "addressExpiresAtMax"
> {
  if (address === null)
    return { addressId: null, addressTokenDigest: null, addressExpiresAt: null, addressExpiresAtMax: null };
  return {
    addressId: address.id,
    addressTokenDigest: addressTokenDigest ?? null,
    addressExpiresAt: new Date(address.expiresAt),
    addressExpiresAtMax: new Date(address.expiresAtMax),
  };
}

function createStatusColumns(
  { status, version, orderId, mergedIntoCartId, revocation }: DemoCartStatusWithDetails,
  at: Date,
): Columns<
  "status" | "version" | "orderId" | "mergedIntoCartId" | "revocationReason" | "revocationNote" | "endedAt"
> {
  const isUnended = status === "active" || status === "locked" || status === "expired";
  return {
    status,
    version,
    orderId: orderId ?? null,
    mergedIntoCartId: mergedIntoCartId ?? null,
    revocationReason: revocation?.reason ?? null,
    revocationNote: revocation?.note ?? null,
    endedAt: isUnended ? null : at,
  };
}

export function insertDemoCartRows(transaction: Transaction, carts: readonly DemoCartRows[]): Promise<void> {
  return insertTableRows(transaction, {
    cart: carts.map(({ cart }) => cart),
    cartLine: carts.flatMap(({ cartLine }) => cartLine),
    cartPromotion: carts.flatMap(({ cartPromotion }) => cartPromotion),
    personalData: carts.flatMap(({ personalData }) => personalData),
  });
}

/**
 * The values of a cart to create. The cart is created with its final content in one step, because the
 * database allows a transaction to save a cart only once. An address is kept for one day, the longest time
 * that the service allows.
 */
export interface CreateUnsavedDemoCartInput {
  readonly merchantId: string;
  readonly offer: CurrentCartPricingData;
  readonly country: string;
  readonly lines: readonly { readonly variantId: string; readonly quantity: number }[];
  readonly buyer: { readonly reference: string; readonly email: string | null } | null;
  /**
   * The shipping address; null if the cart has no address. A cart with an address also gets the first
   * delivery method of the market.
   */
  readonly address: PostalAddress | null;
  /**
   * The promotion code that the buyer has entered; null if there is none. A code that does not apply to the
   * cart is not stored with the created cart.
   */
  readonly code: PromotionRule | null;
  readonly createdAt: Date;
  /** The time at which the cart was last changed. */
  readonly updatedAt: Date;
}

/** A cart with computed prices that has not been stored in the database yet. */
export interface UnsavedDemoCart {
  readonly id: string;
  readonly merchantId: string;
  readonly next: RepricedCart;
  readonly personalData: readonly DemoTableRowToInsert<"personalData">[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const dayMs = 86_400_000;
const addressLifetimeMs = dayMs;
/** Milliseconds from the expiry of a cart's address to its erasure from the database. */
const eraseDelayMs = dayMs;
const emailLifetimeMs = 120 * dayMs;

export function createUnsavedDemoCart(
  keyring: EncryptionKeyring,
  input: CreateUnsavedDemoCartInput,
): UnsavedDemoCart {
  const { merchantId, offer, createdAt, updatedAt } = input;
  const draft = createDraft(input);
  const basis = { before: undefined, now: updatedAt };
  const priced = repriceCart({ ...basis, draft, offer: { ...offer, code: input.code ?? undefined } });
  const { next } =
    priced.refusal === null
      ? priced
      : repriceCart({ ...basis, draft: { ...draft, promotionCodeId: null }, offer });
  const cart = {
    id: createId("cart", createdAt.getTime()),
    merchantId,
    next: extendAddressExpiry(next),
    createdAt,
    updatedAt,
  };
  return { ...cart, personalData: createPersonalDataRows(keyring, input, cart) };
}

function createDraft({
  offer,
  country,
  lines,
  buyer,
  address,
  code,
  updatedAt,
}: CreateUnsavedDemoCartInput): UnpricedCartDraft {
  const { market } = offer;
  const at = updatedAt.getTime();
  return {
    ...createEmptyUnpricedCartDraft({
      marketId: market.id,
      country,
      locale: market.defaultLocale,
      buyerReference: buyer?.reference ?? null,
      buyerSessionId: null,
    }),
    buyerEmailId: typeof buyer?.email === "string" ? createId("personalData", at) : null,
    lines: lines.map(({ variantId, quantity }) => ({
      id: createId("cartLine", at),
      variantId,
      quantity,
      before: null,
    })),
    ...createDraftDelivery(address, market, at),
    promotionCodeId: code?.code?.id ?? null,
  };
}

function createDraftDelivery(
  address: PostalAddress | null,
  { deliveries: [first] }: CurrentCartPricingData["market"],
  at: number,
): Pick<UnpricedCartDraft, "address" | "addressTokenDigest" | "deliveryMethodId"> {
  if (address === null) return { address: null, addressTokenDigest: undefined, deliveryMethodId: null };
  const expiresAt = new Date(at + addressLifetimeMs).toISOString();
  return {
    address: {
      id: createId("personalData", at),
      masked: maskAddress(address),
      level: "strict",
      expiresAt,
      expiresAtMax: expiresAt,
    },
    // Address tokens are stored only as a digest. The token is created for its digest and then dropped, so a
    // client that needs a token must submit the address again.
    addressTokenDigest: hashCartAddressToken(createId("addressToken", at)),
    deliveryMethodId: first?.id ?? null,
  };
}

function extendAddressExpiry({ address, ...next }: RepricedCart): RepricedCart {
  return { ...next, address: address === null ? null : { ...address, expiresAt: address.expiresAtMax } };
}

/**
 * Creates the rows with the buyer's encrypted e-mail address and postal address. An address outside the
 * market, which pricing has removed from the cart, gets no row.
 */
function createPersonalDataRows(
  keyring: EncryptionKeyring,
  { address, buyer }: CreateUnsavedDemoCartInput,
  { id: cartId, merchantId, next, updatedAt: now }: Omit<UnsavedDemoCart, "personalData">,
): DemoTableRowToInsert<"personalData">[] {
  const rows: DemoTableRowToInsert<"personalData">[] = [];
  const ids = { merchantId, cartId, now };
  if (address !== null && next.address !== null) {
    const eraseAfter = new Date(now.getTime() + addressLifetimeMs + eraseDelayMs);
    rows.push(
      toPersonalDataRow(
        encryptPersonalData(keyring, {
          ...ids,
          id: next.address.id,
          kind: "address",
          address,
          level: "strict",
          eraseAfter,
        }),
      ),
    );
  }
  if (next.buyerEmailId !== null && typeof buyer?.email === "string") {
    const eraseAfter = new Date(now.getTime() + emailLifetimeMs);
    rows.push(
      toPersonalDataRow(
        encryptPersonalData(keyring, {
          ...ids,
          id: next.buyerEmailId,
          kind: "buyer_email",
          email: buyer.email,
          eraseAfter,
        }),
      ),
    );
  }
  return rows;
}

function toPersonalDataRow(
  sealed: ReturnType<typeof encryptPersonalData>,
): DemoTableRowToInsert<"personalData"> {
  return { ...sealed, masked: JSON.parse(sealed.masked) as unknown };
}
