/**
 * Locks and reads a cart in the round trip with which a transaction begins, together with the current offer
 * for the cart. The command that changes the cart then needs no further statement before it saves the cart.
 */
import { type RawBuilder, sql } from "kysely";
import { LRUCache } from "lru-cache";
import { normalizePromotionCode } from "#commerce/promotions/choose-promotions.ts";
import { createNamedSqlTemplateParameter, prepareStatementTemplate } from "#database/prepared-template.ts";
import { toCartLineStock } from "./to-saved-cart.ts";
import type { DatabaseOrTransaction, RowLockWithReadQuery, Transaction } from "#database/transaction.ts";
import { limitGrowingCache } from "#foundation/growing-cache.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { type CartAggregate, findPromotionAddedByCode, type StoredCartLine } from "./cart-aggregate.ts";
import { cartWithoutStockSql, type CartWithLinesOfType } from "./find-carts.ts";
import {
  cartPricingDataColumnsSql,
  isCategoryNeeded,
  type LoadCurrentCartPricingDataOptions,
  type CartPricingDataRow,
  toCurrentCartPricingData,
} from "./load-offer.ts";
import type { CurrentCartPricingData } from "./pricing-data.ts";

/**
 * The cart to lock and read, with the parts of the planned change on which the offer (prices, stock,
 * promotions) depends.
 */
interface CartToOpen {
  readonly cartId: string;
  readonly merchantId: string;
  readonly now: Date;
  /** The promotion code that the buyer entered; if left out, the offer has the code of the stored cart. */
  readonly code?: string | undefined;
  /** The variants that the change adds to the cart. */
  readonly addedVariantIds?: readonly string[];
  /**
   * True if the cart will have or is likely to have an address. Tax rates and delivery methods are then read
   * even if this process has not seen an address of the cart.
   */
  readonly isAddressExpected?: boolean;
}

interface OpenedCartRow extends CartPricingDataRow {
  /**
   * The stored cart without the stock of its lines, because the offer already contains the stock of their
   * variants.
   */
  readonly cart: CartWithLinesOfType<StoredCartLine>;
}

interface OpenedCart {
  readonly cart: CartAggregate;
  readonly offer: CurrentCartPricingData;
  isTaken: boolean;
  readonly codeNormalized: string | undefined;
  /** True if the offer has tax rates and delivery methods. */
  readonly hasAddress: boolean;
  /** True if the offer lacks the categories of the products, although a promotion depends on them. */
  readonly lacksCategories: boolean;
}

/**
 * Maximum number of added variants whose price and stock are read here. The command refuses a change with
 * more lines.
 */
const addedVariantsMax = 200;

const openedCarts = new WeakMap<Transaction, OpenedCart>();

/**
 * The carts for which this process has last seen an address, or a promotion that depends on categories. For
 * other carts, the statement lacks tax rates and delivery methods, or categories, unless the caller expects
 * an address: these parts take a quarter of the statement's time, also if they find nothing. A cart that
 * needs a part that the statement lacked costs a second statement, which reads the whole offer.
 */
const seen = {
  address: new LRUCache<string, true>(limitGrowingCache(10_000)),
  categories: new LRUCache<string, true>(limitGrowingCache(10_000)),
};

function keepSeen(cache: LRUCache<string, true>, id: string, isSeen: boolean): void {
  if (isSeen) cache.set(id, true);
  else cache.delete(id);
}

export function createCartLockAndPreloadQuery(
  db: DatabaseOrTransaction,
  cart: CartToOpen,
): RowLockWithReadQuery {
  const { merchantId, now, addedVariantIds = [], isAddressExpected = false } = cart;
  const id = blankIdWithForbiddenCharacters(cart.cartId);
  const codeNormalized = cart.code === undefined ? undefined : normalizePromotionCode(cart.code);
  const added = addedVariantIds.slice(0, addedVariantsMax).map(blankIdWithForbiddenCharacters);
  const forms = {
    variants: added.length === 0 ? "stored" : "stored and added",
    code: codeNormalized === undefined ? "stored" : "entered",
    hasAddress: isAddressExpected || seen.address.has(id),
    hasCategories: seen.categories.has(id),
  } as const;
  const { hasAddress, hasCategories } = forms;
  const read = prepareStatementTemplate(db, {
    form: `open cart: ${forms.variants} variants, ${forms.code} code, ${hasAddress} ${hasCategories}`,
    write: () => openStatement(forms),
    values: { id, now, added, code: codeNormalized },
  });
  return {
    row: { table: "cart", id, merchantId },
    reads: [read],
    receive: (transaction, [rows]) => {
      const row = rows?.[0] as OpenedCartRow | undefined;
      if (row === undefined) return;
      const needsCategories = isCategoryNeeded(row);
      keepSeen(seen.address, id, isAddressExpected || row.cart.address !== null);
      keepSeen(seen.categories, id, needsCategories);
      const lacksCategories = needsCategories && !hasCategories;
      openedCarts.set(transaction, { ...toOpenedCart(row), codeNormalized, hasAddress, lacksCategories });
    },
  };
}

function toOpenedCart(row: OpenedCartRow): Pick<OpenedCart, "cart" | "offer" | "isTaken"> {
  const offer = toCurrentCartPricingData(row);
  const lines = row.cart.lines.map((line) => ({
    ...line,
    stock: toCartLineStock(offer.variants.get(line.variantId)),
  }));
  return { cart: { ...row.cart, lines }, offer, isTaken: false };
}

const variantsOf = {
  stored: sql`(select v.* from cart_line l join variant v on v.id = l.variant_id
    where l.cart_id = q.cart_id)`,
  "stored and added": sql`(select v.* from (select l.variant_id from cart_line l where l.cart_id = q.cart_id
    union select unnest(${createNamedSqlTemplateParameter("added")}::text[])) w
    join variant v on v.id = w.variant_id)`,
};

const codeOf = {
  stored: sql<boolean>`c.id = (select cp.promotion_code_id from cart_promotion cp
    where cp.cart_id = q.cart_id and cp.trigger = 'code')`,
  entered: sql<boolean>`c.code_normalized = ${createNamedSqlTemplateParameter("code")}`,
};

interface OpenForms {
  readonly variants: keyof typeof variantsOf;
  readonly code: keyof typeof codeOf;
  readonly hasAddress: boolean;
  readonly hasCategories: boolean;
}

function openStatement({ variants, code, hasAddress, hasCategories }: OpenForms): RawBuilder<OpenedCartRow> {
  const offer = cartPricingDataColumnsSql({
    taxCountry: sql`coalesce((select a.masked->>'countryCode' from personal_data a where a.id = q.address_id),
      q.country)`,
    hasAddress,
    hasCategories,
    buyerReference: sql`q.buyer_reference`,
    heldBySessionId: sql`null`,
    variants: variantsOf[variants],
    code: codeOf[code],
  });
  return sql`select ${cartWithoutStockSql} as cart, ${offer}
    from cart c join merchant m on m.id = c.merchant_id join market mk on mk.id = c.market_id
      cross join lateral (select c.id as cart_id, c.buyer_reference, c.address_id, c.country) q
    where c.id = ${createNamedSqlTemplateParameter("id")}`;
}

/**
 * Returns the cart that was locked and read when the transaction began; undefined if the transaction did not
 * begin with this cart. Returns the cart only once, because the transaction may change it afterwards.
 */
export function takePreloadedCart(transaction: Transaction, cartId: string): CartAggregate | undefined {
  const opened = openedCarts.get(transaction);
  if (opened === undefined || opened.isTaken || opened.cart.id !== cartId) return undefined;
  opened.isTaken = true;
  return opened.cart;
}

/**
 * Returns the offer that was read when the transaction began. Returns undefined if no offer was read, or if
 * the read offer does not fit the request, for example because the change moves the cart to another country.
 * Returns the offer only once, because a later change of the transaction may have changed the stock.
 */
export function takePreloadedCartPricingData(
  transaction: Transaction,
  cartId: string,
  request: LoadCurrentCartPricingDataOptions,
): CurrentCartPricingData | undefined {
  const opened = openedCarts.get(transaction);
  if (opened?.cart.id !== cartId) return undefined;
  openedCarts.delete(transaction);
  return isRequestedOffer(opened, request) ? opened.offer : undefined;
}

/** Returns whether the offer was read with the promotion code that the change needs. */
function isOpenedCode(
  { codeNormalized, cart }: Pick<OpenedCart, "codeNormalized" | "cart">,
  code: LoadCurrentCartPricingDataOptions["code"],
): boolean {
  if (codeNormalized !== undefined)
    return code !== null && "normalized" in code && code.normalized === codeNormalized;
  const codeId = findPromotionAddedByCode(cart)?.promotionCodeId ?? null;
  return code === null || ("id" in code && code.id === codeId);
}

function isRequestedOffer(
  { codeNormalized, cart, offer, lacksCategories, ...opened }: OpenedCart,
  {
    marketId,
    taxCountry,
    hasAddress,
    buyerReference,
    variantIds,
    code,
    heldBySessionId,
  }: LoadCurrentCartPricingDataOptions,
): boolean {
  const known = new Set([...cart.lines.map(({ variantId }) => variantId), ...offer.variants.keys()]);
  return (
    heldBySessionId === null &&
    marketId === cart.marketId &&
    taxCountry === (cart.address?.masked.countryCode ?? cart.country) &&
    (!hasAddress || opened.hasAddress) &&
    !lacksCategories &&
    buyerReference === cart.buyerReference &&
    isOpenedCode({ codeNormalized, cart }, code) &&
    variantIds.every((id) => known.has(id))
  );
}
