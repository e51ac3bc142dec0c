/**
 * Adds a promotion code to a cart, or removes the code. A cart has at most one code. A new code replaces the
 * old code; if the new code is refused, the cart keeps the old code.
 */
import { createFailureWithDetail, createFailure } from "#foundation/failure.ts";
import { createMoney } from "#foundation/money.ts";
import {
  promotionCodeLengthMax,
  normalizePromotionCode,
  type PromotionRefusal,
} from "#commerce/promotions/choose-promotions.ts";
import type { Transaction } from "#database/transaction.ts";
import { type CartAggregate, findPromotionAddedByCode } from "./cart-aggregate.ts";
import {
  omitExpiredCartAddress,
  toCartConflictDetail,
  type ExpectedVersionInput,
  createCartConflictFailure,
} from "./cart-status.ts";
import { toUnpricedCartDraft } from "./cart-draft.ts";
import {
  type CartChangePlan,
  type CartCommandContext,
  changeCart,
  type CartChangePlanner,
} from "./change-cart.ts";
import {
  type CartPromotionsAndDiscountsView,
  toCartPromotionsAndDiscountsView,
} from "./render-promotion-state.ts";

export interface ApplyCartPromotionInput extends ExpectedVersionInput {
  readonly code: string;
  /**
   * The behavior if the cart already has another promotion code: `replace` (the default) replaces the old
   * code, `reject` refuses the new code.
   */
  readonly onExisting?: "replace" | "reject" | null | undefined;
}

export async function applyCartPromotion(
  transaction: Transaction,
  context: CartCommandContext,
  input: ApplyCartPromotionInput & { readonly cartId: string },
): Promise<CartPromotionsAndDiscountsView> {
  const { plan, replaced } = planAddingPromotionCode(input, context);
  const cart = await changeCart(transaction, context, { target: input, plan });
  return toCartPromotionsAndDiscountsView(omitExpiredCartAddress(cart, context.now), {
    replaced: replaced(),
  });
}

export interface PlannedPromotionCodeChange {
  readonly plan: CartChangePlanner;
  /**
   * Returns the promotion code that the new code has replaced; null if no code was replaced. Must be called
   * after the function `plan`, which finds the replaced code.
   */
  readonly replaced: () => string | null;
}

/**
 * Checks the format of a promotion code. Returns a function that computes the cart with the code, without
 * saving it. The function works for active carts and for carts in checkout.
 */
export function planAddingPromotionCode(
  input: Pick<ApplyCartPromotionInput, "code" | "onExisting">,
  context: CartCommandContext,
): PlannedPromotionCodeChange {
  const codeNormalized = normalizePromotionCode(input.code);
  if (codeNormalized === undefined) {
    const message =
      `"code" must have 1 to ${promotionCodeLengthMax} letters, digits, _ and -, ` +
      "and must start with a letter or a digit.";
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/code",
      code: "pattern_mismatch",
      message,
    });
  }
  let replaced: string | null = null;
  const plan: CartChangePlanner = (before) => {
    if (before.lines.length === 0) throw createCartConflictFailure("cart_empty", before, context);
    const present = findPromotionAddedByCode(before);
    const isSame = present !== undefined && normalizePromotionCode(present.code ?? "") === codeNormalized;
    if (isSame && present.state === "applied") return null;
    if (present !== undefined && !isSame) {
      if (input.onExisting === "reject")
        throw createCartConflictFailure("promotion_already_applied", before, context);
      replaced = present.code;
    }
    return planNewCode(before, codeNormalized, context);
  };
  return { plan, replaced: () => replaced };
}

function planNewCode(
  cart: CartAggregate,
  codeNormalized: string,
  context: CartCommandContext,
): CartChangePlan {
  const draft = toUnpricedCartDraft(cart);
  return {
    event: null,
    draft,
    codeNormalized,
    reviewOffer: ({ code }) => {
      if (code?.code === null || code === undefined) {
        throw createFailureWithDetail("promotion_code_not_found", {
          in: "body",
          field: "/code",
          code: "unknown",
          message: "The merchant has no such promotion code.",
        });
      }
      return { ...draft, promotionCodeId: code.code.id };
    },
    checkResult: ({ currency }, refusal) => {
      if (refusal !== null) throw promotionNotApplicable(cart, refusal, { context, currency });
    },
  };
}

/**
 * Creates the failure for a promotion that does not apply to the cart. It names the unmet condition and the
 * missing amount or quantity, so that a frontend can show the shopper what is missing.
 */
function promotionNotApplicable(
  cart: CartAggregate,
  { reason, data }: PromotionRefusal,
  { context, currency }: { readonly context: CartCommandContext; readonly currency: string },
): Error {
  const { requiredAmountMinor, missingAmountMinor, ...quantities } = data;
  const amounts =
    requiredAmountMinor === undefined || missingAmountMinor === undefined
      ? {}
      : {
          requiredAmount: createMoney(requiredAmountMinor, currency),
          missingAmount: createMoney(missingAmountMinor, currency),
        };
  const message = refusalMessages[reason];
  return createFailure("promotion_not_applicable", {
    message,
    details: [{ in: "body", field: "/code", code: reason, message }],
    conflict: toCartConflictDetail(cart, { now: context.now, reason, data: { ...amounts, ...quantities } }),
  });
}

const refusalMessages: Readonly<Record<PromotionRefusal["reason"], string>> = {
  not_started: "The promotion has not started yet.",
  ended: "The promotion has ended.",
  paused: "The promotion is paused.",
  usage_limit_reached: "The promotion has reached its usage limit.",
  customer_usage_limit_reached: "The buyer has reached the promotion's usage limit per buyer.",
  customer_not_eligible: "This buyer is not eligible for the promotion.",
  sign_in_required: "The promotion requires that the buyer has signed in.",
  minimum_subtotal_not_met: "The cart's subtotal is below the promotion's minimum.",
  minimum_quantity_not_met: "The cart has fewer items than the promotion requires.",
  no_entitled_lines: "The promotion does not apply to any line of the cart.",
  market_not_eligible: "The promotion is not available in the cart's market.",
  currency_mismatch: "The promotion's currency differs from the cart's currency.",
  combination_disallowed: "The promotion cannot be combined with another promotion of the cart.",
  superseded_by_better_deal: "Another promotion of the cart gives a larger discount.",
};

export async function removeCartPromotion(
  transaction: Transaction,
  context: CartCommandContext,
  input: ExpectedVersionInput & { readonly cartId: string },
): Promise<CartPromotionsAndDiscountsView> {
  const cart = await changeCart(transaction, context, {
    target: input,
    plan: planPromotionCodeRemoval(context.now),
  });
  return toCartPromotionsAndDiscountsView(omitExpiredCartAddress(cart, context.now));
}

/**
 * Returns a function that plans the removal of the promotion code from a cart. The function works for active
 * carts and for carts in checkout.
 */
export function planPromotionCodeRemoval(now: Date): CartChangePlanner {
  return (before) => {
    if (findPromotionAddedByCode(before) === undefined)
      throw createCartConflictFailure("promotion_not_present", before, { now });
    return { event: null, draft: { ...toUnpricedCartDraft(before), promotionCodeId: null } };
  };
}
