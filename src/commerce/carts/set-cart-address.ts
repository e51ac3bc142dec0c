/**
 * Sets the address of a cart: a new address or a saved address of the buyer. The address is stored encrypted
 * and is never returned; the caller gets a token for it. The token is valid for this cart until the cart
 * ends, another address is set, or 30 minutes pass without a change of the cart (at most 24 hours).
 */

import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import {
  bufferPersonalDataErasure,
  maskAddress,
  type MaskedAddress,
  decryptPersonalData,
  encryptPersonalData,
} from "#commerce/addresses/personal-data.ts";
import type {
  AddressValidationLevel,
  PostalAddress,
  PostalAddressInput,
} from "#commerce/addresses/postal-address.ts";
import { createInvalidFieldFailure } from "#foundation/faults.ts";
import { bufferInsertUntilNextStatement } from "#database/prepared-template.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { saveBuyerAddress } from "#commerce/addresses/saved-addresses.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import {
  type ExpectedVersionInput,
  createCartConflictFailure,
  requireChangeableCart,
} from "./cart-status.ts";
import { cartAddressLifetimeMs, toUnpricedCartDraft } from "./cart-draft.ts";
import {
  applyCartChangePlan,
  type CartCommandContext,
  lockAndReadCart,
  type CartChangePlanner,
} from "./change-cart.ts";
import { type DeliveryOptionView, toDeliveryOptionViews } from "./render-cart.ts";
import { type CartTotals, toCartTotals } from "./render-promotion-state.ts";
import { hashCartAddressToken } from "./find-carts.ts";

export interface SetCartAddressInput extends ExpectedVersionInput {
  readonly address: PostalAddressInput;
  /** How strictly the address is checked; `strict` if left out. */
  readonly validation?: AddressValidationLevel | null | undefined;
  /** True to save the address also for later carts of the buyer; false if left out. */
  readonly saveForBuyer?: boolean | null | undefined;
}

export interface CartAddressToken {
  readonly addressToken: string;
  readonly cartId: string;
  readonly cartVersion: number;
  readonly expiresAt: string;
  readonly address: MaskedAddress;
  readonly validation: { readonly level: AddressValidationLevel; readonly corrected: readonly string[] };
  readonly serviceability: {
    readonly status: "deliverable" | "partially_deliverable" | "no_delivery_options";
    readonly undeliverableLineIds: readonly string[];
  };
  readonly quote: {
    readonly totals: CartTotals;
    readonly deliveryOptions: readonly DeliveryOptionView[];
    readonly quotedAt: Date;
    readonly validUntil: string;
  } | null;
}

const addressLifetimeMsMax = 24 * 3_600_000;

/**
 * Time from the latest possible expiry of a cart's address to the erasure of the encrypted address, in
 * milliseconds. Until then, operators can use the address to analyze problems.
 */
const erasureDelayMs = 24 * 3_600_000;

export async function setCartAddress(
  transaction: Transaction,
  context: CartCommandContext,
  input: SetCartAddressInput & { readonly cartId: string },
): Promise<CartAddressToken> {
  const checked = normalizeCartAddressInput(input);
  const cart = await lockAndReadCart(transaction, context, input.cartId);
  requireChangeableCart(cart, input, context.now);
  await saveCartAddressForBuyer(transaction, context, { cart, input, checked });
  return setAddressOfLockedCart(transaction, context, { cart, ...checked, target: input });
}

export interface NormalizedCartAddress {
  readonly address: PostalAddress;
  readonly level: AddressValidationLevel;
  readonly corrected: readonly string[];
}

/** Checks and normalizes the entered address. Throws `address_invalid` if the address breaks a rule. */
export function normalizeCartAddressInput({
  address,
  validation,
}: Pick<SetCartAddressInput, "address" | "validation">): NormalizedCartAddress {
  const level = validation ?? "strict";
  return { level, ...normalizeAndValidateAddress(address, level) };
}

/**
 * If `saveForBuyer` is true, saves the address for later carts of the buyer; throws if the cart has no buyer
 * reference.
 */
export async function saveCartAddressForBuyer(
  transaction: Transaction,
  context: CartCommandContext,
  {
    cart,
    input,
    checked,
  }: {
    readonly cart: CartAggregate;
    readonly input: Pick<SetCartAddressInput, "saveForBuyer">;
    readonly checked: NormalizedCartAddress;
  },
): Promise<void> {
  const { buyerReference } = cart;
  if (input.saveForBuyer !== true) return;
  if (buyerReference === null)
    throw createInvalidFieldFailure("invalid_field", "/saveForBuyer", {
      code: "buyer_required",
      message: "The cart has no buyer. Set the cart's buyer before an address is saved.",
    });
  await saveBuyerAddress(transaction, context, {
    buyerReference,
    address: checked.address,
    level: checked.level,
  });
}

export type CartAddressToSave = NormalizedCartAddress & {
  readonly cart: CartAggregate;
  /** The version of the cart that the caller expects; if left out, all versions are accepted. */
  readonly target?: ExpectedVersionInput;
};

/** Encrypts and stores an address, sets it on the locked cart, and returns the address token. */
export async function setAddressOfLockedCart(
  transaction: Transaction,
  context: CartCommandContext,
  save: CartAddressToSave,
): Promise<CartAddressToken> {
  const { level, corrected, cart } = save;
  const { token, plan } = await encryptAndStoreCartAddress(transaction, context, save);
  const after = await applyCartChangePlan(transaction, context, { cart, plan, target: save.target ?? {} });
  return toCartAddressToken(after, { token, level, corrected, now: context.now });
}

export interface CartAddressTokenAndChangePlan {
  /** The new address token, which represents the stored address. */
  readonly token: string;
  readonly plan: CartChangePlanner;
}

/**
 * Encrypts and stores the new address, and erases the cart's previous address. Returns the new address token,
 * and a function that plans the change of the cart to the new address. The function works for active carts
 * and for carts in checkout.
 */
export async function encryptAndStoreCartAddress(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, address, level }: CartAddressToSave,
): Promise<CartAddressTokenAndChangePlan> {
  const { merchantId, now } = context;
  const masked = maskAddress(address);
  if (!cart.countries.includes(masked.countryCode)) {
    throw createCartConflictFailure("address_market_mismatch", cart, {
      now,
      data: { market: cart.country, countries: cart.countries },
    });
  }
  const token = createId("addressToken", now.getTime());
  const id = createId("personalData", now.getTime());
  const [expiresAt, expiresAtMax] = [cartAddressLifetimeMs, addressLifetimeMsMax].map((life) =>
    new Date(now.getTime() + life).toISOString(),
  );
  const eraseAfter = new Date(now.getTime() + addressLifetimeMsMax + erasureDelayMs);
  const row = encryptPersonalData(context.keyring, {
    id,
    merchantId,
    cartId: cart.id,
    kind: "address",
    address,
    level,
    now,
    eraseAfter,
  });
  await bufferInsertUntilNextStatement(transaction, "personalData", [row]);
  if (cart.address !== null) await bufferPersonalDataErasure(transaction, [cart.address.id], now);
  const plan: CartChangePlanner = (before) => ({
    event: "cart.address_set",
    draft: {
      ...toUnpricedCartDraft(before),
      country: masked.countryCode,
      address: { id, masked, level, expiresAt: expiresAt ?? "", expiresAtMax: expiresAtMax ?? "" },
      addressTokenDigest: hashCartAddressToken(token),
    },
  });
  return { token, plan };
}

interface IssuedAddressToken {
  readonly token: string;
  readonly level: AddressValidationLevel;
  readonly corrected: readonly string[];
  readonly now: Date;
}

function toCartAddressToken(
  cart: CartAggregate,
  { token, level, corrected, now }: IssuedAddressToken,
): CartAddressToken {
  if (cart.address === null) throw new Error(`Cart ${cart.id} has no address after it was set.`);
  const options = toDeliveryOptionViews(cart);
  const hasLines = cart.lines.length > 0;
  return {
    addressToken: token,
    cartId: cart.id,
    cartVersion: cart.version,
    expiresAt: cart.address.expiresAt,
    address: cart.address.masked,
    validation: { level, corrected },
    serviceability: toServiceability(cart),
    quote: hasLines
      ? {
          totals: toCartTotals(cart),
          deliveryOptions: options,
          quotedAt: now,
          validUntil: cart.address.expiresAt,
        }
      : null,
  };
}

/**
 * Returns whether the cart can be delivered to its address, with the ids of the lines that cannot be
 * delivered. These are the lines that are out of stock or no longer sold. If no delivery option exists for
 * the address, all lines that require shipping are included.
 */
function toServiceability(cart: CartAggregate): CartAddressToken["serviceability"] {
  const unbuyableLineIds = new Set(
    cart.warnings
      .filter(({ code }) => code === "line_unavailable" || code === "out_of_stock")
      .map(({ lineId }) => lineId),
  );
  const shipped = cart.lines.filter(({ requiresShipping }) => requiresShipping);
  const hasOptions = shipped.length === 0 || (cart.deliveryOptions ?? []).length > 0;
  const undeliverable = cart.lines.filter(
    (line) => unbuyableLineIds.has(line.id) || (line.requiresShipping && !hasOptions),
  );
  const undeliverableLineIds = undeliverable.map(({ id }) => id);
  if (!hasOptions) return { status: "no_delivery_options", undeliverableLineIds };
  return { status: undeliverable.length > 0 ? "partially_deliverable" : "deliverable", undeliverableLineIds };
}

interface CartSavedAddressSetInput extends ExpectedVersionInput {
  readonly savedAddressId: string;
}

/**
 * Sets a saved address of the buyer on the cart. The cart gets a copy of the address, which is erased with
 * the cart.
 */
export async function setCartAddressFromSavedAddress(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartSavedAddressSetInput & { readonly cartId: string },
): Promise<CartAddressToken> {
  const cart = await lockAndReadCart(transaction, context, input.cartId);
  requireChangeableCart(cart, input, context.now);
  const row = await transaction
    .selectFrom("personalData")
    .selectAll()
    .where("id", "=", blankIdWithForbiddenCharacters(input.savedAddressId))
    .where("merchantId", "=", context.merchantId)
    .where("buyerReference", "=", cart.buyerReference)
    .executeTakeFirst();
  const savedAddress = row === undefined ? undefined : decryptPersonalData(context.keyring, row);
  if (savedAddress?.kind !== "address") {
    throw createInvalidFieldFailure("resource_not_found", "/savedAddressId", {
      code: "unknown",
      message: "The cart's buyer has no saved address with this id.",
    });
  }
  return setAddressOfLockedCart(transaction, context, {
    cart,
    target: input,
    address: savedAddress.address,
    level: savedAddress.level,
    corrected: [],
  });
}
