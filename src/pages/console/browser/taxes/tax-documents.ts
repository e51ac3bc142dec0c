/** GraphQL documents and result types of the page with the tax classes and tax rates of a merchant. */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export interface ConsoleTaxRate {
  readonly id: string;
  readonly country: string;
  readonly regionCode: string | null;
  readonly taxClass: string;
  readonly name: string;
  /** The tax rate in basis points, for example 1900 for 19 %. */
  readonly basisPoints: number;
  readonly appliesToShipping: boolean;
  /**
   * The first day on which the rate is valid, for example `2027-01-31`; null if there is none. The field
   * `validTo` is the last day.
   */
  readonly validFrom: string | null;
  readonly validTo: string | null;
}

export interface MarketWithTaxRates {
  readonly id: string;
  readonly name: string;
  readonly countries: readonly string[];
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly taxRounding: "LINE" | "ORDER";
  readonly timeZone: string;
  readonly taxRates: readonly ConsoleTaxRate[];
}

export interface ConsoleTaxClass {
  readonly code: string;
  readonly name: string;
}

export interface TaxesQueryResult {
  readonly taxClasses: readonly ConsoleTaxClass[];
  readonly markets: readonly MarketWithTaxRates[];
}

export const taxesDocument = createConsoleGraphqlDocument<TaxesQueryResult>(`
  query ConsoleTaxes {
    taxClasses { code name }
    markets {
      id name countries currency taxIncluded taxRounding timeZone
      taxRates {
        id country regionCode taxClass name basisPoints appliesToShipping validFrom validTo
      }
    }
  }
`);

export interface ConsoleTaxRateInput extends Omit<ConsoleTaxRate, "id"> {
  readonly marketId: string;
}

export const upsertTaxRateDocument = createConsoleGraphqlDocument<
  { readonly taxRateUpsert: { readonly id: string } },
  GraphqlVariablesWithIdempotencyKey & { readonly input: ConsoleTaxRateInput }
>(`
  mutation ConsoleTaxRateUpsert($idempotencyKey: String!, $input: TaxRateUpsertInput!) {
    taxRateUpsert(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export const upsertTaxClassDocument = createConsoleGraphqlDocument<
  { readonly taxClassUpsert: ConsoleTaxClass },
  GraphqlVariablesWithIdempotencyKey & { readonly input: ConsoleTaxClass }
>(`
  mutation ConsoleTaxClassUpsert($idempotencyKey: String!, $input: TaxClassUpsertInput!) {
    taxClassUpsert(idempotencyKey: $idempotencyKey, input: $input) { code name }
  }
`);
