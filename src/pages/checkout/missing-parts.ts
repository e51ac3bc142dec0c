/** Finds what a checkout still lacks before the buyer can pay. */
import type { PageCart } from "./documents.ts";

export type MissingCheckoutSection = "address" | "contact" | "delivery";

export const needsDelivery = ({ lines }: Pick<PageCart, "lines">): boolean =>
  lines.some(({ requiresShipping }) => requiresShipping);

/** Returns the first missing part, in the order of the page; undefined if nothing is missing. */
export function findFirstMissingSection(cart: PageCart): MissingCheckoutSection | undefined {
  const { address, buyer, delivery } = cart;
  if (needsDelivery(cart) && address === null) return "address";
  if (buyer.emailHint === null) return "contact";
  if (needsDelivery(cart) && (delivery?.selectedOptionId ?? null) === null) return "delivery";
  return undefined;
}
