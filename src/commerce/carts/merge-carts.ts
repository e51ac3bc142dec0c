/** Merges two carts: adds the lines of a source cart to a target cart and ends the source cart. */
import { createRequestBodyErrorDetail, requireNoInputFieldErrors } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { expireCheckoutSessionOfCart } from "#commerce/checkout/end-session.ts";
import { type CartAggregate, findPromotionAddedByCode, createCartWarning } from "./cart-aggregate.ts";
import { type ExpectedVersionInput, requireChangeableCart } from "./cart-status.ts";
import { applyCartChangePlan, type CartCommandContext, lockAndReadCart } from "./change-cart.ts";
import { type UnpricedCartDraft, type UnpricedCartDraftLine, toUnpricedCartDraft } from "./cart-draft.ts";
import { cartLinesMax } from "./change-lines.ts";
import { cartLineQuantityMax } from "./price-lines.ts";
import { endCartAndPublishEvent } from "./cart-transitions.ts";

interface CartMergeInput extends ExpectedVersionInput {
  readonly sourceCartId: string;
}

/**
 * Adds the lines of a source cart to a target cart, for example when a guest signs in, and ends the source
 * cart with the status "merged". Returns the target cart. The target cart keeps its market, address and
 * promotion code; if it has no code, it gets the source cart's code.
 */
export async function mergeCarts(
  transaction: Transaction,
  context: CartCommandContext,
  input: CartMergeInput & { readonly cartId: string },
): Promise<CartAggregate> {
  const { cartId, sourceCartId } = input;
  if (cartId === sourceCartId)
    requireNoInputFieldErrors([
      createRequestBodyErrorDetail("/sourceCartId", "not_allowed", "A cart cannot be merged into itself."),
    ]);
  const { now } = context;
  // Both carts are locked in the order of their ids, so that two merges of the same carts cannot deadlock.
  const locked = new Map<string, CartAggregate>();
  for (const id of [cartId, sourceCartId].map(blankIdWithForbiddenCharacters).toSorted())
    locked.set(id, await lockAndReadCart(transaction, context, id));
  const [target, source] = [locked.get(cartId), locked.get(sourceCartId)];
  if (target === undefined || source === undefined) throw new Error("A cart of the merge was not locked.");
  requireChangeableCart(target, input, now);
  requireChangeableCart(source, {}, now);
  if (
    target.buyerReference !== null &&
    source.buyerReference !== null &&
    target.buyerReference !== source.buyerReference
  )
    requireNoInputFieldErrors([
      createRequestBodyErrorDetail(
        "/sourceCartId",
        "not_allowed",
        "The two carts belong to different buyers.",
      ),
    ]);
  const merged = await applyCartChangePlan(transaction, context, {
    cart: target,
    target: input,
    plan: () => ({ event: "cart.updated", draft: toMergedDraft(target, source, input) }),
  });
  if (source.status === "locked") await expireCheckoutSessionOfCart(transaction, context, source);
  await endCartAndPublishEvent(transaction, context, {
    cart: source,
    status: "merged",
    mergedIntoCartId: merged.id,
    now,
  });
  return merged;
}

function toMergedDraft(
  target: CartAggregate,
  source: CartAggregate,
  { expectedVersion }: ExpectedVersionInput,
): UnpricedCartDraft {
  // A caller who names the version of the target cart has read this cart, so the cart's earlier warnings are
  // not returned again.
  const unseen = typeof expectedVersion === "number" ? [source] : [source, target];
  const draft = toUnpricedCartDraft(target);
  const code = findPromotionAddedByCode(source);
  const isDropped =
    code !== undefined && draft.promotionCodeId !== null && draft.promotionCodeId !== code.promotionCodeId;
  return {
    ...draft,
    lines: mergeDraftLines(draft.lines, source, unseen),
    buyerReference: draft.buyerReference ?? source.buyerReference,
    promotionCodeId: draft.promotionCodeId ?? code?.promotionCodeId ?? null,
    warnings: isDropped ? [createCartWarning("promotion_removed", null, { code: code.code })] : [],
  };
}

/**
 * Adds the lines of the source cart to the lines of the target cart. `unseen` contains the carts whose
 * warnings about reduced quantities the caller has not read.
 */
function mergeDraftLines(
  targetLines: readonly UnpricedCartDraftLine[],
  source: CartAggregate,
  unseen: readonly CartAggregate[],
): UnpricedCartDraftLine[] {
  const lines = new Map(targetLines.map((line) => [line.variantId, line]));
  for (const { variantId, quantity } of source.lines) {
    const line = lines.get(variantId) ?? { id: createId("cartLine"), variantId, quantity: 0, before: null };
    const merged = Math.min(cartLineQuantityMax, quantity + line.quantity);
    const missing = countMissingUnits(unseen, variantId);
    lines.set(variantId, {
      ...line,
      quantity: merged,
      ...(missing === 0 ? {} : { wantedQuantity: merged + missing }),
    });
  }
  if (lines.size > cartLinesMax)
    requireNoInputFieldErrors([
      createRequestBodyErrorDetail(
        "/sourceCartId",
        "too_long",
        `The merged cart would have more than ${cartLinesMax} lines.`,
      ),
    ]);
  return [...lines.values()];
}

/**
 * Returns the number of units of a variant that were removed from the carts because too few were available.
 * The number is the sum over the carts' warnings about reduced quantities.
 */
function countMissingUnits(carts: readonly CartAggregate[], variantId: string): number {
  const missing = carts.flatMap(({ lines, warnings }) =>
    warnings.map(({ code, lineId, data: { wanted, quantity } }) =>
      code === "quantity_reduced" &&
      typeof wanted === "number" &&
      lines.some((line) => line.id === lineId && line.variantId === variantId && line.quantity === quantity)
        ? wanted - Number(quantity)
        : 0,
    ),
  );
  return missing.reduce((sum, units) => sum + units, 0);
}
