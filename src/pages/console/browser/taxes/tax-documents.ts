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

/** The values of a tax rate that can be changed after the rate was added. */
export type TaxRateValueInput = Pick<
  ConsoleTaxRate,
  "name" | "basisPoints" | "appliesToShipping" | "validFrom" | "validTo"
>;

export interface NewTaxRateInput extends Omit<ConsoleTaxRate, "id"> {
  readonly marketId: string;
}

/** A saved rate that a new rate changes, and the periods in which the saved rate stays valid. */
export interface OverlappedConsoleTaxRate {
  readonly taxRate: Pick<ConsoleTaxRate, "id" | "name" | "basisPoints" | "validFrom" | "validTo">;
  readonly remainingPeriods: readonly Pick<ConsoleTaxRate, "validFrom" | "validTo">[];
}

export const taxRateOverlapsDocument = createConsoleGraphqlDocument<
  { readonly taxRateOverlaps: readonly OverlappedConsoleTaxRate[] },
  { readonly input: NewTaxRateInput }
>(`
  query ConsoleTaxRateOverlaps($input: TaxRateUpsertInput!) {
    taxRateOverlaps(input: $input) {
      taxRate { id name basisPoints validFrom validTo }
      remainingPeriods { validFrom validTo }
    }
  }
`);

export const upsertTaxRateDocument = createConsoleGraphqlDocument<
  { readonly taxRateUpsert: { readonly id: string } },
  GraphqlVariablesWithIdempotencyKey & { readonly input: NewTaxRateInput }
>(`
  mutation ConsoleTaxRateUpsert($idempotencyKey: String!, $input: TaxRateUpsertInput!) {
    taxRateUpsert(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export const updateTaxRateDocument = createConsoleGraphqlDocument<
  { readonly taxRateUpdate: { readonly id: string } },
  GraphqlVariablesWithIdempotencyKey & { readonly input: TaxRateValueInput & { readonly taxRateId: string } }
>(`
  mutation ConsoleTaxRateUpdate($idempotencyKey: String!, $input: TaxRateUpdateInput!) {
    taxRateUpdate(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export const deleteTaxRateDocument = createConsoleGraphqlDocument<
  { readonly taxRateDelete: { readonly taxRateId: string } },
  GraphqlVariablesWithIdempotencyKey & { readonly input: { readonly taxRateId: string } }
>(`
  mutation ConsoleTaxRateDelete($idempotencyKey: String!, $input: TaxRateDeleteInput!) {
    taxRateDelete(idempotencyKey: $idempotencyKey, input: $input) { taxRateId }
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
