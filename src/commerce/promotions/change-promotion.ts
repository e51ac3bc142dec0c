/**
 * Creates promotions and changes their fields. A new promotion is a draft. Its kind (for example percentage)
 * and its trigger (automatic or code) can never change, because its codes, uses and carts depend on them. The
 * products, categories, markets and currency of a promotion must belong to its merchant.
 */
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import {
  getDisallowedValueErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  createInvalidFieldFailure,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure, type FailureDetail } from "#foundation/failure.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { createMoney } from "#foundation/money.ts";
import {
  toPromotionConflictDetail,
  lockUnendedPromotion,
  type PromotionIdAndExpectedVersion,
  getPromotionStartTime,
} from "./promotion-status.ts";
import {
  findPromotionFieldFaults,
  mergeInputIntoStoredPromotion,
  emptyPromotionValues,
  type PromotionInputFields,
  type StoredPromotionFields,
  findPromotionRuleFaults,
} from "./promotion-fields.ts";
import { type PromotionKind, promotionKinds, type PromotionRule } from "./promotion-rule.ts";
import type { PromotionRow } from "./read-promotions.ts";

export const promotionTriggers = ["code", "automatic"] as const satisfies readonly PromotionRule["trigger"][];

/** The fields that a merchant enters to create a promotion. */
export interface CreatePromotionInput extends PromotionInputFields {
  readonly trigger: PromotionRule["trigger"];
  readonly kind: PromotionKind;
  readonly titles: NonNullable<PromotionInputFields["titles"]>;
}

export type UpdatePromotionInput = PromotionInputFields & PromotionIdAndExpectedVersion;

/**
 * Creates a promotion as a draft. Throws if a field is not valid, or if a product, category or market does
 * not belong to the merchant.
 */
export async function createPromotion(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: CreatePromotionInput,
): Promise<{ promotionId: string }> {
  const { trigger, kind } = input;
  const values = mergeInputIntoStoredPromotion(emptyPromotionValues, input);
  requireNoInputFieldErrors([
    ...getDisallowedValueErrors("/trigger", trigger, { allowed: promotionTriggers, noun: "value" }),
    ...getDisallowedValueErrors("/kind", kind, { allowed: promotionKinds, noun: "value" }),
    ...findPromotionFieldFaults(input),
    ...(promotionKinds.includes(kind) ? findPromotionRuleFaults(kind, values) : []),
  ]);
  await requireMerchant(transaction, context);
  await requireMerchantReferences(transaction, context, input);
  await requireMarketCurrency(transaction, context, values);
  const promotionId = createId("promotion", context.now.getTime());
  const { merchantId, now } = context;
  await transaction
    .insertInto("promotion")
    .values({
      id: promotionId,
      merchantId,
      trigger,
      kind,
      ...toColumns(values),
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  return { promotionId };
}

/**
 * Changes a promotion that has not ended. Publishes `promotion.updated`, and also `promotion.started` if the
 * change makes the promotion start.
 */
export async function updatePromotion(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpdatePromotionInput,
): Promise<{ promotionId: string }> {
  requireNoInputFieldErrors(findPromotionFieldFaults(input));
  const promotion = await lockUnendedPromotion(transaction, context, input);
  const before = toValues(promotion);
  const values = mergeInputIntoStoredPromotion(before, input);
  requireNoInputFieldErrors(findPromotionRuleFaults(promotion.kind, values));
  if (isDeepStrictEqual(values, before)) return { promotionId: promotion.id };
  requireLimitAboveUsed(promotion, values);
  await requireMerchantReferences(transaction, context, input);
  if (values.currency !== before.currency || input.marketIds !== undefined)
    await requireMarketCurrency(transaction, context, values);
  const startedAt =
    promotion.status === "active"
      ? getPromotionStartTime({ ...values, startedAt: promotion.startedAt }, context.now)
      : promotion.startedAt;
  const after = await transaction
    .updateTable("promotion")
    .set({ ...toColumns(values), startedAt, version: promotion.version + 1, updatedAt: context.now })
    .where("id", "=", promotion.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  context.outbox.append({
    type: "promotion.updated",
    id: promotion.id,
    previous: changedFieldsBefore(promotion, after),
  });
  if (promotion.startedAt === null && startedAt !== null && promotion.status === "active")
    context.outbox.append({ type: "promotion.started", id: promotion.id, previous: {} });
  return { promotionId: promotion.id };
}

async function requireMerchant(transaction: Transaction, context: MerchantCommandContext): Promise<void> {
  const merchant = await transaction
    .selectFrom("merchant")
    .select("id")
    .where("id", "=", context.merchantId)
    .forKeyShare()
    .executeTakeFirst();
  if (merchant === undefined) throw createFailure("merchant_not_found");
}

function requireLimitAboveUsed(promotion: PromotionRow, { usageLimit }: StoredPromotionFields): void {
  const { used } = promotion;
  if (usageLimit === null || usageLimit >= used) return;
  const message = `"usageLimit" must be at least ${used}, the number of uses so far.`;
  throw createFailure("invalid_state", {
    message,
    details: [createRequestBodyErrorDetail("/usageLimit", "too_small", message)],
    conflict: toPromotionConflictDetail(promotion, "usage_limit_below_used", { used, usageLimit }),
  });
}

function toValues(row: PromotionRow): StoredPromotionFields {
  const values: StoredPromotionFields = { ...row, titles: row.titles as StoredPromotionFields["titles"] };
  // Returns the values of a promotion's row without the columns that a merchant cannot set, for example the
  // id, status and version.
  return mergeInputIntoStoredPromotion(values, {});
}

function toColumns({ titles, ...values }: StoredPromotionFields): Columns {
  return {
    ...values,
    titles: JSON.stringify(titles),
    entitledProductIds: [...values.entitledProductIds],
    entitledCategoryIds: [...values.entitledCategoryIds],
    buyProductIds: [...values.buyProductIds],
    buyCategoryIds: [...values.buyCategoryIds],
    marketIds: [...values.marketIds],
    buyerReferences: [...values.buyerReferences],
  };
}

type Columns = {
  readonly [
    Name in Exclude<keyof StoredPromotionFields, "titles">
  ]: StoredPromotionFields[Name] extends readonly string[] ? string[] : StoredPromotionFields[Name];
} & {
  readonly titles: string;
};

const referenceLists = [
  { name: "entitledProductIds", table: "product", noun: "product" },
  { name: "entitledCategoryIds", table: "category", noun: "category" },
  { name: "buyProductIds", table: "product", noun: "product" },
  { name: "buyCategoryIds", table: "category", noun: "category" },
  { name: "marketIds", table: "market", noun: "market" },
] as const;

/**
 * Throws if a product, category or market in the input does not belong to the merchant. Stored ids that the
 * input does not change are not checked again, so that a deleted product does not prevent other changes.
 */
async function requireMerchantReferences(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: PromotionInputFields,
): Promise<void> {
  const missing: FailureDetail[] = [];
  for (const { name, table, noun } of referenceLists) {
    const ids = input[name] ?? [];
    if (ids.length > 0)
      missing.push(...(await missingReferenceFaults(transaction, context, { ids, table, name, noun })));
  }
  const [first] = missing;
  if (first !== undefined)
    throw createFailure("resource_not_found", { message: first.message, details: missing });
}

interface ReferenceList {
  readonly ids: readonly string[];
  readonly table: (typeof referenceLists)[number]["table"];
  readonly name: string;
  readonly noun: string;
}

async function missingReferenceFaults(
  transaction: Transaction,
  context: MerchantCommandContext,
  { ids, table, name, noun }: ReferenceList,
): Promise<InputFieldErrors> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where merchant_id = ${context.merchantId}
    and id = any(${ids.map(blankIdWithForbiddenCharacters)}::text[])`.execute(transaction);
  const found = new Set(rows.map(({ id }) => id));
  return ids.flatMap((id, index) =>
    found.has(id)
      ? []
      : [
          createRequestBodyErrorDetail(
            `/${name}/${index}`,
            "resource_not_found",
            `The merchant has no ${noun} with this id.`,
          ),
        ],
  );
}

/**
 * Throws if no market of the promotion has the promotion's currency, because the promotion would then never
 * apply.
 */
async function requireMarketCurrency(
  transaction: Transaction,
  context: MerchantCommandContext,
  { currency, marketIds }: StoredPromotionFields,
): Promise<void> {
  if (currency === null) return;
  const { rows } = await sql`
    select 1 from market where merchant_id = ${context.merchantId} and currency = ${currency}
      and (cardinality(${marketIds}::text[]) = 0 or id = any(${marketIds}::text[])) limit 1`.execute(
    transaction,
  );
  if (rows.length > 0) return;
  throw createInvalidFieldFailure("invalid_field", "/currency", {
    code: "currency_mismatch",
    message: '"currency" must be a currency of one of the promotion\'s markets.',
  });
}

/**
 * Returns the fields of a promotion in the form in which events contain them, without the references of the
 * buyers to whom the promotion is limited. The results before and after a change are compared, because an
 * event contains the previous values of the changed fields.
 */
function toEventDocument(row: PromotionRow): Readonly<Record<string, unknown>> {
  const toMoney = (amountMinor: number | null): unknown =>
    amountMinor === null || row.currency === null ? null : createMoney(amountMinor, row.currency);
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

/** Returns the previous values of those fields of a promotion that a change has altered. */
function changedFieldsBefore(before: PromotionRow, after: PromotionRow): Readonly<Record<string, unknown>> {
  const now = toEventDocument(after);
  return Object.fromEntries(
    Object.entries(toEventDocument(before)).filter(([name, was]) => !isDeepStrictEqual(was, now[name])),
  );
}
