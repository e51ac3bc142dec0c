/** The rows of a demo merchant without its products: markets, taxes, deliveries, policies, categories. */
import { createId } from "#foundation/ids.ts";
import type { CategoryEntry, DemoMarket, DemoMerchant, DemoPolicy } from "#demo/demo-data.ts";
import type { Row } from "./insert-rows.ts";

export interface MarketKey {
  readonly id: string;
  readonly amountIndex: DemoMarket["amountIndex"];
}

export interface MerchantRows {
  readonly merchant: Row<"merchant">;
  readonly markets: readonly MarketKey[];
  readonly categoryIds: ReadonlyMap<string, string>;
  readonly market: readonly Row<"market">[];
  readonly marketCountry: readonly Row<"marketCountry">[];
  readonly taxRate: readonly Row<"taxRate">[];
  readonly deliveryMethod: readonly Row<"deliveryMethod">[];
  readonly policy: readonly Row<"policy">[];
  readonly category: readonly Row<"category">[];
}

interface Owner {
  readonly merchantId: string;
  readonly at: Date;
}

interface MarketOfMerchant extends Owner {
  readonly market: DemoMarket;
  readonly id: string;
}

export function merchantRows(merchant: DemoMerchant, at: Date): MerchantRows {
  const merchantId = createId("merchant", at.getTime());
  const owner = { merchantId, at };
  const markets = merchant.markets.map((market) => ({
    ...owner,
    market,
    id: createId("market", at.getTime()),
  }));
  const category = merchant.categories.flatMap((entry, position) =>
    categoryRows(entry, { ...owner, parentId: null, position }),
  );
  return {
    merchant: {
      id: merchantId,
      slug: merchant.slug,
      name: merchant.name,
      mode: "test",
      defaultLocale: "en",
      defaultMarket: "DE",
      createdAt: at,
      updatedAt: at,
    },
    markets: markets.map(({ id, market }) => ({ id, amountIndex: market.amountIndex })),
    categoryIds: new Map(category.map(({ slug, id }) => [slug, id])),
    market: markets.map(marketRow),
    marketCountry: markets.flatMap(({ id, market }) =>
      market.countries.map((country, position) => ({ merchantId, country, marketId: id, position })),
    ),
    taxRate: markets.flatMap(taxRateRows),
    deliveryMethod: markets.flatMap(deliveryMethodRows),
    policy: [
      ...merchant.policies.map((policy) => policyRow(policy, { ...owner, marketId: null })),
      ...markets.flatMap(({ id, market }) =>
        market.policies.map((policy) => policyRow(policy, { ...owner, marketId: id })),
      ),
    ],
    category,
  };
}

function marketRow({ merchantId, at, market, id }: MarketOfMerchant): Row<"market"> {
  const { handle, name, currency, taxIncluded, defaultLocale, timeZone } = market;
  return {
    id,
    merchantId,
    handle,
    name,
    currency,
    taxIncluded,
    defaultLocale,
    timeZone,
    createdAt: at,
    updatedAt: at,
  };
}

function taxRateRows({ merchantId, at, market, id }: MarketOfMerchant): Row<"taxRate">[] {
  return market.taxRates.map((rate) => ({
    id: createId("taxRate", at.getTime()),
    merchantId,
    marketId: id,
    ...rate,
    updatedAt: at,
  }));
}

function deliveryMethodRows({ merchantId, at, market, id }: MarketOfMerchant): Row<"deliveryMethod">[] {
  return market.delivery.map(
    ({ code, names, carrier, pickup, priceMinor, freeFromMinor, days }, position) => ({
      id: createId("deliveryMethod", at.getTime()),
      merchantId,
      marketId: id,
      code,
      names,
      carrier,
      pickup: pickup ?? false,
      priceMinor,
      freeFromMinor,
      minDays: days[0],
      maxDays: days[1],
      active: true,
      position,
      updatedAt: at,
    }),
  );
}

function policyRow(
  { type, summaries, url, rules }: DemoPolicy,
  { merchantId, at, marketId }: Owner & { readonly marketId: string | null },
): Row<"policy"> {
  return {
    id: createId("policy", at.getTime()),
    merchantId,
    marketId,
    type,
    summaries,
    url,
    rules,
    updatedAt: at,
  };
}

/** Parents stand before their children, as the foreign key wants it to be read. */
function categoryRows(
  entry: CategoryEntry,
  {
    merchantId,
    at,
    parentId,
    position,
  }: Owner & { readonly parentId: string | null; readonly position: number },
): Row<"category">[] {
  const id = createId("category", at.getTime());
  const own = {
    id,
    merchantId,
    parentId,
    slug: entry.slug,
    names: entry.names,
    position,
    createdAt: at,
    updatedAt: at,
  };
  return [
    own,
    ...(entry.children ?? []).flatMap((child, index) =>
      categoryRows(child, { merchantId, at, parentId: id, position: index }),
    ),
  ];
}
