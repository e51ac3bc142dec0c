/**
 * Computes the prices of the carts that data/sales.json and the order scenarios define. Prices, taxes,
 * delivery methods and promotions of each market are loaded once for all carts.
 */
import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import type { PostalAddressInput } from "#commerce/addresses/postal-address.ts";
import { loadCurrentCartPricingData } from "#commerce/carts/load-offer.ts";
import type { CurrentCartPricingData } from "#commerce/carts/pricing-data.ts";
import { normalizePromotionCode } from "#commerce/promotions/choose-promotions.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import type { Transaction } from "#database/transaction.ts";
import type { DemoPromotionCodeName, DemoPromotionCodes } from "#demo/demo-file.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { loadDemoSales } from "#demo/demo-data.ts";
import { type UnsavedDemoCart, createUnsavedDemoCart } from "#demo/rows/cart-rows.ts";

/** The ids of the demo's two merchants. */
export interface DemoMerchantIds {
  readonly first: { readonly id: string };
  readonly second: { readonly id: string };
}

/** Returns the id of the merchant's market that sells to a country; undefined if there is none. */
export type DemoMarketIdByCountryFinder = (merchantId: string, country: string) => string | undefined;

/** A cart that sales.json or an order scenario defines. */
export interface DemoCartDefinition {
  readonly owner: "first" | "second";
  readonly country: string;
  readonly lines: readonly (readonly [sku: string, quantity: number])[];
  readonly buyer?: { readonly reference: string; readonly email: string };
  /**
   * True if the cart has the demo's address in its country and the first delivery method of its market. Left
   * out if the cart has no address.
   */
  readonly isAddressed?: true;
  readonly code?: DemoPromotionCodeName;
  readonly minutesSinceChange: number;
  readonly minutesFromCreationToChange: number;
}

export interface DemoCartSeedContext {
  readonly owners: DemoMerchantIds;
  readonly keyring: EncryptionKeyring;
  readonly now: Date;
}

export interface DemoCartPricingContext<Entry extends DemoCartDefinition> extends DemoCartSeedContext {
  readonly definitions: readonly Entry[];
  readonly marketLookup: DemoMarketLookupFunctions;
  readonly promotionCodes: DemoPromotionCodes;
}

/**
 * The definition of a demo cart, together with the cart itself with computed prices, which has not been
 * stored yet.
 */
export interface PricedDemoCart<Entry extends DemoCartDefinition> {
  readonly definition: Entry;
  readonly cart: UnsavedDemoCart;
}

export async function priceDemoCarts<Entry extends DemoCartDefinition>(
  transaction: Transaction,
  context: DemoCartPricingContext<Entry>,
): Promise<PricedDemoCart<Entry>[]> {
  const loadSupply = await createSupplyLoader(transaction, context);
  const pricedCarts: PricedDemoCart<Entry>[] = [];
  for (const definition of context.definitions)
    pricedCarts.push({
      definition,
      cart: createPricedCart(definition, { ...context, supply: await loadSupply(definition) }),
    });
  return pricedCarts;
}

/** Functions that find markets of the demo's merchants. */
export interface DemoMarketLookupFunctions {
  readonly findByCountry: DemoMarketIdByCountryFinder;
  /**
   * Returns the merchant's first market with at least one country, together with this country. Throws if
   * there is none.
   */
  readonly getFirstMarket: (merchantId: string) => { readonly id: string; readonly country: string };
}

export async function loadDemoMarketLookupFunctions(
  transaction: Transaction,
  { first, second }: DemoMerchantIds,
): Promise<DemoMarketLookupFunctions> {
  const rows = await transaction
    .selectFrom("marketCountry")
    .select(["merchantId", "marketId", "country"])
    .where("merchantId", "in", [first.id, second.id])
    .orderBy("marketId")
    .orderBy("position")
    .execute();
  return {
    findByCountry: (merchantId, country) =>
      rows.find((row) => row.merchantId === merchantId && row.country === country)?.marketId,
    getFirstMarket: (merchantId) => {
      const row = rows.find((candidate) => candidate.merchantId === merchantId);
      if (row === undefined) throw new Error(`The demo's merchant ${merchantId} must sell to a country.`);
      return { id: row.marketId, country: row.country };
    },
  };
}

/** The data that is needed to compute the prices of a cart in one market. */
interface CartSupply {
  readonly country: string;
  readonly offer: CurrentCartPricingData;
  readonly variantIds: ReadonlyMap<string, string>;
  readonly code: PromotionRule | null;
}

type LoadCartSupply = (definition: DemoCartDefinition) => Promise<CartSupply>;

/**
 * Creates a function that loads the data for computing the prices of a cart. The function runs one SQL
 * statement per market, and one more per cart with a promotion code.
 */
async function createSupplyLoader(
  transaction: Transaction,
  { owners, definitions, marketLookup, promotionCodes, now }: DemoCartPricingContext<DemoCartDefinition>,
): Promise<LoadCartSupply> {
  const variantIds = await loadVariantIds(transaction, { owners, definitions });
  const offers = new Map<string, CurrentCartPricingData>();
  return async ({ owner, country, code }) => {
    const merchantId = owners[owner].id;
    // A cart whose country the merchant no longer sells to is created in the merchant's first market instead.
    const marketId = marketLookup.findByCountry(merchantId, country);
    const market =
      marketId === undefined ? marketLookup.getFirstMarket(merchantId) : { id: marketId, country };
    const variantIdsOfMerchant = variantIds[owner];
    const request = {
      merchantId,
      marketId: market.id,
      variantIds: [],
      taxCountry: market.country,
      hasAddress: true,
      buyerReference: null,
      heldBySessionId: null,
      now,
    };
    const key = `${market.id} ${market.country}`;
    const offer =
      offers.get(key) ??
      (await loadCurrentCartPricingData(transaction, {
        ...request,
        variantIds: [...variantIdsOfMerchant.values()],
        code: null,
      }));
    offers.set(key, offer);
    const normalized = code === undefined ? undefined : normalizePromotionCode(promotionCodes[code]);
    const rule =
      normalized === undefined
        ? undefined
        : (await loadCurrentCartPricingData(transaction, { ...request, code: { normalized } })).code;
    return { country: market.country, offer, variantIds: variantIdsOfMerchant, code: rule ?? null };
  };
}

type VariantIds = Readonly<Record<DemoCartDefinition["owner"], ReadonlyMap<string, string>>>;

async function loadVariantIds(
  transaction: Transaction,
  {
    owners: { first, second },
    definitions,
  }: Pick<DemoCartPricingContext<DemoCartDefinition>, "owners" | "definitions">,
): Promise<VariantIds> {
  const skus = definitions.flatMap(({ lines }) => lines.map(([sku]) => sku));
  const rows = await transaction
    .selectFrom("variant")
    .select(["id", "merchantId", "sku"])
    .where("merchantId", "in", [first.id, second.id])
    .where("sku", "in", skus)
    .execute();
  const variantIdsOf = ({ id: merchantId }: DemoMerchantIds["first"]): Map<string, string> =>
    new Map(rows.filter((row) => row.merchantId === merchantId).map(({ sku, id }) => [sku, id]));
  return { first: variantIdsOf(first), second: variantIdsOf(second) };
}

/** Returns the demo's address in a country; undefined if sales.json has none. */
export function findDemoAddress(country: string): PostalAddressInput | undefined {
  return loadDemoSales().addresses.find(({ countryCode }) => countryCode === country);
}

const minuteMs = 60_000;

function createPricedCart(
  definition: DemoCartDefinition,
  { owners, keyring, now, supply }: DemoCartSeedContext & { readonly supply: CartSupply },
): UnsavedDemoCart {
  const { offer, country, variantIds, code } = supply;
  const address = definition.isAddressed === true ? findDemoAddress(country) : undefined;
  const updatedAt = new Date(now.getTime() - definition.minutesSinceChange * minuteMs);
  return createUnsavedDemoCart(keyring, {
    merchantId: owners[definition.owner].id,
    offer,
    country,
    lines: definition.lines.flatMap(([sku, quantity]) => {
      const variantId = variantIds.get(sku);
      return variantId === undefined ? [] : [{ variantId, quantity }];
    }),
    buyer: definition.buyer ?? null,
    address: address === undefined ? null : normalizeAndValidateAddress(address, "strict").address,
    code,
    createdAt: new Date(updatedAt.getTime() - definition.minutesFromCreationToChange * minuteMs),
    updatedAt,
  });
}
