/**
 * Decides which tax rates apply to a cart. A tax provider finds the rate of a tax class at an address. The
 * amounts are calculated by `pricing/tax-amounts.ts` for every provider, so that lines, tax lines and totals
 * add up.
 */
import type { TaxRateAtAddress } from "#commerce/pricing/tax-amounts.ts";

/** A tax rate of a market that is valid at the time of pricing. */
export interface MarketTaxRate extends TaxRateAtAddress {
  readonly country: string;
  /** ISO 3166-2 code of the region in which the rate applies; null if it applies in the whole country. */
  readonly regionCode: string | null;
}

export interface TaxRateLookupInput {
  readonly taxClass: string;
  readonly country: string;
  readonly regionCode: string | null;
  /** The tax rates among which the provider chooses. They were loaded before pricing began. */
  readonly rates: readonly MarketTaxRate[];
}

/**
 * Finds tax rates. Pricing runs inside a transaction, where no network request is allowed, so `findRate` is
 * pure and gets rates that were loaded before. The statement that loads the cart's offer also loads the rates
 * of the table `tax_rate`. A provider that asks an outside service must ask before the transaction begins
 * (`WorkBeforeMutationTransaction` in graph/mutation.ts), and pass the answer as `rates`.
 */
export interface TaxProvider {
  /** Returns the rate of a tax class at an address; a rate of 0 without a name if there is none. */
  readonly findRate: (question: TaxRateLookupInput) => TaxRateAtAddress;
}

/**
 * Finds rates in the table of the market: the rate of the class in the region, or else in the country. A
 * class without a rate is taxed like the class `standard`, so that a forgotten rate does not make products
 * tax-free.
 */
const tableTaxProvider: TaxProvider = {
  findRate: ({ taxClass, country, regionCode, rates }) => {
    const inCountry = rates.filter((rate) => rate.country === country);
    const found = [taxClass, standardTaxClass]
      .map((code) => inCountry.filter((rate) => rate.taxClass === code))
      .map(
        (ofClass) =>
          ofClass.find((rate) => rate.regionCode !== null && rate.regionCode === regionCode) ??
          ofClass.find((rate) => rate.regionCode === null),
      )
      .find((rate) => rate !== undefined);
    if (found === undefined) return { taxClass, name: null, basisPoints: 0, appliesToShipping: false };
    const { name, basisPoints, appliesToShipping } = found;
    return { taxClass: found.taxClass, name, basisPoints, appliesToShipping };
  },
};

/** Code of the tax class that every merchant has, and to which everything without another class belongs. */
export const standardTaxClass = "standard";

/** Returns the tax provider of a market. All markets use the table of tax rates. */
export const getTaxProvider = (): TaxProvider => tableTaxProvider;
