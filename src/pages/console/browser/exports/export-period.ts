/**
 * Converts the chosen days of an export to a period and back. The days are days in the time zone of the
 * browser.
 */

/** Returns midnight at the start of a day as a time in RFC 3339. `daysAfter` moves the result to a later day. */
function toMidnight(day: string, daysAfter = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + daysAfter).toISOString();
}

/**
 * Returns the period of an export from the chosen first and last day, both included. An empty text means that
 * no day was chosen. If the last day is today or later, the period has no end, because an export contains no
 * rows newer than itself.
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

/**
 * Returns a period as text, for example “1 Jan 2026 – 31 Jan 2026”. The text names the last day that is
 * included.
 */
export function formatExportPeriod(from: string | null, to: string): string {
  const start = from === null ? "the oldest row" : dayFormat.format(new Date(from));
  return `${start} – ${dayFormat.format(new Date(Date.parse(to) - 1))}`;
}

const units = ["bytes", "kB", "MB", "GB"] as const;

/**
 * Returns a file size as text, for example “512 bytes” or “1.5 MB”. A kilobyte has 1000 bytes, as in file
 * managers.
 */
export function formatFileSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const digits = { maximumFractionDigits: power === 0 ? 0 : 1 };
  return `${(bytes / 1000 ** power).toLocaleString(undefined, digits)} ${units[power]}`;
}
