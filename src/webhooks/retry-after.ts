/** The header `Retry-After` of RFC 9110: seconds or a date. */

const wholeSeconds = /^\d{1,10}$/;
/** The one form of a date that HTTP has sent since 1999; `Date.parse` alone would take `-5` for a year. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** In seconds from now; null where it says neither. */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  if (wholeSeconds.test(value)) return Number(value);
  if (!httpDate.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now.getTime()) / 1000));
}
