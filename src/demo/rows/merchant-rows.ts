/**
 * Creates the database rows of a demo merchant, without its products: markets, tax rates, delivery methods,
 * policies and categories.
 */
import { createId } from "#foundation/ids.ts";
import type { DemoCategoryEntry, DemoMarket, DemoPolicy } from "#demo/data/merchants-schema.ts";
import type { DemoMerchant } from "#demo/demo-data.ts";
import type { DemoTableRowToInsert } from "./insert-rows.ts";

/** The id of a market, and the position of this market's price in the list of a product's prices. */
export interface DemoMarketIdAndPriceListIndex {
  readonly id: string;
  readonly amountIndex: DemoMarket["amountIndex"];
}

export interface DemoMerchantRows {
  readonly merchant: DemoTableRowToInsert<"merchant">;
  readonly markets: readonly DemoMarketIdAndPriceListIndex[];
  readonly categoryIds: ReadonlyMap<string, string>;
  readonly market: readonly DemoTableRowToInsert<"market">[];
  readonly marketCountry: readonly DemoTableRowToInsert<"marketCountry">[];
  readonly taxRate: readonly DemoTableRowToInsert<"taxRate">[];
  readonly deliveryMethod: readonly DemoTableRowToInsert<"deliveryMethod">[];
  readonly policy: readonly DemoTableRowToInsert<"policy">[];
  readonly category: readonly DemoTableRowToInsert<"category">[];
}

interface MerchantRowContext {
  readonly merchantId: string;
  readonly createdAt: Date;
}

interface MarketRowContext extends MerchantRowContext {
  readonly market: DemoMarket;
  readonly id: string;
}

export function createDemoMerchantRows(merchant: DemoMerchant, createdAt: Date): DemoMerchantRows {
  const merchantId = createId("merchant", createdAt.getTime());
  const rowContext = { merchantId, createdAt };
  const markets = merchant.markets.map((market) => ({
    ...rowContext,
    market,
    id: createId("market", createdAt.getTime()),
  }));
  const category = merchant.categories.flatMap((entry, position) =>
    createCategoryRows(entry, { ...rowContext, parentId: null, position }),
  );
  return {
    merchant: {
      id: merchantId,
      slug: merchant.slug,
      name: merchant.name,
      mode: "test",
      defaultLocale: "en",
      defaultMarket: "DE",
      createdAt,
      updatedAt: createdAt,
    },
    markets: markets.map(({ id, market }) => ({ id, amountIndex: market.amountIndex })),
    categoryIds: new Map(category.map(({ slug, id }) => [slug, id])),
    market: markets.map(createMarketRow),
    marketCountry: markets.flatMap(({ id, market }) =>
      market.countries.map((country, position) => ({ merchantId, country, marketId: id, position })),
    ),
    taxRate: markets.flatMap(createTaxRateRows),
    deliveryMethod: markets.flatMap(createDeliveryMethodRows),
    policy: [
      ...merchant.policies.map((policy) => createPolicyRow(policy, { ...rowContext, marketId: null })),
      ...markets.flatMap(({ id, market }) =>
        market.policies.map((policy) => createPolicyRow(policy, { ...rowContext, marketId: id })),
      ),
    ],
    category,
  };
}

function createMarketRow({
  merchantId,
  createdAt,
  market,
  id,
}: MarketRowContext): DemoTableRowToInsert<"market"> {
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
    createdAt,
    updatedAt: createdAt,
  };
}

function createTaxRateRows({
  merchantId,
  createdAt,
  market,
  id,
}: MarketRowContext): DemoTableRowToInsert<"taxRate">[] {
  return market.taxRates.map((rate) => ({
    id: createId("taxRate", createdAt.getTime()),
    merchantId,
    marketId: id,
    ...rate,
    updatedAt: createdAt,
  }));
}

function createDeliveryMethodRows({
  merchantId,
  createdAt,
  market,
  id,
}: MarketRowContext): DemoTableRowToInsert<"deliveryMethod">[] {
  return market.delivery.map(
    ({ code, names, carrier, pickup, priceMinor, freeFromMinor, days }, position) => ({
      id: createId("deliveryMethod", createdAt.getTime()),
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
      updatedAt: createdAt,
    }),
  );
}

function createPolicyRow(
  { type, summaries, url, rules }: DemoPolicy,
  { merchantId, createdAt, marketId }: MerchantRowContext & { readonly marketId: string | null },
): DemoTableRowToInsert<"policy"> {
  return {
    id: createId("policy", createdAt.getTime()),
    merchantId,
    marketId,
    type,
    summaries,
    url,
    rules,
    updatedAt: createdAt,
  };
}

/**
 * Creates the rows of a category and of all categories below it. The row of a parent category comes before
 * the rows of its child categories, because their foreign keys refer to the parent.
 */
function createCategoryRows(
  entry: DemoCategoryEntry,
  {
    merchantId,
    createdAt,
    parentId,
    position,
  }: MerchantRowContext & { readonly parentId: string | null; readonly position: number },
): DemoTableRowToInsert<"category">[] {
  const id = createId("category", createdAt.getTime());
  const row = {
    id,
    merchantId,
    parentId,
    slug: entry.slug,
    names: entry.names,
    position,
    createdAt,
    updatedAt: createdAt,
  };
  return [
    row,
    ...(entry.children ?? []).flatMap((child, index) =>
      createCategoryRows(child, { merchantId, createdAt, parentId: id, position: index }),
    ),
  ];
}
