/**
 * Adds the promotions of the demo's merchants, and carts in every status that a cart can reach without a
 * checkout. All rows are written in the caller's transaction. Every call creates new carts, because users of
 * the demo may have changed the carts of an earlier call.
 */
import type { Transaction } from "#database/transaction.ts";
import type { DemoJsonFileContent, DemoPromotionCodes } from "#demo/demo-file.ts";
import {
  type DemoCartStatusWithDetails,
  createDemoCartRows,
  insertDemoCartRows,
  type UnsavedDemoCart,
} from "#demo/rows/cart-rows.ts";
import {
  cartNamesWithoutCheckout,
  type DemoCartEntry,
  type DemoCartName,
  type DemoPromotionEntry,
} from "#demo/data/sales-schema.ts";
import { loadDemoSales } from "#demo/demo-data.ts";
import { emptyPromotionValues } from "#commerce/promotions/promotion-fields.ts";
import { normalizePromotionCode } from "#commerce/promotions/choose-promotions.ts";
import { insertTableRows, type DemoTableRowToInsert } from "#demo/rows/insert-rows.ts";
import { createId } from "#foundation/ids.ts";
import {
  type DemoCartSeedContext,
  type DemoMerchantIds,
  priceDemoCarts,
  type PricedDemoCart,
  type DemoMarketIdByCountryFinder,
  loadDemoMarketLookupFunctions,
} from "./price-carts.ts";

type CartNameWithoutCheckout = (typeof cartNamesWithoutCheckout)[number];

export interface DemoCartSeedResult extends Pick<DemoJsonFileContent, "promotionCodes"> {
  readonly carts: Readonly<Record<CartNameWithoutCheckout, string>>;
}

export async function seedDemoCarts(
  transaction: Transaction,
  { owners, keyring, now }: DemoCartSeedContext,
): Promise<DemoCartSeedResult> {
  const marketLookup = await loadDemoMarketLookupFunctions(transaction, owners);
  const promotionCodes = await seedPromotions(transaction, {
    owners,
    findMarket: marketLookup.findByCountry,
    now,
  });
  const pricedCarts = await priceDemoCarts(transaction, {
    owners,
    keyring,
    now,
    marketLookup,
    promotionCodes,
    definitions: loadDemoSales().carts,
  });
  const cartIds = new Map(pricedCarts.map(({ definition, cart }) => [definition.key, cart.id]));
  await insertDemoCartRows(
    transaction,
    pricedCarts.map(({ definition, cart }: PricedDemoCart<DemoCartEntry>) =>
      createDemoCartRows(cart, getCartState(definition, cart, cartIds)),
    ),
  );
  return {
    carts: Object.fromEntries(
      cartNamesWithoutCheckout.map((name) => [name, requireCartId(cartIds, name)]),
    ) as Record<CartNameWithoutCheckout, string>,
    promotionCodes,
  };
}

/**
 * Returns the status and version of a demo cart. The version is the number that the cart would have if a
 * buyer had created it and then made each change in a separate request.
 */
function getCartState(
  { state, lines }: DemoCartEntry,
  { createdAt, updatedAt, next }: UnsavedDemoCart,
  cartIds: ReadonlyMap<DemoCartName, string>,
): DemoCartStatusWithDetails {
  const isChanged = createdAt < updatedAt && lines.length > 0;
  const steps = [
    isChanged,
    next.buyerReference !== null,
    next.deliveryMethodId !== null,
    next.promotions.length > 0,
    state.status !== "active",
  ];
  const version = 1 + steps.filter(Boolean).length;
  const { status } = state;
  if (status === "revoked")
    return { status, version, revocation: { reason: "buyer_request", note: state.note } };
  if (status === "merged") return { status, version, mergedIntoCartId: requireCartId(cartIds, state.into) };
  return { status, version };
}

function requireCartId(cartIds: ReadonlyMap<DemoCartName, string>, key: DemoCartName): string {
  const id = cartIds.get(key);
  if (id === undefined) throw new Error(`src/demo/data/sales.json has no cart with the key "${key}".`);
  return id;
}

interface PromotionSeedContext {
  readonly owners: DemoMerchantIds;
  readonly findMarket: DemoMarketIdByCountryFinder;
  readonly now: Date;
}

const dayMs = 86_400_000;
const promotionAgeDays = 90;
/**
 * The version of a promotion for each status. The version is 1 for a draft and increases with each change of
 * the status: from draft to active (2), then to paused or ended (3).
 */
const versionOfStatus = { draft: 1, active: 2, paused: 3, ended: 3 } as const;

/**
 * Inserts the promotions of sales.json. Skips promotions that exist already, so that the function can be
 * called again. Returns the text of each promotion code by its name in demo.json.
 */
async function seedPromotions(
  transaction: Transaction,
  context: PromotionSeedContext,
): Promise<DemoPromotionCodes> {
  const { promotions } = loadDemoSales();
  const codes = await findExistingCodes(transaction, context.owners);
  const isMissing = ({ code, owner }: DemoPromotionEntry): boolean =>
    // Promotions without a code cannot be found in the database by a code. Such a promotion is created only
    // if the database has none of the demo's promotion codes, which means that the demo's promotions do not
    // exist yet.
    code === null ? codes.size === 0 : !codes.has(createCodeKey(context.owners[owner].id, code.text));
  const rows = promotions.filter(isMissing).flatMap((entry) => createPromotionRows(entry, context));
  await insertTableRows(transaction, {
    promotion: rows.map(({ promotion }) => promotion),
    promotionCode: rows.flatMap(({ promotionCode }) => promotionCode),
  });
  return Object.fromEntries(
    promotions.flatMap(({ code }) => (code === null ? [] : [[code.name, code.text]])),
  ) as DemoPromotionCodes;
}

const createCodeKey = (merchantId: string, code: string): string =>
  `${merchantId} ${normalizePromotionCode(code) ?? ""}`;

async function findExistingCodes(
  transaction: Transaction,
  { first, second }: DemoMerchantIds,
): Promise<Set<string>> {
  const texts = loadDemoSales().promotions.flatMap(({ code }) =>
    code === null ? [] : [normalizePromotionCode(code.text) ?? ""],
  );
  const rows = await transaction
    .selectFrom("promotionCode")
    .select(["merchantId", "codeNormalized"])
    .where("merchantId", "in", [first.id, second.id])
    .where("codeNormalized", "in", texts)
    .execute();
  return new Set(rows.map(({ merchantId, codeNormalized }) => `${merchantId} ${codeNormalized}`));
}

/**
 * Creates the database rows of a promotion. Creates none for a promotion that is limited to a country in
 * which the merchant no longer sells.
 */
function createPromotionRows(
  { code, owner, kind, status, titles, values, country, windowDaysAgo }: DemoPromotionEntry,
  { owners, findMarket, now }: PromotionSeedContext,
): {
  readonly promotion: DemoTableRowToInsert<"promotion">;
  readonly promotionCode: readonly DemoTableRowToInsert<"promotionCode">[];
}[] {
  const merchantId = owners[owner].id;
  const marketId = country === undefined ? undefined : findMarket(merchantId, country);
  if (country !== undefined && marketId === undefined) return [];
  const createdAt = new Date(now.getTime() - promotionAgeDays * dayMs);
  const [startsAt, endsAt] = (windowDaysAgo ?? [null, null]).map((days) =>
    days === null ? null : new Date(now.getTime() - days * dayMs),
  );
  const id = createId("promotion", createdAt.getTime());
  const promotion: DemoTableRowToInsert<"promotion"> = {
    ...emptyPromotionValues,
    ...values,
    id,
    merchantId,
    trigger: code === null ? "automatic" : "code",
    kind,
    status,
    titles,
    entitledProductIds: [],
    entitledCategoryIds: [],
    buyProductIds: [],
    buyCategoryIds: [],
    marketIds: marketId === undefined ? [] : [marketId],
    buyerReferences: [],
    startsAt: startsAt ?? null,
    endsAt: endsAt ?? null,
    startedAt: getStartedAt(status, startsAt ?? createdAt),
    version: versionOfStatus[status],
    createdAt,
    updatedAt: endsAt ?? createdAt,
  };
  return [
    { promotion, promotionCode: code === null ? [] : [createCodeRow(promotion, code.text, createdAt)] },
  ];
}

const getStartedAt = (status: DemoPromotionEntry["status"], createdAt: Date): Date | null =>
  status === "draft" ? null : createdAt;

function createCodeRow(
  { id: promotionId, merchantId }: DemoTableRowToInsert<"promotion">,
  code: string,
  createdAt: Date,
): DemoTableRowToInsert<"promotionCode"> {
  const id = createId("promotionCode", createdAt.getTime());
  return {
    id,
    merchantId,
    promotionId,
    code,
    codeNormalized: normalizePromotionCode(code) ?? "",
    usageLimit: null,
    createdAt,
  };
}
