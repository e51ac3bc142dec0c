/** The promotion state and the totals of a cart in the plain schema. */
import type { Selectable } from "kysely";
import type { CartPromotionTable, CartTable, MerchantTable, PromotionTable } from "#database/tables.ts";
import { createCachePerObject } from "./plain-batches.ts";
import { builder, MoneyType, type PlainContext } from "./plain-builder.ts";
import { joinLocaleChains, type Money, toMoney, findName, type Names } from "./yardstick-parts.ts";

export interface CartNode {
  readonly row: Selectable<CartTable>;
  readonly merchant: Selectable<MerchantTable>;
}

interface Allocation {
  readonly lineId: string | null;
  readonly amountMinor: number;
}

interface PromotionNode {
  readonly applied: Selectable<CartPromotionTable>;
  readonly promotion: Selectable<PromotionTable>;
  readonly code: string | null;
  readonly title: string;
  readonly allocations: readonly Allocation[];
}

export const moneyOrNull = (amountMinor: number | null, { row }: CartNode): Money | null =>
  amountMinor === null ? null : toMoney(amountMinor, row.currency);

export const findPromotions = createCachePerObject(
  async ({ row, merchant }: CartNode, { loaders }: PlainContext): Promise<PromotionNode[]> => {
    const all = await loaders.cartPromotions.load(row.id);
    const nodes = await Promise.all(
      all.map(async (applied) => {
        const [promotion, code] = await Promise.all([
          loaders.promotions.load(applied.promotionId),
          applied.promotionCodeId === null ? null : loaders.codes.load(applied.promotionCodeId),
        ]);
        if (promotion === null) return [];
        const title =
          findName(promotion.titles as Names, joinLocaleChains([row.locale, merchant.defaultLocale])) ?? "";
        return [
          {
            applied,
            promotion,
            code: code?.code ?? null,
            title,
            allocations: applied.allocations as readonly Allocation[],
          },
        ];
      }),
    );
    return nodes.flat();
  },
);

async function findCode(cart: CartNode, context: PlainContext): Promise<PromotionNode | undefined> {
  return (await findPromotions(cart, context)).find(({ applied }) => applied.trigger === "code");
}

export const CartTotals = builder.objectRef<CartNode>("CartTotals").implement({
  fields: (t) => ({
    subtotal: t.field({ type: MoneyType, resolve: ({ row }) => toMoney(row.subtotalMinor, row.currency) }),
    discount: t.field({ type: MoneyType, resolve: ({ row }) => toMoney(row.discountMinor, row.currency) }),
    shipping: t.field({
      type: MoneyType,
      nullable: true,
      resolve: (cart) => moneyOrNull(cart.row.shippingMinor, cart),
    }),
    tax: t.field({
      type: MoneyType,
      nullable: true,
      resolve: (cart) => moneyOrNull(cart.row.taxMinor, cart),
    }),
    taxIncluded: t.boolean({ resolve: ({ row }) => row.taxIncluded }),
    total: t.field({ type: MoneyType, resolve: ({ row }) => toMoney(row.totalMinor, row.currency) }),
    estimated: t.boolean({ resolve: ({ row }) => row.shippingMinor === null || row.taxMinor === null }),
  }),
});

const PromotionValue = builder.objectRef<PromotionNode>("PromotionValue").implement({
  fields: (t) => ({
    basisPoints: t.int({ nullable: true, resolve: ({ promotion }) => promotion.basisPoints }),
    amount: t.field({
      type: MoneyType,
      nullable: true,
      resolve: ({ promotion: { amountMinor, currency } }) =>
        amountMinor === null || currency === null ? null : toMoney(amountMinor, currency),
    }),
  }),
});

const AppliedPromotion = builder.objectRef<PromotionNode>("AppliedPromotion").implement({
  fields: (t) => ({
    id: t.id({ resolve: ({ promotion }) => promotion.id }),
    code: t.exposeString("code", { nullable: true }),
    title: t.exposeString("title"),
    kind: t.string({ resolve: ({ promotion }) => promotion.kind }),
    value: t.field({ type: PromotionValue, resolve: (node) => node }),
    startsAt: t.string({ nullable: true, resolve: ({ promotion }) => promotion.startsAt?.toISOString() }),
    endsAt: t.string({ nullable: true, resolve: ({ promotion }) => promotion.endsAt?.toISOString() }),
    combinesWithAutomatic: t.boolean({ resolve: ({ promotion }) => !promotion.isExclusive }),
  }),
});

const AutomaticPromotion = builder
  .objectRef<{ readonly node: PromotionNode; readonly cart: CartNode }>("AutomaticPromotion")
  .implement({
    fields: (t) => ({
      id: t.id({ resolve: ({ node }) => node.promotion.id }),
      title: t.string({ resolve: ({ node }) => node.title }),
      discount: t.field({
        type: MoneyType,
        resolve: ({ node, cart }) => toMoney(node.applied.discountMinor, cart.row.currency),
      }),
    }),
  });

const PromotionAllocation = builder
  .objectRef<Allocation & { readonly promotionId: string; readonly cart: CartNode }>("PromotionAllocation")
  .implement({
    fields: (t) => ({
      target: t.string({ resolve: ({ lineId }) => (lineId === null ? "shipping" : "line") }),
      lineId: t.exposeString("lineId", { nullable: true }),
      promotionId: t.exposeString("promotionId"),
      amount: t.field({
        type: MoneyType,
        resolve: ({ amountMinor, cart }) => toMoney(amountMinor, cart.row.currency),
      }),
    }),
  });

const ReplacedCode = builder.objectRef<{ readonly code: string }>("ReplacedCode").implement({
  fields: (t) => ({ code: t.exposeString("code") }),
});

export const PromotionState = builder.objectRef<CartNode>("CartPromotionState").implement({
  fields: (t) => ({
    cartId: t.id({ resolve: ({ row }) => row.id }),
    cartVersion: t.int({ resolve: ({ row }) => row.version }),
    state: t.string({
      resolve: async (cart, _args, context) => (await findCode(cart, context))?.applied.state ?? "none",
    }),
    suspendedReason: t.string({
      nullable: true,
      resolve: async (cart, _args, context) => (await findCode(cart, context))?.applied.suspendedReason,
    }),
    promotion: t.field({
      type: AppliedPromotion,
      nullable: true,
      resolve: (cart, _args, context) => findCode(cart, context),
    }),
    automatic: t.field({
      type: [AutomaticPromotion],
      resolve: async (cart, _args, context) => {
        const all = await findPromotions(cart, context);
        return all.filter(({ applied }) => applied.trigger === "automatic").map((node) => ({ node, cart }));
      },
    }),
    discount: t.field({
      type: MoneyType,
      resolve: async (cart, _args, context) =>
        toMoney((await findCode(cart, context))?.applied.discountMinor ?? 0, cart.row.currency),
    }),
    allocations: t.field({
      type: [PromotionAllocation],
      resolve: async (cart, _args, context) => {
        const code = await findCode(cart, context);
        return (
          code?.allocations.map(({ lineId, amountMinor }) => ({
            lineId,
            amountMinor,
            promotionId: code.promotion.id,
            cart,
          })) ?? []
        );
      },
    }),
    // Only answers to changes have a value.
    replaced: t.field({ type: ReplacedCode, nullable: true, resolve: () => null }),
    totals: t.field({ type: CartTotals, resolve: (cart) => cart }),
  }),
});
