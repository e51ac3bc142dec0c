/** The carts of the plain schema, which supports only active carts, as the yardstick does. */
import type { Selectable } from "kysely";
import { toCartWarningView, type RenderedCartWarning } from "#commerce/carts/render-cart.ts";
import type { CartLineTable } from "#database/tables.ts";
import { createCachePerObject } from "./plain-batches.ts";
import {
  absoluteUrl,
  builder,
  type ImageValue,
  ImageType,
  MerchantType,
  MoneyType,
  type PlainContext,
  availabilityRank,
} from "./plain-builder.ts";
import {
  type CartNode,
  CartTotals,
  findPromotions,
  moneyOrNull,
  PromotionState,
} from "./plain-cart-promotion.ts";
import { availabilities, type Money, toMoney } from "./yardstick-parts.ts";

async function findCart(
  id: string,
  { loaders, viewer, buyerReference }: PlainContext,
): Promise<CartNode | null> {
  const row = await loaders.carts.load(id);
  if (row === null || viewer === null || row.merchantId !== viewer.merchantId) return null;
  if (buyerReference !== null && row.buyerReference !== null && row.buyerReference !== buyerReference)
    return null;
  const merchant = await loaders.merchants.load(row.merchantId);
  return merchant === null ? null : { row, merchant };
}

interface LineNode {
  readonly row: Selectable<CartLineTable>;
  readonly cart: CartNode;
}

interface Display {
  readonly productSlug: string;
  readonly sku: string;
  readonly title: string;
  readonly variantTitle: string | null;
  readonly image: ImageValue | null;
}

const displayOf = ({ row }: LineNode): Display => row.display as Display;
const moneyOf = (amountMinor: number, { row }: CartNode): Money => toMoney(amountMinor, row.currency);

interface Stocked {
  readonly rank: number;
  readonly available: number;
}

const findStock = createCachePerObject(
  async ({ row }: LineNode, { loaders }: PlainContext): Promise<Stocked> => {
    const [variant, stock] = await Promise.all([
      loaders.variantById.load(row.variantId),
      loaders.stock.load(row.variantId),
    ]);
    const product = variant === null ? null : await loaders.products.load(variant.productId);
    if (variant === null || product?.status !== "published") return { rank: 6, available: 0 };
    const left =
      stock === null || variant.discontinued ? 0 : stock.onHand - stock.reserved + stock.backorderLimit;
    return { rank: availabilityRank(variant, stock), available: Math.min(100, Math.max(0, left)) };
  },
);

interface DiscountValue {
  readonly source: string;
  readonly promotionId: string;
  readonly amount: Money;
}

const DiscountAllocation = builder.objectRef<DiscountValue>("DiscountAllocation").implement({
  fields: (t) => ({
    source: t.exposeString("source"),
    promotionId: t.exposeString("promotionId"),
    amount: t.expose("amount", { type: MoneyType }),
  }),
});

async function findDiscounts({ row, cart }: LineNode, context: PlainContext): Promise<DiscountValue[]> {
  const promotions = await findPromotions(cart, context);
  return promotions.flatMap(({ applied: { trigger, promotionId }, allocations }) =>
    allocations
      .filter(({ lineId }) => lineId === row.id)
      .map(({ amountMinor }) => ({ source: trigger, promotionId, amount: moneyOf(amountMinor, cart) })),
  );
}

const CartLine = builder.objectRef<LineNode>("CartLine").implement({
  fields: (t) => ({
    id: t.id({ resolve: ({ row }) => row.id }),
    position: t.int({ resolve: ({ row }) => row.position }),
    productId: t.id({ resolve: ({ row }) => row.productId }),
    variantId: t.id({ resolve: ({ row }) => row.variantId }),
    productSlug: t.string({ resolve: (line) => displayOf(line).productSlug }),
    sku: t.string({ resolve: (line) => displayOf(line).sku }),
    title: t.string({ resolve: (line) => displayOf(line).title }),
    variantTitle: t.string({ nullable: true, resolve: (line) => displayOf(line).variantTitle }),
    image: t.field({
      type: ImageType,
      nullable: true,
      resolve: (line, _args, { publicUrl }) => {
        const { image } = displayOf(line);
        return image === null ? null : { ...image, url: absoluteUrl(image.url, publicUrl) };
      },
    }),
    quantity: t.int({ resolve: ({ row }) => row.quantity }),
    unitPrice: t.field({ type: MoneyType, resolve: ({ row, cart }) => moneyOf(row.unitPriceMinor, cart) }),
    compareAtUnitPrice: t.field({
      type: MoneyType,
      nullable: true,
      resolve: ({ row, cart }) => moneyOrNull(row.compareAtMinor, cart),
    }),
    subtotal: t.field({ type: MoneyType, resolve: ({ row, cart }) => moneyOf(row.subtotalMinor, cart) }),
    discount: t.field({ type: MoneyType, resolve: ({ row, cart }) => moneyOf(row.discountMinor, cart) }),
    tax: t.field({
      type: MoneyType,
      nullable: true,
      resolve: ({ row, cart }) => moneyOrNull(row.taxMinor, cart),
    }),
    total: t.field({ type: MoneyType, resolve: ({ row, cart }) => moneyOf(row.totalMinor, cart) }),
    discountAllocations: t.field({
      type: [DiscountAllocation],
      resolve: (line, _args, context) => findDiscounts(line, context),
    }),
    availability: t.string({
      resolve: async (line, _args, context) =>
        availabilities[(await findStock(line, context)).rank - 1] ?? "",
    }),
    availableQuantity: t.int({
      resolve: async (line, _args, context) => (await findStock(line, context)).available,
    }),
    requiresShipping: t.boolean({ resolve: ({ row }) => row.requiresShipping }),
    restrictions: t.stringList({ resolve: ({ row }) => row.restrictions }),
  }),
});

interface MaskedAddress {
  readonly countryCode: string;
  readonly regionCode: string | null;
  readonly city: string | null;
  readonly postalCodePrefix: string | null;
  readonly recipientInitials: string | null;
  readonly complete: boolean;
}

const MaskedAddressType = builder.objectRef<MaskedAddress>("MaskedAddress").implement({
  fields: (t) => ({
    countryCode: t.exposeString("countryCode"),
    regionCode: t.exposeString("regionCode", { nullable: true }),
    city: t.exposeString("city", { nullable: true }),
    postalCodePrefix: t.exposeString("postalCodePrefix", { nullable: true }),
    recipientInitials: t.exposeString("recipientInitials", { nullable: true }),
    complete: t.exposeBoolean("complete"),
  }),
});

interface DeliveryOption {
  readonly id: string;
  readonly name: string;
  readonly carrier: string | null;
  readonly priceMinor: number;
  readonly minDays: number;
  readonly maxDays: number;
  readonly pickup: boolean;
}

const DeliveryOptionType = builder
  .objectRef<{ readonly option: DeliveryOption; readonly cart: CartNode }>("DeliveryOption")
  .implement({
    fields: (t) => ({
      id: t.id({ resolve: ({ option }) => option.id }),
      name: t.string({ resolve: ({ option }) => option.name }),
      carrier: t.string({ nullable: true, resolve: ({ option }) => option.carrier }),
      price: t.field({ type: MoneyType, resolve: ({ option, cart }) => moneyOf(option.priceMinor, cart) }),
      minDays: t.int({ resolve: ({ option }) => option.minDays }),
      maxDays: t.int({ resolve: ({ option }) => option.maxDays }),
      pickup: t.boolean({ resolve: ({ option }) => option.pickup }),
    }),
  });

const CartDelivery = builder.objectRef<CartNode>("CartDelivery").implement({
  fields: (t) => ({
    selectedOptionId: t.id({ nullable: true, resolve: ({ row }) => row.deliveryMethodId }),
    options: t.field({
      type: [DeliveryOptionType],
      resolve: (cart) =>
        (cart.row.deliveryOptions as readonly DeliveryOption[]).map((option) => ({ option, cart })),
    }),
  }),
});

const CartCheckout = builder
  .objectRef<{ readonly id: string; readonly status: string }>("CartCheckout")
  .implement({
    fields: (t) => ({ sessionId: t.exposeID("id"), status: t.exposeString("status") }),
  });

const CartWarning = builder.objectRef<RenderedCartWarning>("CartWarning").implement({
  fields: (t) => ({
    code: t.exposeString("code"),
    lineId: t.exposeString("lineId", { nullable: true }),
    message: t.exposeString("message"),
    data: t.field({ type: "JSON", resolve: ({ data }) => data }),
  }),
});

const CartRevocation = builder
  .objectRef<{ readonly reason: string; readonly note: string | null; readonly at: string }>("CartRevocation")
  .implement({
    fields: (t) => ({
      reason: t.exposeString("reason"),
      note: t.exposeString("note", { nullable: true }),
      at: t.exposeString("at"),
    }),
  });

const CartType = builder.objectRef<CartNode>("Cart").implement({
  fields: (t) => ({
    id: t.id({ resolve: ({ row }) => row.id }),
    version: t.int({ resolve: ({ row }) => row.version }),
    status: t.string({ resolve: ({ row }) => row.status }),
    merchant: t.field({ type: MerchantType, resolve: ({ merchant }) => merchant }),
    market: t.string({ resolve: ({ row }) => row.country }),
    currency: t.string({ resolve: ({ row }) => row.currency }),
    locale: t.string({ resolve: ({ row }) => row.locale }),
    lines: t.field({
      type: [CartLine],
      resolve: async (cart, _args, { loaders }) =>
        (await loaders.lines.load(cart.row.id)).map((row) => ({ row, cart })),
    }),
    totalQuantity: t.int({
      resolve: async ({ row }, _args, { loaders }) =>
        (await loaders.lines.load(row.id)).reduce((sum, { quantity }) => sum + quantity, 0),
    }),
    totals: t.field({ type: CartTotals, resolve: (cart) => cart }),
    promotion: t.field({ type: PromotionState, resolve: (cart) => cart }),
    address: t.field({
      type: MaskedAddressType,
      nullable: true,
      resolve: async ({ row: { addressId } }, _args, { loaders }) =>
        addressId === null
          ? null
          : (((await loaders.addresses.load(addressId))?.masked ?? null) as MaskedAddress | null),
    }),
    addressTokenExpiresAt: t.string({
      nullable: true,
      resolve: ({ row }) => row.addressExpiresAt?.toISOString(),
    }),
    delivery: t.field({
      type: CartDelivery,
      nullable: true,
      resolve: (cart) => (cart.row.deliveryOptions === null ? null : cart),
    }),
    checkout: t.field({
      type: CartCheckout,
      nullable: true,
      resolve: async ({ row }, _args, { loaders }) => (await loaders.sessions.load(row.id))[0],
    }),
    orderId: t.id({ nullable: true, resolve: ({ row }) => row.orderId }),
    warnings: t.field({
      type: [CartWarning],
      resolve: ({ row }) =>
        (row.warnings as Parameters<typeof toCartWarningView>[0][]).map(toCartWarningView),
    }),
    // Only carts that have ended have a value.
    revocation: t.field({ type: CartRevocation, nullable: true, resolve: () => null }),
    createdAt: t.string({ resolve: ({ row }) => row.createdAt.toISOString() }),
    updatedAt: t.string({ resolve: ({ row }) => row.updatedAt.toISOString() }),
    expiresAt: t.string({ resolve: ({ row }) => row.expiresAt.toISOString() }),
  }),
});

builder.queryFields((t) => ({
  cart: t.field({
    type: CartType,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, context) => findCart(id, context),
  }),
}));
