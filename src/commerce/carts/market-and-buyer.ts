/**
 * Creates a cart for a country, moves a cart to another country, and sets the reference and e-mail address of
 * a cart's buyer.
 */
import { findLocaleFaults, toCanonicalLocale } from "#commerce/catalog/catalog-fields.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  createInvalidFieldFailure,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import { bufferInsertUntilNextStatement } from "#database/prepared-template.ts";
import type { Transaction } from "#database/transaction.ts";
import { formatCountryCodeSuggestion } from "#foundation/country-names.ts";
import type { FailureDetail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { isBuyerReference, isCountryCode } from "#foundation/text.ts";
import {
  bufferPersonalDataErasure,
  decryptPersonalData,
  encryptPersonalData,
  maskEmail,
} from "#commerce/addresses/personal-data.ts";
import { isEmailAddress } from "#commerce/addresses/check-address.ts";
import { findCartLineFaults, cartLinesMax, type CartLineToAdd, addLinesToCartDraft } from "./change-lines.ts";
import { type CartAggregate, createCartWarning } from "./cart-aggregate.ts";
import { buyerEmailRetentionMs, type ExpectedVersionInput, requireChangeableCart } from "./cart-status.ts";
import { toUnpricedCartDraft, createEmptyUnpricedCartDraft } from "./cart-draft.ts";
import {
  applyCartChangePlan,
  type CartCommandContext,
  lockAndReadCart,
  reloadCartAfterSave,
  repriceCartOrThrowFailure,
} from "./change-cart.ts";
import { insertCart, publishCartEvents } from "./save-cart.ts";
import { loadCurrentCartPricingData } from "./load-offer.ts";

export interface CreateCartInput {
  /**
   * ISO 3166-1 alpha-2 code of the country in which the buyer shops; the cart gets the prices of this
   * country.
   */
  readonly market: string;
  /** Language of the cart's texts. If left out, the default language of the market is used. */
  readonly locale?: string | null | undefined;
  /** The stable id that the frontend uses for the buyer; must not be an e-mail address. */
  readonly buyerReference?: string | null | undefined;
  readonly lines?: readonly CartLineToAdd[] | null | undefined;
}

export async function createCart(
  transaction: Transaction,
  context: CartCommandContext,
  input: CreateCartInput,
): Promise<CartAggregate> {
  requireNoInputFieldErrors(cartCreateFaults(input, context));
  const { merchantId, now } = context;
  const market = await requireMarketOfCountry(transaction, context, input.market);
  const cartId = createId("cart", now.getTime());
  const draft = createEmptyUnpricedCartDraft({
    marketId: market.id,
    country: input.market,
    locale:
      input.locale === null || input.locale === undefined
        ? market.defaultLocale
        : toCanonicalLocale(input.locale),
    buyerReference: input.buyerReference ?? context.buyerReference,
    buyerSessionId: context.buyerSessionId,
  });
  const linesToAdd = input.lines ?? [];
  const variantIds = linesToAdd.map(({ variantId }) => variantId);
  const offerRequest = {
    merchantId,
    marketId: market.id,
    variantIds,
    taxCountry: draft.country,
    hasAddress: false,
    buyerReference: draft.buyerReference,
    code: null,
    heldBySessionId: null,
    now,
  };
  const offer = await loadCurrentCartPricingData(transaction, offerRequest);
  const { next } = repriceCartOrThrowFailure(
    { ...draft, lines: addLinesToCartDraft(linesToAdd, { lines: [], offer, now }) },
    { before: undefined, offer, now },
  );
  await insertCart(transaction, { cartId, merchantId, next, now });
  const after = await reloadCartAfterSave(transaction, cartId, now);
  publishCartEvents(context, ["cart.created"], { before: null, after });
  return after;
}

const createMarketFault = (market: string): FailureDetail =>
  createRequestBodyErrorDetail(
    "/market",
    "unknown_country",
    `"market" must be a country code of ISO 3166-1 alpha-2, in capitals${formatCountryCodeSuggestion(market)}.`,
  );

function cartCreateFaults(
  { market, locale, buyerReference, lines }: CreateCartInput,
  context: CartCommandContext,
): InputFieldErrors {
  return [
    ...(isCountryCode(market) ? [] : [createMarketFault(market)]),
    ...(locale === null || locale === undefined ? [] : findLocaleFaults("/locale", locale)),
    ...findBuyerReferenceFaults(buyerReference, context),
    ...(lines === null || lines === undefined
      ? []
      : findCartLineFaults(lines, { min: 0, max: cartLinesMax })),
  ];
}

/**
 * Returns the faults of a buyer reference: a wrong format, or another buyer than the one for whom the caller
 * acts.
 */
export function findBuyerReferenceFaults(
  reference: string | null | undefined,
  { buyerReference, buyerSessionId }: CartCommandContext,
): InputFieldErrors {
  if (reference === null || reference === undefined) return [];
  if (!isBuyerReference(reference))
    return [
      createRequestBodyErrorDetail(
        "/buyerReference",
        "pattern_mismatch",
        '"buyerReference" must have 1 to 128 printable ASCII characters, without spaces and @.',
      ),
    ];
  if (buyerSessionId !== null && buyerReference !== reference)
    return [
      createRequestBodyErrorDetail(
        "/buyerReference",
        "not_allowed",
        '"buyerReference" must be left out, or be the buyer of the buyer session.',
      ),
    ];
  if (buyerReference !== null && buyerReference !== reference)
    return [
      createRequestBodyErrorDetail(
        "/buyerReference",
        "not_allowed",
        '"buyerReference" must be equal to the X-Buyer-Reference header.',
      ),
    ];
  return [];
}

export interface MarketOfCountry {
  readonly id: string;
  readonly defaultLocale: string;
}

/** Returns the market that the country belongs to; throws if the merchant does not sell to the country. */
export async function requireMarketOfCountry(
  transaction: Transaction,
  { merchantId }: CartCommandContext,
  country: string,
): Promise<MarketOfCountry> {
  const market = await transaction
    .selectFrom("marketCountry")
    .innerJoin("market", "market.id", "marketCountry.marketId")
    .select(["market.id", "market.defaultLocale"])
    .where("marketCountry.merchantId", "=", merchantId)
    .where("marketCountry.country", "=", country)
    .executeTakeFirst();
  if (market === undefined)
    throw createInvalidFieldFailure("invalid_field", "/market", {
      code: "not_sold_there",
      message: "The merchant does not sell to this country.",
    });
  return market;
}

interface CartMarketChangeInput extends ExpectedVersionInput {
  /** ISO 3166-1 alpha-2 code of the cart's new country. */
  readonly market: string;
}

/**
 * Moves a cart to another country: the lines get the prices of that country's market, and lines that are not
 * sold there are removed.
 */
export async function changeCartMarket(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartMarketChangeInput & { readonly cartId: string },
): Promise<CartAggregate> {
  if (!isCountryCode(input.market)) requireNoInputFieldErrors([createMarketFault(input.market)]);
  const cart = await lockAndReadCart(transaction, context, input.cartId);
  requireChangeableCart(cart, input, context.now);
  const market = await requireMarketOfCountry(transaction, context, input.market);
  // The cart loses its address, because an address in the old country would lead to wrong taxes. The stored
  // address is erased at once.
  const endedAddress =
    cart.address !== null && cart.address.masked.countryCode !== input.market ? cart.address : null;
  if (endedAddress !== null) await bufferPersonalDataErasure(transaction, [endedAddress.id], context.now);
  const draft = toUnpricedCartDraft(cart);
  const address = endedAddress === null ? draft.address : null;
  const warnings = endedAddress === null ? [] : [createCartWarning("address_expired", null, {})];
  return applyCartChangePlan(transaction, context, {
    cart,
    target: input,
    plan: () => ({
      event: "cart.updated",
      draft: { ...draft, marketId: market.id, country: input.market, address, warnings },
    }),
  });
}

/**
 * The new buyer of a cart. The change replaces both the buyer reference and the e-mail address; the value
 * that is left out is cleared. A caller with a buyer session cannot clear the buyer reference of the
 * session.
 */
interface CartBuyerSetInput extends ExpectedVersionInput {
  /** The stable id that the frontend uses for the buyer; null if the frontend does not know the buyer. */
  readonly buyerReference?: string | null | undefined;
  readonly email?: string | null | undefined;
}

const emailMax = 254;

/** Replaces the buyer reference and the e-mail address of a cart's buyer. */
export async function setCartBuyer(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartBuyerSetInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoInputFieldErrors(buyerFaults(input, context));
  const cart = await lockAndReadCart(transaction, context, input.cartId);
  requireChangeableCart(cart, input, context.now);
  const buyerEmail = await replaceBuyerEmailOfCart(transaction, context, {
    cart,
    email: input.email ?? null,
  });
  return applyCartChangePlan(transaction, context, {
    cart,
    target: input,
    plan: () => ({
      event: "cart.updated",
      draft: {
        ...toUnpricedCartDraft(cart),
        buyerReference:
          input.buyerReference ?? (context.buyerSessionId === null ? null : context.buyerReference),
        buyerEmailId: buyerEmail?.id ?? null,
      },
      buyerEmail,
    }),
  });
}

function buyerFaults(
  { buyerReference, email }: CartBuyerSetInput,
  context: CartCommandContext,
): InputFieldErrors {
  return [...findBuyerReferenceFaults(buyerReference, context), ...findEmailAddressFaults("/email", email)];
}

export function findEmailAddressFaults(field: string, email: string | null | undefined): InputFieldErrors {
  const isMalformed = typeof email === "string" && !isEmailAddress(email);
  return [
    ...getTextFieldErrors(field, email, { max: emailMax }),
    ...(isMalformed
      ? [createRequestBodyErrorDetail(field, "pattern_mismatch", "The value must be an e-mail address.")]
      : []),
  ];
}

/**
 * Stores the e-mail address of a cart's buyer. Returns its id and its masked form; null if no e-mail address
 * is given. An unchanged e-mail address keeps its row. A different e-mail address gets a new row, and the old
 * row is erased at once, because no cart refers to it.
 */
export async function replaceBuyerEmailOfCart(
  transaction: Transaction,
  { keyring, merchantId, now }: CartCommandContext,
  { cart, email }: { readonly cart: CartAggregate; readonly email: string | null },
): Promise<CartAggregate["buyerEmail"]> {
  if (cart.buyerEmail !== null) {
    const row = await transaction
      .selectFrom("personalData")
      .selectAll()
      .where("id", "=", cart.buyerEmail.id)
      .executeTakeFirstOrThrow();
    const present = decryptPersonalData(keyring, row);
    if (present?.kind === "buyer_email" && present.email === email) return cart.buyerEmail;
    await bufferPersonalDataErasure(transaction, [row.id], now);
  }
  if (email === null) return null;
  const id = createId("personalData", now.getTime());
  const eraseAfter = new Date(now.getTime() + buyerEmailRetentionMs);
  const row = encryptPersonalData(keyring, {
    id,
    merchantId,
    cartId: cart.id,
    kind: "buyer_email",
    email,
    now,
    eraseAfter,
  });
  await bufferInsertUntilNextStatement(transaction, "personalData", [row]);
  return { id, hint: maskEmail(email) };
}
