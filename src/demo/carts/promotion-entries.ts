/** The promotions of the demo: one of each state that a code can be in, and an automatic one that is kept away from the carts of Germany. */
import type { PromotionValues } from "#commerce/promotions/promotion-fields.ts";
import type { PromotionKind, PromotionStatus } from "#commerce/promotions/promotion-rule.ts";
import type { PromotionCodeName } from "#demo/demo-file.ts";
import { type Words, words } from "#demo/catalog/words.ts";

export interface PromotionEntry {
  /** Null: automatic. */
  readonly code: { readonly name: PromotionCodeName; readonly text: string } | null;
  readonly owner: "first" | "second";
  readonly kind: PromotionKind;
  readonly status: PromotionStatus;
  readonly titles: Words;
  readonly values: Partial<Pick<PromotionValues, "basisPoints" | "amountMinor" | "currency" | "minimumSubtotalMinor" | "usageLimit">>;
  /** In the market of this country alone; without it in every market. */
  readonly country?: string;
  /** How long ago its window began and ended. */
  readonly windowDaysAgo?: readonly [startedDaysAgo: number, endedDaysAgo: number];
}

const code = (name: PromotionCodeName, text: string): PromotionEntry["code"] => ({ name, text });

export const promotionEntries: readonly PromotionEntry[] = [
  {
    code: code("percentage", "LINDEN10"),
    owner: "first",
    kind: "percentage",
    status: "active",
    titles: words("10 % off everything", "10 % auf alles", "全品10％オフ"),
    values: { basisPoints: 1000 },
  },
  {
    code: code("fixedAmount", "DANKE5"),
    owner: "first",
    kind: "fixed_amount",
    status: "active",
    titles: words("€5 as a thank-you", "5 € als Dankeschön", "感謝をこめて5ユーロ引き"),
    values: { amountMinor: 500, currency: "EUR" },
  },
  {
    code: code("freeShipping", "FREIHAUS"),
    owner: "first",
    kind: "free_shipping",
    status: "active",
    titles: words("Free delivery", "Versand geschenkt", "送料無料"),
    values: {},
  },
  {
    code: code("minimumSubtotal", "GROSSEINKAUF"),
    owner: "first",
    kind: "percentage",
    status: "active",
    titles: words("15 % off from €500", "15 % ab 500 €", "500ユーロ以上で15％オフ"),
    values: { basisPoints: 1500, minimumSubtotalMinor: 50_000, currency: "EUR" },
  },
  {
    code: code("ended", "SOMMER20"),
    owner: "first",
    kind: "percentage",
    status: "ended",
    titles: words("20 % off in summer", "20 % im Sommer", "夏の20％オフ"),
    values: { basisPoints: 2000 },
    windowDaysAgo: [60, 10],
  },
  {
    code: code("exhausted", "ERSTER25"),
    owner: "first",
    kind: "percentage",
    status: "active",
    titles: words("25 % off for the first order", "25 % für die erste Bestellung", "最初の一件は25％オフ"),
    values: { basisPoints: 2500, usageLimit: 1 },
  },
  {
    code: code("otherMerchant", "BOHNE10"),
    owner: "second",
    kind: "percentage",
    status: "active",
    titles: words("10 % off all coffee", "10 % auf den ganzen Kaffee", "コーヒー全品10％オフ"),
    values: { basisPoints: 1000 },
  },
  {
    code: null,
    owner: "first",
    kind: "percentage",
    status: "active",
    titles: words("5 % off from $100", "5 % ab 100 $", "100ドル以上で5％オフ"),
    values: { basisPoints: 500, minimumSubtotalMinor: 10_000, currency: "USD" },
    country: "US",
  },
];
