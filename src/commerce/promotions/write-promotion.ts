/**
 * Making a promotion and changing what it says. It starts as a draft; what kind it is and how it comes to a cart are fixed, because its codes,
 * its uses and the carts that have it were made for that.
 */
import { isDeepStrictEqual } from "node:util";
import { choiceFaults, faultAt, requireNoFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { conflictOf, lockLivingPromotion, type PromotionTransitionInput } from "./lock-promotion.ts";
import { previousOf } from "./promotion-document.ts";
import { fieldFaults, mergeFields, noValues, type PromotionFields, type PromotionValues, ruleFaults } from "./promotion-fields.ts";
import { type PromotionKind, promotionKinds, type PromotionRule } from "./promotion-rule.ts";
import { startOf } from "./promotion-window.ts";
import type { PromotionRow } from "./read-promotions.ts";
import { requireOwnCurrency, requireOwnThings } from "./require-own.ts";

export const promotionTriggers = ["code", "automatic"] as const satisfies readonly PromotionRule["trigger"][];

export interface PromotionCreateInput extends PromotionFields {
  readonly trigger: PromotionRule["trigger"];
  readonly kind: PromotionKind;
  readonly titles: NonNullable<PromotionFields["titles"]>;
}

export type PromotionUpdateInput = PromotionFields & PromotionTransitionInput;

export async function createPromotion(
  transaction: Transaction,
  tenant: CommandContext,
  input: PromotionCreateInput,
): Promise<{ promotionId: string }> {
  const { trigger, kind } = input;
  const values = mergeFields(noValues, input);
  requireNoFaults([
    ...choiceFaults("/trigger", trigger, { allowed: promotionTriggers, noun: "value" }),
    ...choiceFaults("/kind", kind, { allowed: promotionKinds, noun: "value" }),
    ...fieldFaults(input),
    ...(promotionKinds.includes(kind) ? ruleFaults(kind, values) : []),
  ]);
  await requireMerchant(transaction, tenant);
  await requireOwnThings(transaction, tenant, input);
  await requireOwnCurrency(transaction, tenant, values);
  const promotionId = createId("promotion", tenant.now.getTime());
  const { merchantId, now } = tenant;
  await transaction
    .insertInto("promotion")
    .values({ id: promotionId, merchantId, trigger, kind, ...toColumns(values), createdAt: now, updatedAt: now })
    .execute();
  return { promotionId };
}

export async function updatePromotion(
  transaction: Transaction,
  tenant: CommandContext,
  input: PromotionUpdateInput,
): Promise<{ promotionId: string }> {
  requireNoFaults(fieldFaults(input));
  const promotion = await lockLivingPromotion(transaction, tenant, input);
  const before = toValues(promotion);
  const values = mergeFields(before, input);
  requireNoFaults(ruleFaults(promotion.kind, values));
  if (isDeepStrictEqual(values, before)) return { promotionId: promotion.id };
  requireLimitAboveUsed(promotion, values);
  await requireOwnThings(transaction, tenant, input);
  if (values.currency !== before.currency || input.marketIds !== undefined) await requireOwnCurrency(transaction, tenant, values);
  const startedAt = promotion.status === "active" ? startOf({ ...values, startedAt: promotion.startedAt }, tenant.now) : promotion.startedAt;
  const after = await transaction
    .updateTable("promotion")
    .set({ ...toColumns(values), startedAt, version: promotion.version + 1, updatedAt: tenant.now })
    .where("id", "=", promotion.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  tenant.outbox.append({ type: "promotion.updated", id: promotion.id, previous: previousOf(promotion, after) });
  if (promotion.startedAt === null && startedAt !== null && promotion.status === "active")
    tenant.outbox.append({ type: "promotion.started", id: promotion.id, previous: {} });
  return { promotionId: promotion.id };
}

async function requireMerchant(transaction: Transaction, tenant: CommandContext): Promise<void> {
  const merchant = await transaction.selectFrom("merchant").select("id").where("id", "=", tenant.merchantId).forKeyShare().executeTakeFirst();
  if (merchant === undefined) throw fail("merchant_not_found");
}

function requireLimitAboveUsed(promotion: PromotionRow, { usageLimit }: PromotionValues): void {
  const { used } = promotion;
  if (usageLimit === null || usageLimit >= used) return;
  const message = `It was used ${used} times already.`;
  throw fail("invalid_state", {
    message,
    details: [faultAt("/usageLimit", "too_small", message)],
    conflict: conflictOf(promotion, "usage_limit_below_used", { used, usageLimit }),
  });
}

function toValues(row: PromotionRow): PromotionValues {
  const values: PromotionValues = { ...row, titles: row.titles as PromotionValues["titles"] };
  // Only the fields a merchant sets.
  return mergeFields(values, {});
}

function toColumns({ titles, ...values }: PromotionValues): Columns {
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
  readonly [Name in Exclude<keyof PromotionValues, "titles">]: PromotionValues[Name] extends readonly string[] ? string[] : PromotionValues[Name];
} & {
  readonly titles: string;
};
