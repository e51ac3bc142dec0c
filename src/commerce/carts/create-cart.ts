/** Opens a cart for a country, with lines or without. */
import { lineFaults, type LineToAdd, linesMax, toNewLines } from "./change-lines.ts";
import { localeFaults, toLocale } from "#commerce/catalog/catalog-fields.ts";
import { faultAt, type Faults, refuseAt, requireNoFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { isCountry } from "#foundation/locales.ts";
import { isBuyerReference } from "#foundation/text.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import type { CartDraft } from "./cart-draft.ts";
import { type CartCommandContext, priceAnew, tell } from "./change-cart.ts";
import { loadOffer } from "./offer.ts";
import { insertCart } from "./save-cart.ts";

export interface CartCreateInput {
  /** The country that prices are taken for. */
  readonly market: string;
  /** Without it the market's own. */
  readonly locale?: string | null | undefined;
  /** Whom the cart belongs to, in the frontend's words. */
  readonly buyerReference?: string | null | undefined;
  readonly lines?: readonly LineToAdd[] | null | undefined;
}

export async function createCart(transaction: Transaction, tenant: CartCommandContext, input: CartCreateInput): Promise<CartAggregate> {
  requireNoFaults(createFaults(input, tenant));
  const { merchantId, now } = tenant;
  const market = await requireCountry(transaction, tenant, input.market);
  const cartId = createId("cart", now.getTime());
  const draft: CartDraft = {
    marketId: market.id,
    country: input.market,
    locale: input.locale === null || input.locale === undefined ? market.defaultLocale : toLocale(input.locale),
    buyerReference: input.buyerReference ?? tenant.buyerReference,
    buyerEmailId: null,
    lines: [],
    deliveryMethodId: null,
    address: null,
    addressTokenDigest: undefined,
    promotionCodeId: null,
    warnings: [],
  };
  const wanted = input.lines ?? [];
  const variantIds = wanted.map(({ variantId }) => variantId);
  const wants = { merchantId, marketId: market.id, variantIds, buyerReference: draft.buyerReference, code: null, heldBySessionId: null, now };
  const offer = await loadOffer(transaction, wants);
  const { next } = priceAnew({ ...draft, lines: toNewLines(wanted, { lines: [], offer, now }) }, { before: undefined, offer, now });
  const after = await insertCart(transaction, { cartId, merchantId, next, now });
  tell(tenant, ["cart.created"], { before: null, after });
  return after;
}

function createFaults({ market, locale, buyerReference, lines }: CartCreateInput, tenant: CartCommandContext): Faults {
  return [
    ...(isCountry(market) ? [] : [faultAt("/market", "unknown_country", "It is not a country code of ISO 3166-1, in capitals.")]),
    ...(locale === null || locale === undefined ? [] : localeFaults("/locale", locale)),
    ...referenceFaults(buyerReference, tenant),
    ...(lines === null || lines === undefined ? [] : lineFaults(lines, { min: 0, max: linesMax })),
  ];
}

/** A frontend that serves one buyer cannot speak for another. */
export function referenceFaults(reference: string | null | undefined, { buyerReference }: CartCommandContext): Faults {
  if (reference === null || reference === undefined) return [];
  if (!isBuyerReference(reference))
    return [faultAt("/buyerReference", "pattern_mismatch", "It has 1 to 128 printable ASCII characters without space and @.")];
  if (buyerReference !== null && buyerReference !== reference)
    return [faultAt("/buyerReference", "not_allowed", "It is another buyer than X-Buyer-Reference names.")];
  return [];
}

export interface MarketOfCountry {
  readonly id: string;
  readonly defaultLocale: string;
}

export async function requireCountry(transaction: Transaction, { merchantId }: CartCommandContext, country: string): Promise<MarketOfCountry> {
  const market = await transaction
    .selectFrom("marketCountry")
    .innerJoin("market", "market.id", "marketCountry.marketId")
    .select(["market.id", "market.defaultLocale"])
    .where("marketCountry.merchantId", "=", merchantId)
    .where("marketCountry.country", "=", country)
    .executeTakeFirst();
  if (market === undefined)
    throw refuseAt("invalid_field", "/market", { code: "not_sold_there", message: "The merchant does not sell to this country." });
  return market;
}
