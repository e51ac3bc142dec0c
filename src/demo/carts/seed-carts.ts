/**
 * Gives the demo's merchants their promotions and a cart in every state but those that checkouts bring about,
 * all in the transaction of the caller: the names of demo.json stand for what is there whole. Done again, it
 * makes new carts: those from before may have become anything.
 */
import type { Transaction } from "#database/transaction.ts";
import type { DemoFile, PromotionCodes } from "#demo/demo-file.ts";
import { type CartLife, cartRows, insertCarts, type NewCart } from "#demo/rows/cart-rows.ts";
import { emptyPromotionValues } from "#commerce/promotions/promotion-fields.ts";
import { normalizePromotionCode } from "#commerce/promotions/choose-promotions.ts";
import { insertRows, type Row } from "#demo/rows/insert-rows.ts";
import { createId } from "#foundation/ids.ts";
import {
  type CartEntry,
  type CartKey,
  type CartsPlace,
  type DemoOwners,
  demoSales,
  drawCarts,
  type Drawn,
  type FindMarket,
  plainCartNames,
  type PromotionEntry,
  readMarkets,
} from "./draw-carts.ts";

type PlainCartName = (typeof plainCartNames)[number];

export interface SeededCarts extends Pick<DemoFile, "promotionCodes"> {
  readonly carts: Readonly<Record<PlainCartName, string>>;
}

export async function seedCarts(
  transaction: Transaction,
  { owners, keyring, now }: CartsPlace,
): Promise<SeededCarts> {
  const markets = await readMarkets(transaction, owners);
  const promotionCodes = await seedPromotions(transaction, { owners, findMarket: markets.ofCountry, now });
  const drawn = await drawCarts(transaction, {
    owners,
    keyring,
    now,
    markets,
    promotionCodes,
    entries: demoSales().carts,
  });
  const idOf = new Map(drawn.map(({ entry, cart }) => [entry.key, cart.id]));
  await insertCarts(
    transaction,
    drawn.map(({ entry, cart }: Drawn<CartEntry>) => cartRows(cart, lifeOf(entry, cart, idOf))),
  );
  return {
    carts: Object.fromEntries(plainCartNames.map((name) => [name, requireId(idOf, name)])) as Record<
      PlainCartName,
      string
    >,
    promotionCodes,
  };
}

/** The version counts the steps that a buyer would have taken. */
function lifeOf(
  { state, lines }: CartEntry,
  { createdAt, updatedAt, next }: NewCart,
  idOf: ReadonlyMap<CartKey, string>,
): CartLife {
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
  if (status === "merged") return { status, version, mergedIntoCartId: requireId(idOf, state.into) };
  return { status, version };
}

function requireId(idOf: ReadonlyMap<CartKey, string>, key: CartKey): string {
  const id = idOf.get(key);
  if (id === undefined) throw new Error(`The demo has no cart ${key}.`);
  return id;
}

/**
 * Gives the demo's merchants their promotions. Those whose code is there already stay as they are, so that it
 * can be done again.
 */
interface Given {
  readonly owners: DemoOwners;
  readonly findMarket: FindMarket;
  readonly now: Date;
}

const dayMs = 86_400_000;
const ageDays = 90;
/** A draft, then active, then ended. */
const versions = { draft: 1, active: 2, paused: 3, ended: 3 } as const;

async function seedPromotions(transaction: Transaction, given: Given): Promise<PromotionCodes> {
  const { promotions } = demoSales();
  const codes = await findCodes(transaction, given.owners);
  const isMissing = ({ code, owner }: PromotionEntry): boolean =>
    // An automatic one has no name to be known by: it comes with the first codes.
    code === null ? codes.size === 0 : !codes.has(keyOf(given.owners[owner].id, code.text));
  const rows = promotions.filter(isMissing).flatMap((entry) => rowsOf(entry, given));
  await insertRows(transaction, {
    promotion: rows.map(({ promotion }) => promotion),
    promotionCode: rows.flatMap(({ promotionCode }) => promotionCode),
  });
  return Object.fromEntries(
    promotions.flatMap(({ code }) => (code === null ? [] : [[code.name, code.text]])),
  ) as PromotionCodes;
}

const keyOf = (merchantId: string, code: string): string =>
  `${merchantId} ${normalizePromotionCode(code) ?? ""}`;

async function findCodes(transaction: Transaction, { first, second }: DemoOwners): Promise<Set<string>> {
  const texts = demoSales().promotions.flatMap(({ code }) =>
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

/** Nothing for a market that the merchant no longer has. */
function rowsOf(
  { code, owner, kind, status, titles, values, country, windowDaysAgo }: PromotionEntry,
  { owners, findMarket, now }: Given,
): { readonly promotion: Row<"promotion">; readonly promotionCode: readonly Row<"promotionCode">[] }[] {
  const merchantId = owners[owner].id;
  const marketId = country === undefined ? undefined : findMarket(merchantId, country);
  if (country !== undefined && marketId === undefined) return [];
  const at = new Date(now.getTime() - ageDays * dayMs);
  const [startsAt, endsAt] = (windowDaysAgo ?? [null, null]).map((days) =>
    days === null ? null : new Date(now.getTime() - days * dayMs),
  );
  const id = createId("promotion", at.getTime());
  const promotion: Row<"promotion"> = {
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
    startedAt: startedAtOf(status, startsAt ?? at),
    version: versions[status],
    createdAt: at,
    updatedAt: endsAt ?? at,
  };
  return [{ promotion, promotionCode: code === null ? [] : [codeRow(promotion, code.text, at)] }];
}

const startedAtOf = (status: PromotionEntry["status"], at: Date): Date | null =>
  status === "draft" ? null : at;

function codeRow(
  { id: promotionId, merchantId }: Row<"promotion">,
  code: string,
  createdAt: Date,
): Row<"promotionCode"> {
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
