/** The days of an export's period, in the time zone of the browser. */

/** Returns the midnight at which a day begins, some days after the given one, in RFC 3339. */
function toMidnight(day: string, daysAfter = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + daysAfter).toISOString();
}

/**
 * Returns the period of the chosen first and last day, both included; an empty text is no choice. If the last
 * day is today or later, the period has no end, because an export ends at the latest when it is created.
 */
export function toExportPeriod(
  first: string,
  last: string,
  now = new Date(),
): { readonly from?: string; readonly to?: string } {
  const end = last === "" ? undefined : toMidnight(last, 1);
  return {
    ...(first === "" ? {} : { from: toMidnight(first) }),
    ...(end === undefined || Date.parse(end) > now.getTime() ? {} : { to: end }),
  };
}

const dayFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** “1 Jan 2026 – 31 Jan 2026”, with the last included day. */
export function formatExportPeriod(from: string | null, to: string): string {
  const start = from === null ? "the oldest row" : dayFormat.format(new Date(from));
  return `${start} – ${dayFormat.format(new Date(Date.parse(to) - 1))}`;
}

const units = ["bytes", "kB", "MB", "GB"] as const;

/** “512 bytes”, “1.5 MB”: sizes in powers of 1000, as file managers show them. */
export function formatFileSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const digits = { maximumFractionDigits: power === 0 ? 0 : 1 };
  return `${(bytes / 1000 ** power).toLocaleString(undefined, digits)} ${units[power]}`;
}
