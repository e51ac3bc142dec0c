/** Formats countries, days and tax rates for staff, and reads the percentages that staff type. */

import type { OverlappedConsoleTaxRate } from "./tax-documents.ts";

const countryNames = new Intl.DisplayNames(undefined, { type: "region", fallback: "code" });

/** Returns the name of a country in the reader's language, for example “Germany” for `DE`. */
export const formatCountry = (country: string): string => countryNames.of(country) ?? country;

/**
 * Formats the area of a tax rate, a country or one of its regions, for example “Germany” or “United States,
 * US-CA”.
 */
export const formatTaxCountryAndRegion = ({
  country,
  regionCode,
}: {
  readonly country: string;
  readonly regionCode: string | null;
}): string => `${formatCountry(country)}${regionCode === null ? "" : `, ${regionCode}`}`;

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 });

/** Formats a tax rate in basis points: 1900 becomes “19%” or “19 %”. */
export const formatBasisPointsAsPercentage = (basisPoints: number): string =>
  percent.format(basisPoints / 10_000);

/** Returns the text with which a form shows a tax rate, for example `7.5` for 750 basis points. */
export const formatBasisPointsForFormField = (basisPoints: number): string => String(basisPoints / 100);

/**
 * Reads a percentage with at most two decimals, with a point or a comma: `7,5` and `7.5 %` are 750 basis
 * points. Returns undefined for other texts, and for more than 100 %.
 */
export function parsePercentAsBasisPoints(text: string): number | undefined {
  const parts = /^\s*(\d{1,3})(?:[.,](\d{1,2}))?\s*%?\s*$/.exec(text);
  if (parts === null) return undefined;
  const basisPoints = Number(parts[1]) * 100 + Number((parts[2] ?? "").padEnd(2, "0"));
  return basisPoints > 10_000 ? undefined : basisPoints;
}

const dayFormat = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

const formatDay = (day: string): string => dayFormat.format(new Date(day));

interface Period {
  readonly validFrom: string | null;
  readonly validTo: string | null;
}

/** Formats the days on which a rate is valid, for example “from Jan 1, 2027” or “always”. */
export function formatTaxRateValidityPeriod({ validFrom, validTo }: Period): string {
  if (validFrom === null) return validTo === null ? "always" : `until ${formatDay(validTo)}`;
  return validTo === null
    ? `from ${formatDay(validFrom)}`
    : `${formatDay(validFrom)} – ${formatDay(validTo)}`;
}

/**
 * Says what a new rate changes in a saved rate, for example “‘VAT’ 20%, valid always, is split: it stays
 * valid until Jun 30, 2030 and from Jan 1, 2031.”
 */
export function formatOverlappedTaxRate({ taxRate, remainingPeriods }: OverlappedConsoleTaxRate): string {
  const { name, basisPoints } = taxRate;
  const subject = `“${name}” ${formatBasisPointsAsPercentage(basisPoints)}, valid ${formatTaxRateValidityPeriod(taxRate)},`;
  if (remainingPeriods.length === 0) return `${subject} is replaced.`;
  const change = remainingPeriods.length === 1 ? "is shortened" : "is split";
  return `${subject} ${change}: it stays valid ${remainingPeriods.map(formatTaxRateValidityPeriod).join(" and ")}.`;
}
