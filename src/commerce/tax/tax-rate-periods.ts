/**
 * Plans how a new tax rate fits among the rates of the same tax class, country and region. At most one of
 * these rates is valid on a day. Pure. Days are local days of the market, for example `2027-01-01`.
 */
import { addDays } from "#foundation/period.ts";

export interface TaxRatePeriod {
  readonly id: string;
  /** The first day on which the rate is valid; null if the rate has always been valid. */
  readonly validFrom: string | null;
  /** The last day on which the rate is valid; null if the rate is valid without an end. */
  readonly validTo: string | null;
}

export interface TaxRatePeriodPlan {
  /**
   * Id of the existing rate with the same first day, which the new rate replaces; null if it replaces no
   * rate.
   */
  readonly replacedId: string | null;
  /**
   * The existing rate with the same first day and a later last day. Its first day becomes the day after the
   * last day of the new rate. Null if there is no such rate.
   */
  readonly postponed: { readonly id: string; readonly validFrom: string } | null;
  readonly validFrom: string | null;
  readonly validTo: string | null;
  /** The existing rate that must end before the new rate begins; null if there is none. */
  readonly shortened: { readonly id: string; readonly validTo: string } | null;
  /** The existing rate of which a copy continues after the last day of the new rate; null if there is none. */
  readonly continued: {
    readonly id: string;
    readonly validFrom: string;
    readonly validTo: string | null;
  } | null;
}

/**
 * Plans the period of a new tax rate. The days outside this period keep the rate that they had. An earlier
 * rate that would overlap ends on the day before, and continues after the new rate's last day. A longer rate
 * with the same first day begins after the new rate's last day. Without a given last day, the new rate is
 * valid until the next rate begins. If a given last day would overlap a later rate, returns this later rate
 * instead of a plan. `existing` must be sorted by the first day.
 */
export function planPeriodOfNewTaxRate(
  existing: readonly TaxRatePeriod[],
  { validFrom, validTo: wantedTo }: Pick<TaxRatePeriod, "validFrom" | "validTo">,
): TaxRatePeriodPlan | { readonly overlapped: TaxRatePeriod } {
  const next = existing.find((rate) => isBefore(validFrom, rate.validFrom));
  const lastFreeDay = next?.validFrom ? addDays(next.validFrom, -1) : null;
  if (next !== undefined && wantedTo !== null && !isUpTo(wantedTo, lastFreeDay)) return { overlapped: next };
  const validTo = wantedTo ?? lastFreeDay;
  const period = { validFrom, validTo };
  return { ...period, ...planRateOfSameDay(existing, period), ...planEarlierRate(existing, period) };
}

/**
 * Returns the first of the other rates that is valid on a day of the period, and whether this rate begins
 * after the period begins; undefined if all other rates leave the period free. `others` must be sorted by the
 * first day.
 */
export function findOverlappingTaxRate(
  others: readonly TaxRatePeriod[],
  { validFrom, validTo }: Pick<TaxRatePeriod, "validFrom" | "validTo">,
): { readonly rate: TaxRatePeriod; readonly isLater: boolean } | undefined {
  const rate = others.find(
    (other) =>
      (other.validFrom === null || isUpTo(other.validFrom, validTo)) &&
      (validFrom === null || isUpTo(validFrom, other.validTo)),
  );
  return rate === undefined ? undefined : { rate, isLater: isBefore(validFrom, rate.validFrom) };
}

/** Plans whether the rate with the same first day is replaced as a whole, or begins after the new rate. */
function planRateOfSameDay(
  existing: readonly TaxRatePeriod[],
  { validFrom, validTo }: Pick<TaxRatePeriod, "validFrom" | "validTo">,
): Pick<TaxRatePeriodPlan, "replacedId" | "postponed"> {
  const same = existing.find((rate) => rate.validFrom === validFrom);
  if (same === undefined) return { replacedId: null, postponed: null };
  return validTo === null || isUpTo(same.validTo, validTo)
    ? { replacedId: same.id, postponed: null }
    : { replacedId: null, postponed: { id: same.id, validFrom: addDays(validTo, 1) } };
}

/** Plans how the rate that is valid before the first day of a new rate ends and continues. */
function planEarlierRate(
  existing: readonly TaxRatePeriod[],
  { validFrom, validTo }: Pick<TaxRatePeriod, "validFrom" | "validTo">,
): Pick<TaxRatePeriodPlan, "shortened" | "continued"> {
  const earlier = existing.findLast((rate) => isBefore(rate.validFrom, validFrom));
  if (earlier === undefined || validFrom === null || !isUpTo(validFrom, earlier.validTo))
    return { shortened: null, continued: null };
  const isLonger = validTo !== null && !isUpTo(earlier.validTo, validTo);
  return {
    shortened: { id: earlier.id, validTo: addDays(validFrom, -1) },
    continued: isLonger ? { id: earlier.id, validFrom: addDays(validTo, 1), validTo: earlier.validTo } : null,
  };
}

/** Compares the first days of two rates. A missing first day (null) is before every day. */
const isBefore = (one: string | null, other: string | null): boolean =>
  other !== null && (one === null || one < other);

/** Compares the last days of two rates. A missing last day (null) is after every day. */
const isUpTo = (one: string | null, other: string | null): boolean =>
  other === null || (one !== null && one <= other);
