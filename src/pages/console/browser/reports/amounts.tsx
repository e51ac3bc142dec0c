/**
 * Formats the amounts of reports. GraphQL returns these amounts in minor units, with the code of the
 * currency.
 */
import type { JSX } from "preact";
import { formatMoney } from "#pages/console/browser/parts/formats.tsx";

const exponents = new Map<string, number>();

/** Returns the number of decimal digits that the browser uses for a currency (ISO 4217). */
export function getCurrencyExponentUsedByBrowser(currency: string): number {
  const known = exponents.get(currency);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const exponent = format.resolvedOptions().maximumFractionDigits ?? 2;
  exponents.set(currency, exponent);
  return exponent;
}

export const formatMinorUnitsAsMoney = (amountMinor: number, currency: string): string =>
  formatMoney({ amountMinor, currency, exponent: getCurrencyExponentUsedByBrowser(currency) });

/** Returns a share as a percentage, for example “12.5%”; a dash if the share is null. */
export const formatShareAsPercentage = (share: number | null): string =>
  share === null
    ? "–"
    : new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }).format(share);

interface AmountProps {
  readonly minor: number | null;
  readonly currency: string;
}

/** Shows an amount in two forms: formatted, for example “€12.50”, and below it in minor units, for example 1250. */
export const FormattedAmountWithMinorUnits = ({ minor, currency }: AmountProps): JSX.Element =>
  minor === null ? (
    <span class="soft">–</span>
  ) : (
    <>
      {formatMinorUnitsAsMoney(minor, currency)}
      <br />
      <span class="soft small">{minor}</span>
    </>
  );

/** Returns the rows of a report in the chosen currency, or all rows if no currency is chosen. */
export const filterRowsByCurrency = <Row extends { readonly currency: string }>(
  rows: readonly Row[],
  currency: string | null,
): readonly Row[] => rows.filter((row) => currency === null || row.currency === currency);
