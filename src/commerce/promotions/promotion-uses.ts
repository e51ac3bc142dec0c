/**
 * Counts the uses of promotions. A submitted checkout takes a use, and a failed checkout releases it. An
 * order redeems the use, and canceling the whole order restores it. Promotions, codes and buyers have counts
 * of the uses that are taken or redeemed and not restored. These counts are always exact, so no limit is
 * exceeded.
 */
import { type CompiledQuery, type RawBuilder, sql } from "kysely";
import { bufferInsertUntilNextStatement } from "#database/prepared-template.ts";
import { runStatementsPipelined, type Transaction } from "#database/transaction.ts";
import type { Failure } from "#foundation/failure.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { PromotionRefusalReason } from "./promotion-rule.ts";

/** The promotion uses that a checkout session takes when the checkout is submitted. */
export interface PromotionUsesToReserve {
  readonly context: MerchantCommandContext;
  readonly sessionId: string;
  /** The buyer reference of the buyer; null for an anonymous buyer, whose uses cannot be counted. */
  readonly buyerReference: string | null;
  readonly promotions: readonly { readonly promotionId: string; readonly promotionCodeId: string | null }[];
  /**
   * Creates the failure that is thrown if a promotion cannot be used, for example because its usage limit is
   * reached. The caller must then roll back the transaction.
   */
  readonly refusal: (reason: PromotionRefusalReason, promotionId: string) => Failure;
}

/**
 * Takes one use of each given promotion for a checkout session. Throws if one of the promotions cannot be
 * used. The session must not have taken uses of these promotions before.
 */
export async function reservePromotionUses(
  transaction: Transaction,
  uses: PromotionUsesToReserve,
): Promise<void> {
  if (uses.promotions.length === 0) return;
  const counters = [countPromotionUses, countCodeUses, countBuyerUses].flatMap(
    (create) => create(uses) ?? [],
  );
  const promotionIds = uses.promotions.map(({ promotionId }) => promotionId);
  const queries: readonly CompiledQuery<RaisedUseCount>[] = [
    buildPromotionLockSqlQuery(transaction, promotionIds),
    ...counters.map(({ statement }) => statement.compile(transaction)),
  ];
  const [, ...results] = await runStatementsPipelined(transaction, queries);
  for (const [index, { check }] of counters.entries()) check(results[index]?.rows ?? []);
  await bufferInsertUntilNextStatement(
    transaction,
    "promotionUse",
    uses.promotions.map((promotion) => ({
      ...promotion,
      merchantId: uses.context.merchantId,
      sessionId: uses.sessionId,
      buyerReference: uses.buyerReference,
    })),
  );
}

/**
 * Builds the statement that locks promotions in the order of their ids. Promotions are always locked before
 * their codes and buyer counts, so that concurrent checkouts cannot deadlock.
 */
export const buildPromotionLockSqlQuery = (
  transaction: Transaction,
  promotionIds: readonly string[],
): CompiledQuery<never> =>
  sql<never>`select 1 from promotion where id = any(${promotionIds}::text[]) order by id for no key
    update`.compile(transaction);

/** A raised count of uses; `id` is the id of the promotion or of its code. */
interface RaisedUseCount {
  readonly id: string;
  readonly used: number;
  readonly usageLimit: number | null;
  readonly perBuyerLimit?: number | null;
}

/** A statement that raises counts of uses, and the check of its result. */
interface UseCounter {
  readonly statement: RawBuilder<RaisedUseCount>;
  /** Throws if a count was not raised because of a limit. */
  readonly check: (raised: readonly RaisedUseCount[]) => void;
}

/**
 * Raises the used counts of promotions. The last possible use also raises the version of a promotion, because
 * clients then see the promotion as used up.
 */
function countPromotionUses({
  context,
  promotions,
  buyerReference,
  refusal,
}: PromotionUsesToReserve): UseCounter {
  const statement = sql<RaisedUseCount>`
    update promotion set used = used + 1,
      version = case when used + 1 = usage_limit then version + 1 else version end,
      updated_at = case when used + 1 = usage_limit then ${context.now}::timestamptz else updated_at end
    where id = any(${promotions.map(({ promotionId }) => promotionId)}::text[])
    and merchant_id = ${context.merchantId}
      and (usage_limit is null or used < usage_limit)
    returning id, used, usage_limit as "usageLimit", per_buyer_limit as "perBuyerLimit"`;
  const check: UseCounter["check"] = (raised) => {
    const counted = listIds(raised);
    const refused = promotions.find(({ promotionId }) => !counted.has(promotionId));
    if (refused !== undefined) throw refusal("usage_limit_reached", refused.promotionId);
    const uncountable =
      buyerReference === null ? raised.find(({ perBuyerLimit = null }) => perBuyerLimit !== null) : undefined;
    if (uncountable !== undefined) throw refusal("sign_in_required", uncountable.id);
    for (const { id, used, usageLimit } of raised) {
      if (used === usageLimit)
        context.outbox.append({ type: "promotion.exhausted", id, previous: { used: used - 1 } });
    }
  };
  return { statement, check };
}

function countCodeUses({ promotions, refusal }: PromotionUsesToReserve): UseCounter | undefined {
  const withCode = promotions.flatMap(({ promotionId, promotionCodeId }) =>
    promotionCodeId === null ? [] : [{ promotionId, promotionCodeId }],
  );
  if (withCode.length === 0) return undefined;
  const statement = sql<RaisedUseCount>`
    update promotion_code c set used = used + 1
    from unnest(${withCode.map(({ promotionCodeId }) => promotionCodeId)}::text[],
    ${withCode.map(({ promotionId }) => promotionId)}::text[]) as w(id, promotion_id)
    where c.id = w.id and c.promotion_id = w.promotion_id and (c.usage_limit is null
    or c.used < c.usage_limit)
    returning c.id, c.used, c.usage_limit as "usageLimit"`;
  const check: UseCounter["check"] = (raised) => {
    const counted = listIds(raised);
    const refused = withCode.find(({ promotionCodeId }) => !counted.has(promotionCodeId));
    if (refused !== undefined) throw refusal("usage_limit_reached", refused.promotionId);
  };
  return { statement, check };
}

/**
 * Raises the counts of how often the buyer has used each promotion, even if the promotion has no limit for
 * each buyer. If a merchant sets such a limit later, the earlier uses are then included.
 */
function countBuyerUses({
  buyerReference,
  promotions,
  refusal,
}: PromotionUsesToReserve): UseCounter | undefined {
  if (buyerReference === null) return undefined;
  const statement = sql<RaisedUseCount>`
    insert into promotion_buyer as b (promotion_id, buyer_reference, used)
    select id, ${buyerReference}, 1 from unnest(${promotions.map(({ promotionId }) => promotionId)}::text[])
    as w(id)
    on conflict (promotion_id, buyer_reference) do update set used = b.used + 1
    where b.used < coalesce((select p.per_buyer_limit from promotion p
    where p.id = b.promotion_id), b.used + 1)
    returning b.promotion_id as id, b.used, null::int as "usageLimit"`;
  const check: UseCounter["check"] = (raised) => {
    const counted = listIds(raised);
    const refused = promotions.find(({ promotionId }) => !counted.has(promotionId));
    if (refused !== undefined) throw refusal("customer_usage_limit_reached", refused.promotionId);
  };
  return { statement, check };
}

const listIds = (raised: readonly RaisedUseCount[]): ReadonlySet<string> =>
  new Set(raised.map(({ id }) => id));

/**
 * Releases the promotion uses that a checkout session has taken and no order has redeemed. Calling the
 * function again changes nothing.
 */
export async function releasePromotionUses(
  transaction: Transaction,
  { sessionId, now }: { readonly sessionId: string; readonly now: Date },
): Promise<void> {
  const held = await transaction
    .updateTable("promotionUse")
    .set({ givenBackAt: now })
    .where("sessionId", "=", sessionId)
    .where("givenBackAt", "is", null)
    .where("redeemedAt", "is", null)
    .returning(["promotionId", "promotionCodeId", "buyerReference"])
    .execute();
  await decrementUses(transaction, held);
}

/**
 * Restores the promotion uses of an order that was canceled as a whole. Calling the function again changes
 * nothing.
 */
export async function restorePromotionUses(
  transaction: Transaction,
  { orderId, now }: { readonly orderId: string; readonly now: Date },
): Promise<void> {
  const redeemed = await transaction
    .updateTable("promotionUse")
    .set({ restoredAt: now })
    .where("orderId", "=", orderId)
    .where("redeemedAt", "is not", null)
    .where("restoredAt", "is", null)
    .returning(["promotionId", "promotionCodeId", "buyerReference"])
    .execute();
  await decrementUses(transaction, redeemed);
}

interface PromotionUseRow {
  readonly promotionId: string;
  readonly promotionCodeId: string | null;
  readonly buyerReference: string | null;
}

async function decrementUses(transaction: Transaction, uses: readonly PromotionUseRow[]): Promise<void> {
  if (uses.length === 0) return;
  const promotionIds = uses.map(({ promotionId }) => promotionId);
  const codeIds = uses.flatMap(({ promotionCodeId }) => promotionCodeId ?? []);
  const buyers = uses.map(({ buyerReference }) => buyerReference);
  await transaction.executeQuery(buildPromotionLockSqlQuery(transaction, promotionIds));
  await sql`update promotion set used = used - 1 where id = any(${promotionIds}::text[])`.execute(
    transaction,
  );
  await sql`update promotion_code set used = used - 1 where id = any(${codeIds}::text[])`.execute(
    transaction,
  );
  await sql`
    update promotion_buyer b set used = used - 1 from unnest(${promotionIds}::text[], ${buyers}::text[]) as
    h(promotion_id, buyer_reference)
    where b.promotion_id = h.promotion_id and b.buyer_reference = h.buyer_reference`.execute(transaction);
}

/**
 * Turns the promotion uses of a checkout session into uses of the session's order. `releasePromotionUses`
 * does not release these uses any more.
 */
export async function redeemPromotionUses(
  transaction: Transaction,
  { sessionId, orderId, now }: { readonly sessionId: string; readonly orderId: string; readonly now: Date },
): Promise<void> {
  await transaction
    .updateTable("promotionUse")
    .set({ orderId, redeemedAt: now })
    .where("sessionId", "=", sessionId)
    .where("givenBackAt", "is", null)
    .where("redeemedAt", "is", null)
    .execute();
}
