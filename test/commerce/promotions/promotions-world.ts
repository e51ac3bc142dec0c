/** Creates promotions that can be used, and checkout sessions that use them. */
import type { Transaction } from "#database/transaction.ts";
import { createPromotion, type CreatePromotionInput } from "#commerce/promotions/change-promotion.ts";
import { reservePromotionUses, type PromotionUsesToReserve } from "#commerce/promotions/promotion-uses.ts";
import type { PromotionRow } from "#commerce/promotions/read-promotions.ts";
import type { PromotionRefusalReason } from "#commerce/promotions/promotion-rule.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { sessionRow } from "#test/support/session-row.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";

export const tenPercent: CreatePromotionInput = {
  trigger: "automatic",
  kind: "percentage",
  titles: [
    { locale: "de", text: "Zehn Prozent" },
    { locale: "en-us", text: "Ten percent" },
  ],
  basisPoints: 1000,
};

export async function makePromotion(
  world: World,
  input: Partial<CreatePromotionInput> = {},
  context?: MerchantCommandContext,
): Promise<string> {
  const { promotionId } = await world.run(createPromotion, { ...tenPercent, ...input }, context);
  return promotionId;
}

export function promotionRow(world: World, id: string): Promise<PromotionRow> {
  return world.db.selectFrom("promotion").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

/** Creates a checkout session with a new cart. */
export async function makeSession(world: World): Promise<string> {
  const { merchantId } = world.context;
  const times = {
    createdAt: startOfWorld,
    updatedAt: startOfWorld,
    expiresAt: new Date(startOfWorld.getTime() + 3_600_000),
  };
  const cartId = createId("cart");
  await world.db
    .insertInto("cart")
    .values({
      id: cartId,
      merchantId,
      marketId: world.europe,
      country: "DE",
      currency: "EUR",
      taxIncluded: true,
      locale: "de",
      ...times,
    })
    .execute();
  const id = createId("checkoutSession");
  await world.db
    .insertInto("hostedCheckoutSession")
    .values({
      id,
      merchantId,
      cartId,
      status: "processing",
      submittedAt: startOfWorld,
      ...sessionRow({ country: "DE", currency: "EUR", locale: "de" }),
      ...times,
    })
    .execute();
  return id;
}

export type Taking = Pick<PromotionUsesToReserve, "sessionId" | "promotions"> & {
  readonly buyerReference?: string | null;
};

/** Takes uses of promotions for a session; returns the refusal as a cart would show it. */
export const taking = (
  transaction: Transaction,
  context: MerchantCommandContext,
  { buyerReference = null, ...uses }: Taking,
): Promise<void> =>
  reservePromotionUses(transaction, { ...uses, context, buyerReference, refusal: notApplicable });

const notApplicable: PromotionUsesToReserve["refusal"] = (
  reason: PromotionRefusalReason,
  promotionId: string,
) =>
  createFailure("promotion_not_applicable", {
    conflict: {
      resource: "cart",
      id: "cart_x",
      currentStatus: "locked",
      currentVersion: 1,
      reason,
      data: { promotionId },
    },
  });
