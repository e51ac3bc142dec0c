/**
 * Finds the taxes that apply to a cart: the rates of its tax classes at its address, and the rules of its
 * market.
 */
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import type { CartTaxRatesAndRules } from "#commerce/pricing/tax-amounts.ts";
import { getTaxProvider, standardTaxClass } from "#commerce/tax/tax-provider.ts";
import type { StoredDeliveryOption } from "./cart-aggregate.ts";
import type { CartPricingMarket } from "./pricing-data.ts";
import type { CartLineWithCurrentPrice } from "./price-lines.ts";

interface TaxedCart {
  readonly address: Pick<MaskedAddress, "countryCode" | "regionCode">;
  readonly lines: readonly Pick<CartLineWithCurrentPrice, "taxClass">[];
  /** The chosen delivery option; undefined if none is chosen. */
  readonly chosen: StoredDeliveryOption | undefined;
}

export function findCartTaxRatesAndRules(
  { taxes, taxRounding, deliveries }: CartPricingMarket,
  { address, lines, chosen }: TaxedCart,
): CartTaxRatesAndRules {
  const provider = getTaxProvider();
  const method = deliveries.find(({ id }) => id === chosen?.id);
  const shipping = {
    rule: method?.taxRule ?? "own_class",
    taxClass: method?.taxClass ?? standardTaxClass,
  } as const;
  const classes = new Set([...lines.map(({ taxClass }) => taxClass), shipping.taxClass]);
  const { countryCode: country, regionCode } = address;
  return {
    rounding: taxRounding,
    rates: Object.fromEntries(
      [...classes].map((taxClass) => [
        taxClass,
        provider.findRate({ taxClass, country, regionCode, rates: taxes }),
      ]),
    ),
    shipping,
  };
}
