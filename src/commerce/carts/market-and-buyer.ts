/**
 * The market and the buyer of a cart: creates a cart for a country, moves a cart to another country, and sets
 * the buyer's reference and e-mail.
 */
import { localeFaults, toLocale } from "#commerce/catalog/catalog-fields.ts";
import { faultAt, type Faults, refuseAt, requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { isBuyerReference, isCountry } from "#foundation/text.ts";
import { erasePersonalData, openPersonalData, sealPersonalData } from "#commerce/addresses/personal-data.ts";
import { isEmail } from "#commerce/addresses/check-address.ts";
import { cartLineFaults, cartLinesMax, type CartLineToAdd, addToDraftLines } from "./change-lines.ts";
import {
  type CartAggregate,
  buyerEmailRetentionMs,
  type ExpectedVersionInput,
  requireChangeableCart,
  cartWarning,
} from "./cart-aggregate.ts";
import { toCartDraft, newCartDraft } from "./cart-draft.ts";
import {
  applyCartPlan,
  type CartCommandContext,
  lockCart,
  repriceOrFail,
  publishCartEvents,
} from "./change-cart.ts";
import { loadOffer } from "./load-offer.ts";
import { insertCart } from "./save-cart.ts";

export interface CartCreateInput {
  /** The country that prices are taken for. */
  readonly market: string;
  /** Without it the market's own. */
  readonly locale?: string | null | undefined;
  /** Whom the cart belongs to, in the frontend's words. */
  readonly buyerReference?: string | null | undefined;
  readonly lines?: readonly CartLineToAdd[] | null | undefined;
}

export async function createCart(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartCreateInput,
): Promise<CartAggregate> {
  requireNoFaults(cartCreateFaults(input, context));
  const { merchantId, now } = context;
  const market = await requireMarketOfCountry(transaction, context, input.market);
  const cartId = createId("cart", now.getTime());
  const draft = newCartDraft({
    marketId: market.id,
    country: input.market,
    locale:
      input.locale === null || input.locale === undefined ? market.defaultLocale : toLocale(input.locale),
    buyerReference: input.buyerReference ?? context.buyerReference,
  });
  const wanted = input.lines ?? [];
  const variantIds = wanted.map(({ variantId }) => variantId);
  const wants = {
    merchantId,
    marketId: market.id,
    variantIds,
    buyerReference: draft.buyerReference,
    code: null,
    heldBySessionId: null,
    now,
  };
  const offer = await loadOffer(transaction, wants);
  const { next } = repriceOrFail(
    { ...draft, lines: addToDraftLines(wanted, { lines: [], offer, now }) },
    { before: undefined, offer, now },
  );
  const after = await insertCart(transaction, { cartId, merchantId, next, now });
  publishCartEvents(context, ["cart.created"], { before: null, after });
  return after;
}

function cartCreateFaults(
  { market, locale, buyerReference, lines }: CartCreateInput,
  context: CartCommandContext,
): Faults {
  return [
    ...(isCountry(market)
      ? []
      : [faultAt("/market", "unknown_country", "It is not a country code of ISO 3166-1, in capitals.")]),
    ...(locale === null || locale === undefined ? [] : localeFaults("/locale", locale)),
    ...buyerReferenceFaults(buyerReference, context),
    ...(lines === null || lines === undefined ? [] : cartLineFaults(lines, { min: 0, max: cartLinesMax })),
  ];
}

/** A frontend that serves one buyer cannot speak for another. */
export function buyerReferenceFaults(
  reference: string | null | undefined,
  { buyerReference }: CartCommandContext,
): Faults {
  if (reference === null || reference === undefined) return [];
  if (!isBuyerReference(reference))
    return [
      faultAt(
        "/buyerReference",
        "pattern_mismatch",
        "It has 1 to 128 printable ASCII characters without space and @.",
      ),
    ];
  if (buyerReference !== null && buyerReference !== reference)
    return [faultAt("/buyerReference", "not_allowed", "It is another buyer than X-Buyer-Reference names.")];
  return [];
}

export interface CountryMarket {
  readonly id: string;
  readonly defaultLocale: string;
}

export async function requireMarketOfCountry(
  transaction: Transaction,
  { merchantId }: CartCommandContext,
  country: string,
): Promise<CountryMarket> {
  const market = await transaction
    .selectFrom("marketCountry")
    .innerJoin("market", "market.id", "marketCountry.marketId")
    .select(["market.id", "market.defaultLocale"])
    .where("marketCountry.merchantId", "=", merchantId)
    .where("marketCountry.country", "=", country)
    .executeTakeFirst();
  if (market === undefined)
    throw refuseAt("invalid_field", "/market", {
      code: "not_sold_there",
      message: "The merchant does not sell to this country.",
    });
  return market;
}

interface CartMarketChangeInput extends ExpectedVersionInput {
  /** ISO 3166-1 alpha-2. */
  readonly market: string;
}

/**
 * Moves a cart to another country: its lines get the prices of that market, and lines that are not sold there
 * are removed.
 */
export async function changeCartMarket(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartMarketChangeInput & { readonly cartId: string },
): Promise<CartAggregate> {
  if (!isCountry(input.market))
    requireNoFaults([
      faultAt("/market", "unknown_country", "It is not a country code of ISO 3166-1, in capitals."),
    ]);
  const cart = await lockCart(transaction, context, input.cartId);
  requireChangeableCart(cart, input, context.now);
  const market = await requireMarketOfCountry(transaction, context, input.market);
  // An address in another country than the cart's would be taxed as neither: it ends, and is erased at once.
  const ended =
    cart.address !== null && cart.address.masked.countryCode !== input.market ? cart.address : null;
  if (ended !== null) await erasePersonalData(transaction, [ended.id], context.now);
  const draft = toCartDraft(cart);
  const address = ended === null ? draft.address : null;
  const warnings = ended === null ? [] : [cartWarning("address_expired", null, {})];
  return applyCartPlan(transaction, context, {
    cart,
    plan: () => ({
      event: "cart.updated",
      draft: { ...draft, marketId: market.id, country: input.market, address, warnings },
    }),
  });
}

/** The whole of it: what stands here replaces what was. */
interface CartBuyerSetInput extends ExpectedVersionInput {
  /** Null: nobody known. */
  readonly buyerReference?: string | null | undefined;
  readonly email?: string | null | undefined;
}

const emailMax = 254;

export async function setCartBuyer(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartBuyerSetInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoFaults(buyerFaults(input, context));
  const cart = await lockCart(transaction, context, input.cartId);
  requireChangeableCart(cart, input, context.now);
  const buyerEmailId = await replaceBuyerEmail(transaction, context, { cart, email: input.email ?? null });
  return applyCartPlan(transaction, context, {
    cart,
    plan: () => ({
      event: "cart.updated",
      draft: { ...toCartDraft(cart), buyerReference: input.buyerReference ?? null, buyerEmailId },
    }),
  });
}

function buyerFaults({ buyerReference, email }: CartBuyerSetInput, context: CartCommandContext): Faults {
  return [...buyerReferenceFaults(buyerReference, context), ...emailFaults("/email", email)];
}

export function emailFaults(field: string, email: string | null | undefined): Faults {
  const isMalformed = typeof email === "string" && !isEmail(email);
  return [
    ...textFaults(field, email, { max: emailMax }),
    ...(isMalformed ? [faultAt(field, "pattern_mismatch", "It must be an e-mail address.")] : []),
  ];
}

/**
 * The same one stays, row and all. Another one takes its place, and the old one is erased at once: nothing
 * points at it any more.
 */
export async function replaceBuyerEmail(
  transaction: Transaction,
  { keyring, merchantId, now }: CartCommandContext,
  { cart, email }: { readonly cart: CartAggregate; readonly email: string | null },
): Promise<string | null> {
  if (cart.buyerEmail !== null) {
    const row = await transaction
      .selectFrom("personalData")
      .selectAll()
      .where("id", "=", cart.buyerEmail.id)
      .executeTakeFirstOrThrow();
    const present = openPersonalData(keyring, row);
    if (present?.kind === "buyer_email" && present.email === email) return row.id;
    await erasePersonalData(transaction, [row.id], now);
  }
  if (email === null) return null;
  const id = createId("personalData", now.getTime());
  const eraseAfter = new Date(now.getTime() + buyerEmailRetentionMs);
  await transaction
    .insertInto("personalData")
    .values(
      sealPersonalData(keyring, {
        id,
        merchantId,
        cartId: cart.id,
        kind: "buyer_email",
        email,
        now,
        eraseAfter,
      }),
    )
    .execute();
  return id;
}
