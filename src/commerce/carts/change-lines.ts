/**
 * Puts things into a cart, changes how many, and takes them out. Stock is looked at, not reserved: that is
 * for the checkout.
 */
import {
  countFaults,
  faultAt,
  type Faults,
  integerFaults,
  repeatFaults,
  requireNoFaults,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { CartAggregate, Expected } from "./cart-aggregate.ts";
import { type DraftLine, draftOf } from "./cart-draft.ts";
import { type CartCommandContext, changeCart } from "./change-cart.ts";
import type { Offer } from "./offer.ts";
import { isSold, orderableQuantity, quantityMax } from "./price-lines.ts";

export const linesMax = 200;
const changedMax = 100;

export interface LineToAdd {
  readonly variantId: string;
  readonly quantity: number;
}

export interface CartLinesAddInput extends Expected {
  readonly lines: readonly LineToAdd[];
}

/** What is in the cart already becomes more. */
export async function addLines(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartLinesAddInput & { readonly cartId: string },
): Promise<CartAggregate> {
  requireNoFaults(lineFaults(input.lines, { min: 1, max: changedMax }));
  return changeCart(transaction, tenant, {
    target: input,
    plan: (cart) => {
      const draft = draftOf(cart);
      const added = input.lines.map(({ variantId }) => ({ id: "", variantId, quantity: 1, before: null }));
      return {
        event: "cart.updated",
        // What is offered is asked for the new ones as well.
        draft: { ...draft, lines: [...draft.lines, ...added] },
        review: (offer) => ({
          ...draft,
          lines: toNewLines(input.lines, { lines: draft.lines, offer, now: tenant.now }),
        }),
      };
    },
  });
}

interface Adding {
  readonly lines: readonly DraftLine[];
  readonly offer: Offer;
  readonly now: Date;
}

/** The lines with the wanted ones among them. Throws where one cannot be bought at all. */
export function toNewLines(wanted: readonly LineToAdd[], { lines, offer, now }: Adding): DraftLine[] {
  const faults: Faults = [];
  const byVariant = new Map(lines.map((line) => [line.variantId, line]));
  for (const [index, { variantId, quantity }] of wanted.entries()) {
    const variant = offer.variants.get(variantId);
    const field = `/lines/${index}/variantId`;
    if (variant === undefined || !variant.isPublished)
      faults.push(faultAt(field, "unknown", "The merchant sells no such variant."));
    else if (!isSold(variant))
      faults.push(faultAt(field, "not_sold_there", "It is not sold in the cart's market."));
    const present = byVariant.get(variantId);
    const sum = Math.min(quantityMax, quantity + (present?.quantity ?? 0));
    byVariant.set(
      variantId,
      present === undefined
        ? { id: createId("cartLine", now.getTime()), variantId, quantity: sum, before: null }
        : { ...present, quantity: sum },
    );
  }
  requireNoFaults(faults);
  for (const { variantId } of wanted) requireStock(offer, variantId);
  if (byVariant.size > linesMax)
    requireNoFaults([faultAt("/lines", "too_long", `A cart has ${linesMax} lines at most.`)]);
  return [...byVariant.values()];
}

function requireStock(offer: Offer, variantId: string): void {
  const variant = offer.variants.get(variantId);
  if (variant === undefined || orderableQuantity(variant) > 0) return;
  throw fail("invalid_state", {
    message: "It is sold out.",
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

/** `field`s of the input; whether the variants are there only the rows can tell. */
export function lineFaults(
  lines: readonly LineToAdd[],
  count: { readonly min: number; readonly max: number },
): Faults {
  return [
    ...countFaults("/lines", lines, count),
    ...lines.flatMap(({ quantity }, index) =>
      integerFaults(`/lines/${index}/quantity`, quantity, { min: 1, max: quantityMax }),
    ),
    ...repeatFaults(
      lines.map(({ variantId }) => variantId),
      (index) => `/lines/${index}/variantId`,
    ),
  ];
}

export interface CartLinesUpdateInput extends Expected {
  readonly lines: readonly { readonly lineId: string; readonly quantity: number }[];
}

export async function updateLines(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartLinesUpdateInput & { readonly cartId: string },
): Promise<CartAggregate> {
  const { lines } = input;
  requireNoFaults([
    ...countFaults("/lines", lines, { min: 1, max: changedMax }),
    ...lines.flatMap(({ quantity }, index) =>
      integerFaults(`/lines/${index}/quantity`, quantity, { min: 1, max: quantityMax }),
    ),
    ...repeatFaults(
      lines.map(({ lineId }) => lineId),
      (index) => `/lines/${index}/lineId`,
    ),
  ]);
  return changeCart(transaction, tenant, {
    target: input,
    plan: (cart) => {
      const draft = draftOf(cart);
      requireLines(
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

const withQuantity = (line: DraftLine, quantity: number | undefined): DraftLine =>
  quantity === undefined ? line : { ...line, quantity };

export interface CartLinesRemoveInput extends Expected {
  readonly lineIds: readonly string[];
}

export async function removeLines(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartLinesRemoveInput & { readonly cartId: string },
): Promise<CartAggregate> {
  const { lineIds } = input;
  requireNoFaults([
    ...countFaults("/lineIds", lineIds, { min: 1, max: linesMax }),
    ...repeatFaults(lineIds, (index) => `/lineIds/${index}`),
  ]);
  return changeCart(transaction, tenant, {
    target: input,
    plan: (cart) => {
      const draft = draftOf(cart);
      requireLines(
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

function requireLines(
  cart: CartAggregate,
  asked: readonly { readonly lineId: string; readonly field: string }[],
): void {
  const known = new Set(cart.lines.map(({ id }) => id));
  requireNoFaults(
    asked
      .filter(({ lineId }) => !known.has(lineId))
      .map(({ field }) => faultAt(field, "unknown", "The cart has no such line.")),
  );
}
