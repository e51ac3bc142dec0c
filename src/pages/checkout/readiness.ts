/** What a checkout still lacks before somebody can pay for it. */
import type { ShownCart } from "./documents.ts";

export type Missing = "address" | "contact" | "delivery";

export const needsDelivery = ({ lines }: Pick<ShownCart, "lines">): boolean =>
  lines.some(({ requiresShipping }) => requiresShipping);

/** The first of it, from top to bottom; undefined: nothing. */
export function missingOf(cart: ShownCart): Missing | undefined {
  const { address, buyer, delivery } = cart;
  if (needsDelivery(cart) && address === null) return "address";
  if (buyer.emailHint === null) return "contact";
  if (needsDelivery(cart) && (delivery?.selectedOptionId ?? null) === null) return "delivery";
  return undefined;
}
