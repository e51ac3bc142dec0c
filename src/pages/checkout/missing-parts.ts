/** Finds the parts of a checkout that are still missing before the buyer can pay, for example the address. */
import type { CheckoutPageCart } from "./documents.ts";

export type MissingCheckoutSection = "address" | "contact" | "delivery";

export const hasCartLineThatNeedsShipping = ({ lines }: Pick<CheckoutPageCart, "lines">): boolean =>
  lines.some(({ requiresShipping }) => requiresShipping);

/**
 * Returns the first missing part of the checkout, in the page's order of the parts; undefined if the checkout
 * is complete.
 */
export function findFirstMissingCheckoutSection(cart: CheckoutPageCart): MissingCheckoutSection | undefined {
  const { address, buyer, delivery } = cart;
  if (hasCartLineThatNeedsShipping(cart) && address === null) return "address";
  if (buyer.emailHint === null) return "contact";
  if (hasCartLineThatNeedsShipping(cart) && (delivery?.selectedOptionId ?? null) === null) return "delivery";
  return undefined;
}
