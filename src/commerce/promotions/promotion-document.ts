/** A promotion in the words of its public document, so that an event can say what a changed field was before. */
import { isDeepStrictEqual } from "node:util";
import { money } from "#foundation/money.ts";
import type { PromotionRow } from "./read-promotions.ts";

/** What may change; who the buyers are that it is for is not told to others. */
function documentOf(row: PromotionRow): Readonly<Record<string, unknown>> {
  const toMoney = (amountMinor: number | null): unknown => (amountMinor === null || row.currency === null ? null : money(amountMinor, row.currency));
  return {
    status: row.status,
    titles: row.titles,
    basisPoints: row.basisPoints,
    amount: toMoney(row.amountMinor),
    currency: row.currency,
    buyQuantity: row.buyQuantity,
    getQuantity: row.getQuantity,
    minimumSubtotal: toMoney(row.minimumSubtotalMinor),
    minimumQuantity: row.minimumQuantity,
    entitledProductIds: row.entitledProductIds,
    entitledCategoryIds: row.entitledCategoryIds,
    buyProductIds: row.buyProductIds,
    buyCategoryIds: row.buyCategoryIds,
    marketIds: row.marketIds,
    requiresSignIn: row.requiresSignIn,
    startsAt: row.startsAt?.toISOString() ?? null,
    endsAt: row.endsAt?.toISOString() ?? null,
    usageLimit: row.usageLimit,
    perBuyerLimit: row.perBuyerLimit,
    priority: row.priority,
    isExclusive: row.isExclusive,
  };
}

/** What the fields that differ were. */
export function previousOf(before: PromotionRow, after: PromotionRow): Readonly<Record<string, unknown>> {
  const now = documentOf(after);
  return Object.fromEntries(Object.entries(documentOf(before)).filter(([name, was]) => !isDeepStrictEqual(was, now[name])));
}
