/** What a checkout still lacks before somebody can pay for it. */
import type { PageCart } from "./documents.ts";

export type MissingCheckoutPart = "address" | "contact" | "delivery";

export const needsDelivery = ({ lines }: Pick<PageCart, "lines">): boolean =>
  lines.some(({ requiresShipping }) => requiresShipping);

/** The first of it, from top to bottom; undefined: nothing. */
export function firstMissingPart(cart: PageCart): MissingCheckoutPart | undefined {
  const { address, buyer, delivery } = cart;
  if (needsDelivery(cart) && address === null) return "address";
  if (buyer.emailHint === null) return "contact";
  if (needsDelivery(cart) && (delivery?.selectedOptionId ?? null) === null) return "delivery";
  return undefined;
}
