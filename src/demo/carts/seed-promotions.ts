/** Gives the demo's merchants their promotions. Those whose code is there already stay as they are, so that it can be done again. */
import { noValues } from "#commerce/promotions/promotion-fields.ts";
import { normalizeCode } from "#commerce/promotions/choose-promotions.ts";
import type { Transaction } from "#database/transaction.ts";
import type { PromotionCodes } from "#demo/demo-file.ts";
import { insertRows, type Row } from "#demo/rows/insert-rows.ts";
import { createId } from "#foundation/ids.ts";
import { demoSales, type PromotionEntry } from "#demo/demo-data.ts";

export interface DemoOwners {
  readonly first: { readonly id: string };
  readonly second: { readonly id: string };
}

/** Which market of a merchant sells to a country. */
export type FindMarket = (merchantId: string, country: string) => string | undefined;

interface Given {
  readonly owners: DemoOwners;
  readonly findMarket: FindMarket;
  readonly now: Date;
}

const dayMs = 86_400_000;
const ageDays = 90;
/** A draft, then active, then ended. */
const versions = { draft: 1, active: 2, paused: 3, ended: 3 } as const;

export async function seedPromotions(transaction: Transaction, given: Given): Promise<PromotionCodes> {
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
  return Object.fromEntries(promotions.flatMap(({ code }) => (code === null ? [] : [[code.name, code.text]]))) as PromotionCodes;
}

const keyOf = (merchantId: string, code: string): string => `${merchantId} ${normalizeCode(code) ?? ""}`;

async function findCodes(transaction: Transaction, { first, second }: DemoOwners): Promise<Set<string>> {
  const texts = demoSales().promotions.flatMap(({ code }) => (code === null ? [] : [normalizeCode(code.text) ?? ""]));
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
  const [startsAt, endsAt] = (windowDaysAgo ?? [null, null]).map((days) => (days === null ? null : new Date(now.getTime() - days * dayMs)));
  const id = createId("promotion", at.getTime());
  const promotion: Row<"promotion"> = {
    ...noValues,
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

const startedAtOf = (status: PromotionEntry["status"], at: Date): Date | null => (status === "draft" ? null : at);

function codeRow({ id: promotionId, merchantId }: Row<"promotion">, code: string, createdAt: Date): Row<"promotionCode"> {
  const id = createId("promotionCode", createdAt.getTime());
  return { id, merchantId, promotionId, code, codeNormalized: normalizeCode(code) ?? "", usageLimit: null, createdAt };
}
