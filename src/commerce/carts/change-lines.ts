/**
 * Adds lines to a cart, changes their quantities and removes lines. Adding a line checks the stock but
 * reserves no items; items are reserved when the checkout session is created.
 */
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import type { ExpectedVersionInput } from "./cart-status.ts";
import { type UnpricedCartDraftLine, toUnpricedCartDraft } from "./cart-draft.ts";
import { type CartCommandContext, changeCart } from "./change-cart.ts";
import type { CurrentCartPricingData } from "./pricing-data.ts";
import { isVariantForSale, countOrderableVariantUnits, cartLineQuantityMax } from "./price-lines.ts";

export const cartLinesMax = 200;
const changedLinesMax = 100;

export interface CartLineToAdd {
  readonly variantId: string;
  readonly quantity: number;
}

export interface AddCartLinesInput extends ExpectedVersionInput {
  readonly lines: readonly CartLineToAdd[];
}

/**
 * Adds lines to a cart. If the cart already has a line with the same variant, the quantity of that line
 * increases.
 */
export async function addCartLines(
  transaction: Transaction,
  context: CartCommandContext,
  input: AddCartLinesInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoInputFieldErrors(findCartLineFaults(input.lines, { min: 1, max: changedLinesMax }));
  return changeCart(transaction, context, {
    target: input,
    plan: (cart) => {
      const draft = toUnpricedCartDraft(cart);
      const added = input.lines.map(({ variantId }) => ({ id: "", variantId, quantity: 1, before: null }));
      return {
        event: "cart.updated",
        // The first cart draft contains the added variants only so that their prices and stock are loaded.
        // The prices are then calculated for the draft that `reviewOffer` returns.
        draft: { ...draft, lines: [...draft.lines, ...added] },
        reviewOffer: (offer) => ({
          ...draft,
          lines: addLinesToCartDraft(input.lines, { lines: draft.lines, offer, now: context.now }),
        }),
      };
    },
  });
}

interface DraftLinesContext {
  readonly lines: readonly UnpricedCartDraftLine[];
  readonly offer: CurrentCartPricingData;
  readonly now: Date;
}

/**
 * Returns the given cart lines together with the added lines. Throws if an added variant is unknown, not sold
 * in the market or out of stock.
 */
export function addLinesToCartDraft(
  linesToAdd: readonly CartLineToAdd[],
  { lines, offer, now }: DraftLinesContext,
): UnpricedCartDraftLine[] {
  const faults: InputFieldErrors = [];
  const byVariant = new Map(lines.map((line) => [line.variantId, line]));
  for (const [index, { variantId, quantity }] of linesToAdd.entries()) {
    const variant = offer.variants.get(variantId);
    const field = `/lines/${index}/variantId`;
    if (variant === undefined || !variant.isPublished)
      faults.push(
        createRequestBodyErrorDetail(field, "unknown", "The merchant sells no variant with this id."),
      );
    else if (!isVariantForSale(variant))
      faults.push(
        createRequestBodyErrorDetail(
          field,
          "not_sold_there",
          "The variant is not sold in the cart's market.",
        ),
      );
    const present = byVariant.get(variantId);
    const sum = Math.min(cartLineQuantityMax, quantity + (present?.quantity ?? 0));
    byVariant.set(
      variantId,
      present === undefined
        ? { id: createId("cartLine", now.getTime()), variantId, quantity: sum, before: null }
        : { ...present, quantity: sum },
    );
  }
  requireNoInputFieldErrors(faults);
  for (const { variantId } of linesToAdd) requireStock(offer, variantId);
  if (byVariant.size > cartLinesMax)
    requireNoInputFieldErrors([
      createRequestBodyErrorDetail("/lines", "too_long", `A cart must have at most ${cartLinesMax} lines.`),
    ]);
  return [...byVariant.values()];
}

function requireStock(offer: CurrentCartPricingData, variantId: string): void {
  const variant = offer.variants.get(variantId);
  if (variant === undefined || countOrderableVariantUnits(variant) > 0) return;
  throw createFailure("invalid_state", {
    message: "The variant is out of stock.",
    conflict: {
      resource: "variant",
      id: variantId,
      currentStatus: "out_of_stock",
      currentVersion: null,
      reason: "out_of_stock",
      data: {},
    },
  });
}

/**
 * Returns the faults in a list of cart lines that can be found without reading the database: too many lines,
 * wrong quantities, repeated variants.
 */
export function findCartLineFaults(
  lines: readonly CartLineToAdd[],
  count: { readonly min: number; readonly max: number },
): InputFieldErrors {
  return [
    ...getListLengthErrors("/lines", lines, count),
    ...lines.flatMap(({ quantity }, index) =>
      getIntegerFieldErrors(`/lines/${index}/quantity`, quantity, { min: 1, max: cartLineQuantityMax }),
    ),
    ...getDuplicateEntryErrors(
      lines.map(({ variantId }) => variantId),
      (index) => `/lines/${index}/variantId`,
    ),
  ];
}

export interface UpdateCartLinesInput extends ExpectedVersionInput {
  readonly lines: readonly { readonly lineId: string; readonly quantity: number }[];
}

export async function updateCartLines(
  transaction: Transaction,
  context: CartCommandContext,
  input: UpdateCartLinesInput & { readonly cartId: string },
): Promise<CartAggregate> {
  const { lines } = input;
  requireNoInputFieldErrors([
    ...getListLengthErrors("/lines", lines, { min: 1, max: changedLinesMax }),
    ...lines.flatMap(({ quantity }, index) =>
      getIntegerFieldErrors(`/lines/${index}/quantity`, quantity, { min: 1, max: cartLineQuantityMax }),
    ),
    ...getDuplicateEntryErrors(
      lines.map(({ lineId }) => lineId),
      (index) => `/lines/${index}/lineId`,
    ),
  ]);
  return changeCart(transaction, context, {
    target: input,
    plan: (cart) => {
      const draft = toUnpricedCartDraft(cart);
      requireLinesOfCart(
        cart,
        lines.map(({ lineId }, index) => ({ lineId, field: `/lines/${index}/lineId` })),
      );
      const quantities = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
      return {
        event: "cart.updated",
        draft: { ...draft, lines: draft.lines.map((line) => withQuantity(line, quantities.get(line.id))) },
      };
    },
  });
}

const withQuantity = (line: UnpricedCartDraftLine, quantity: number | undefined): UnpricedCartDraftLine =>
  quantity === undefined ? line : { ...line, quantity };

export interface RemoveCartLinesInput extends ExpectedVersionInput {
  readonly lineIds: readonly string[];
}

export async function removeCartLines(
  transaction: Transaction,
  context: CartCommandContext,
  input: RemoveCartLinesInput & { readonly cartId: string },
): Promise<CartAggregate> {
  const { lineIds } = input;
  requireNoInputFieldErrors([
    ...getListLengthErrors("/lineIds", lineIds, { min: 1, max: cartLinesMax }),
    ...getDuplicateEntryErrors(lineIds, (index) => `/lineIds/${index}`),
  ]);
  return changeCart(transaction, context, {
    target: input,
    plan: (cart) => {
      const draft = toUnpricedCartDraft(cart);
      requireLinesOfCart(
        cart,
        lineIds.map((lineId, index) => ({ lineId, field: `/lineIds/${index}` })),
      );
      return {
        event: "cart.updated",
        draft: { ...draft, lines: draft.lines.filter(({ id }) => !lineIds.includes(id)) },
      };
    },
  });
}

function requireLinesOfCart(
  cart: CartAggregate,
  requested: readonly { readonly lineId: string; readonly field: string }[],
): void {
  const known = new Set(cart.lines.map(({ id }) => id));
  requireNoInputFieldErrors(
    requested
      .filter(({ lineId }) => !known.has(lineId))
      .map(({ field }) =>
        createRequestBodyErrorDetail(field, "unknown", "The cart has no line with this id."),
      ),
  );
}
