/**
 * The one code of a cart: given, taken away. A new one takes the old one's place whole, or is refused and the
 * old one stays.
 */
import { failAt, fail } from "#foundation/failure.ts";
import { money } from "#foundation/money.ts";
import {
  promotionCodeLengthMax,
  normalizePromotionCode,
  type PromotionRefusal,
} from "#commerce/promotions/choose-promotions.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  withoutExpiredAddress,
  type CartAggregate,
  cartConflict,
  findCodePromotion,
  type ExpectedVersionInput,
  cartFailure,
} from "./cart-aggregate.ts";
import { toCartDraft } from "./cart-draft.ts";
import { type CartPlan, type CartCommandContext, changeCart, type PlanCartChange } from "./change-cart.ts";
import { type PromotionStateView, toPromotionStateView } from "./render-promotion-state.ts";

export interface CartPromotionApplyInput extends ExpectedVersionInput {
  readonly code: string;
  /** What to do with another code that is there; replace it unless told. */
  readonly onExisting?: "replace" | "reject" | null | undefined;
}

export async function applyCartPromotion(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartPromotionApplyInput & { readonly cartId: string },
): Promise<PromotionStateView> {
  const { plan, replaced } = planPromotionCode(input, context);
  const cart = await changeCart(transaction, context, { target: input, plan });
  return toPromotionStateView(withoutExpiredAddress(cart, context.now), { replaced: replaced() });
}

export interface PromotionCodePlan {
  readonly plan: PlanCartChange;
  /** The code that the new one took the place of; asked after the plan was carried out. */
  readonly replaced: () => string | null;
}

/** Also for a cart that is being checked out. */
export function planPromotionCode(
  input: Pick<CartPromotionApplyInput, "code" | "onExisting">,
  context: CartCommandContext,
): PromotionCodePlan {
  const codeNormalized = normalizePromotionCode(input.code);
  if (codeNormalized === undefined) {
    const message = `A code has 1 to ${promotionCodeLengthMax} letters, digits, _ and -, and begins with a letter or digit.`;
    throw failAt("invalid_field", { in: "body", field: "/code", code: "pattern_mismatch", message });
  }
  let replaced: string | null = null;
  const plan: PlanCartChange = (before) => {
    if (before.lines.length === 0) throw cartFailure("cart_empty", before, context);
    const present = findCodePromotion(before);
    const isSame = present !== undefined && normalizePromotionCode(present.code ?? "") === codeNormalized;
    if (isSame && present.state === "applied") return null;
    if (present !== undefined && !isSame) {
      if (input.onExisting === "reject") throw cartFailure("promotion_already_applied", before, context);
      replaced = present.code;
    }
    return planNewCode(before, codeNormalized, context);
  };
  return { plan, replaced: () => replaced };
}

function planNewCode(cart: CartAggregate, codeNormalized: string, context: CartCommandContext): CartPlan {
  const draft = toCartDraft(cart);
  return {
    event: null,
    draft,
    codeNormalized,
    review: ({ code }) => {
      if (code?.code === null || code === undefined) {
        throw failAt("promotion_code_not_found", {
          in: "body",
          field: "/code",
          code: "unknown",
          message: "There is no such promotion code.",
        });
      }
      return { ...draft, promotionCodeId: code.code.id };
    },
    accept: ({ currency }, refusal) => {
      if (refusal !== null) throw promotionNotApplicable(cart, refusal, { context, currency });
    },
  };
}

/** Which condition, and how far the cart is from it: the one thing that shoppers ask. */
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
          requiredAmount: money(requiredAmountMinor, currency),
          missingAmount: money(missingAmountMinor, currency),
        };
  const message = refusalMessages[reason];
  return fail("promotion_not_applicable", {
    message,
    details: [{ in: "body", field: "/code", code: reason, message }],
    conflict: cartConflict(cart, { now: context.now, reason, data: { ...amounts, ...quantities } }),
  });
}

const refusalMessages: Readonly<Record<PromotionRefusal["reason"], string>> = {
  not_started: "The promotion has not begun yet.",
  ended: "The promotion has ended.",
  paused: "The promotion is paused.",
  usage_limit_reached: "The promotion was used as often as it may be.",
  customer_usage_limit_reached: "The buyer has used the promotion as often as one may.",
  customer_not_eligible: "The promotion is for other buyers.",
  sign_in_required: "The promotion is for buyers who have signed in.",
  minimum_subtotal_not_met: "The cart is below the promotion's minimum amount.",
  minimum_quantity_not_met: "The cart has fewer items than the promotion asks for.",
  no_entitled_lines: "Nothing in the cart is part of the promotion.",
  market_not_eligible: "The promotion is not for the cart's market.",
  currency_mismatch: "The promotion is in another currency than the cart.",
  combination_disallowed: "The promotion cannot be combined with one that the cart has.",
  superseded_by_better_deal: "The cart has a better deal already.",
};

export async function removeCartPromotion(
  transaction: Transaction,
  context: CartCommandContext,
  input: ExpectedVersionInput & { readonly cartId: string },
): Promise<PromotionStateView> {
  const cart = await changeCart(transaction, context, {
    target: input,
    plan: planPromotionRemoval(context.now),
  });
  return toPromotionStateView(withoutExpiredAddress(cart, context.now));
}

/** Also for a cart that is being checked out. */
export function planPromotionRemoval(now: Date): PlanCartChange {
  return (before) => {
    if (findCodePromotion(before) === undefined) throw cartFailure("promotion_not_present", before, { now });
    return { event: null, draft: { ...toCartDraft(before), promotionCodeId: null } };
  };
}
