/** Puts what is in one cart into another, as when a guest signs in: the lines are added up, the source ends as merged. */
import { faultAt, requireNoFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId, toId } from "#foundation/ids.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import { type CartDraft, codeOf, draftOf, type DraftLine } from "./cart-draft.ts";
import { type Expected, requireChangeable } from "./cart-status.ts";
import { applyPlan, type CartCommandContext, lockCart } from "./change-cart.ts";
import { linesMax } from "./change-lines.ts";
import { end } from "./end-carts.ts";
import { quantityMax, warning } from "./price-lines.ts";
import { expireSession } from "./session-end.ts";

export interface CartMergeInput extends Expected {
  readonly sourceCartId: string;
}

/** Gives the cart that has it all. Its market, address and code stay; the source's code comes with it where it has none. */
export async function mergeCarts(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartMergeInput & { readonly cartId: string },
): Promise<CartAggregate> {
  const { cartId, sourceCartId } = input;
  if (cartId === sourceCartId) requireNoFaults([faultAt("/sourceCartId", "not_allowed", "A cart cannot be merged into itself.")]);
  const { now } = tenant;
  // Always in the same order: two merges of the same carts must not wait for each other.
  const locked = new Map<string, CartAggregate>();
  for (const id of [cartId, sourceCartId].map(toId).toSorted()) locked.set(id, await lockCart(transaction, tenant, id));
  const [target, source] = [locked.get(cartId), locked.get(sourceCartId)];
  if (target === undefined || source === undefined) throw new Error("Both carts were locked.");
  requireChangeable(target, input, now);
  requireChangeable(source, {}, now);
  if (target.buyerReference !== null && source.buyerReference !== null && target.buyerReference !== source.buyerReference)
    requireNoFaults([faultAt("/sourceCartId", "not_allowed", "The two carts belong to different buyers.")]);
  const merged = await applyPlan(transaction, tenant, { cart: target, plan: () => ({ event: "cart.updated", draft: mergedDraft(target, source) }) });
  if (source.status === "locked") await expireSession(transaction, tenant, source);
  await end(transaction, tenant, { cart: source, status: "merged", mergedIntoCartId: merged.id, now });
  return merged;
}

function mergedDraft(target: CartAggregate, source: CartAggregate): CartDraft {
  const draft = draftOf(target);
  const code = codeOf(source);
  const isDropped = code !== undefined && draft.promotionCodeId !== null && draft.promotionCodeId !== code.promotionCodeId;
  return {
    ...draft,
    lines: mergedLines(draft.lines, source),
    buyerReference: draft.buyerReference ?? source.buyerReference,
    promotionCodeId: draft.promotionCodeId ?? code?.promotionCodeId ?? null,
    warnings: isDropped ? [warning("promotion_removed", null, { code: code.code })] : [],
  };
}

function mergedLines(present: readonly DraftLine[], source: CartAggregate): DraftLine[] {
  const lines = new Map(present.map((line) => [line.variantId, line]));
  for (const { variantId, quantity } of source.lines) {
    const line = lines.get(variantId) ?? { id: createId("cartLine"), variantId, quantity: 0, before: null };
    lines.set(variantId, { ...line, quantity: Math.min(quantityMax, quantity + line.quantity) });
  }
  if (lines.size > linesMax) requireNoFaults([faultAt("/sourceCartId", "too_long", `Together they would have more than ${linesMax} lines.`)]);
  return [...lines.values()];
}
