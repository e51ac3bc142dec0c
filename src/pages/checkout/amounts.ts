/**
 * Formats amounts, durations and country names in a locale. Amounts are formatted from the digits of the
 * minor units, never as floating-point numbers.
 */
export interface DisplayedAmount {
  readonly amountMinor: number;
  readonly currency: string;
  readonly exponent: number;
}

/** Writes an amount of minor units as a decimal number: `123456` with two decimal digits becomes `1234.56`. */
function digitsOf({ amountMinor, exponent }: DisplayedAmount): `${number}` {
  const digits = String(Math.abs(amountMinor)).padStart(exponent + 1, "0");
  const sign = amountMinor < 0 ? "-" : "";
  const whole = digits.slice(0, digits.length - exponent);
  return (exponent === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-exponent)}`) as `${number}`;
}

export function formatCurrencyAmount(amount: DisplayedAmount, locale: string): string {
  const { currency, exponent } = amount;
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    minimumFractionDigits: exponent,
    maximumFractionDigits: exponent,
  });
  return format.format(digitsOf(amount));
}

/** Formats a tax rate in basis points as a percentage: 1900 is `19%` in English and `19 %` in German. */
export const formatTaxRate = (basisPoints: number, locale: string): string =>
  new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 }).format(basisPoints / 10_000);

export const negateAmount = (amount: DisplayedAmount): DisplayedAmount => ({
  ...amount,
  amountMinor: -amount.amountMinor,
});

function unit(locale: string, name: "day" | "minute" | "hour" | "second"): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { style: "unit", unit: name, unitDisplay: "long" });
}

export function formatDayCountRange(min: number, max: number, locale: string): string {
  return min === max ? unit(locale, "day").format(max) : unit(locale, "day").formatRange(min, max);
}

/**
 * Formats the first and the last day on which a delivery is expected, counted from the given time. The days
 * are calendar days in UTC, because the buyer's time zone is unknown.
 */
export function formatExpectedDeliveryDates(
  from: string,
  [min, max]: readonly [number, number],
  locale: string,
): string {
  const format = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", timeZone: "UTC" });
  const [first, last] = [min, max].map((days) => Date.parse(from) + days * 86_400_000);
  return format.formatRange(first ?? 0, last ?? 0);
}

export const formatSeconds = (seconds: number, locale: string): string =>
  unit(locale, "second").format(seconds);

/**
 * Formats a duration in minutes (rounded up) if it is shorter than two hours, otherwise in hours (rounded
 * down).
 */
export function formatDurationInMinutesOrHours(ms: number, locale: string): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes < 120
    ? unit(locale, "minute").format(minutes)
    : unit(locale, "hour").format(Math.floor(minutes / 60));
}

export const formatWaitTime = (seconds: number, locale: string): string =>
  seconds < 120 ? formatSeconds(seconds, locale) : formatDurationInMinutesOrHours(seconds * 1000, locale);

export function formatCountryName(code: string, locale: string): string {
  return new Intl.DisplayNames([locale], { type: "region", fallback: "code" }).of(code) ?? code;
}
