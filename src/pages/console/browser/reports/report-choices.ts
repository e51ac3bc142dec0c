/**
 * The choices that all reports have in common: the report, the days, the time zone and the currency. They are
 * stored in the page's URL.
 */
import type { ConsoleReportInterval, ConsoleReportPeriod } from "./report-documents.ts";

export const reportNames = [
  "sales",
  "products",
  "funnel",
  "promotions",
  "buyers",
  "returns",
  "refunds",
  "fulfillments",
  "inventory",
  "searches",
] as const;
export type ReportName = (typeof reportNames)[number];

export interface ReportFilter extends ConsoleReportPeriod {
  readonly report: ReportName;
  /** The currency of the shown rows; null if rows of all currencies are shown. */
  readonly currency: string | null;
}

export const reportDaysMax = 731;

const isReportDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Returns the calendar day that is the given number of days before today, in a time zone. */
export function getDateDaysAgo(days: number, timeZone: string, now = new Date()): string {
  const today = new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short" }).format(now);
  return addDays(today, -days);
}

function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00.000Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

export function isTimeZoneKnownToBrowser(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/**
 * Reads the chosen report, days, time zone and currency from the page's URL. The default is the sales of the
 * last 30 days in the reader's time zone.
 */
export function parseReportFilter(query: URLSearchParams, now = new Date()): ReportFilter {
  const timeZone = query.get("zone") ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const dayZone = isTimeZoneKnownToBrowser(timeZone) ? timeZone : "UTC";
  const [from, to, currency] = [query.get("from"), query.get("to"), query.get("currency")];
  return {
    report: reportNames.find((name) => name === query.get("report")) ?? "sales",
    from: isReportDay(from) ? from : getDateDaysAgo(29, dayZone, now),
    to: isReportDay(to) ? to : getDateDaysAgo(0, dayZone, now),
    timeZone,
    currency: currency !== null && /^[A-Z]{3}$/.test(currency) ? currency : null,
  };
}

/**
 * Returns the path of the reports page below /console, with the chosen report, days, time zone and currency
 * in its query.
 */
export function getReportsPagePath({ report, from, to, timeZone, currency }: ReportFilter): string {
  const query = new URLSearchParams({ report, from, to, zone: timeZone });
  if (currency !== null) query.set("currency", currency);
  return `/reports?${query.toString()}`;
}

export const countReportDays = ({ from, to }: Pick<ConsoleReportPeriod, "from" | "to">): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;

/** Returns a message if the chosen days or time zone of a report are invalid; otherwise undefined. */
export function findReportFilterFault(choices: ConsoleReportPeriod): string | undefined {
  if (!isTimeZoneKnownToBrowser(choices.timeZone))
    return `There is no time zone “${choices.timeZone}”. Use a name such as Europe/Berlin or UTC.`;
  const days = countReportDays(choices);
  if (days < 1) return "The last day must not be before the first day.";
  if (days > reportDaysMax)
    return `These are ${days.toLocaleString()} days. A report covers at most ${reportDaysMax} days.`;
  return undefined;
}

/**
 * Chooses the time per bar in a report's chart: days for up to two months, weeks for up to a year, otherwise
 * months.
 */
export function chooseReportChartInterval(choices: ConsoleReportPeriod): ConsoleReportInterval {
  const days = countReportDays(choices);
  return days <= 62 ? "DAY" : days <= 366 ? "WEEK" : "MONTH";
}

const reportsByInterval: ReadonlySet<ReportName> = new Set<ReportName>(["sales", "funnel"]);

/** The number of past days whose sales the stock report sums up. */
export const inventoryDays = 30;

export const getReportPeriodOfFilter = ({ from, to, timeZone }: ReportFilter): ConsoleReportPeriod => ({
  from,
  to,
  timeZone,
});

/**
 * Returns the URL path of the CSV file of a report, relative to the base path of the service. The service
 * accepts the console's session cookie for this path.
 */
export function getReportCsvPath(choices: ReportFilter): string {
  const { report, from, to, timeZone } = choices;
  // The stock report has no period, because it shows the current stock.
  if (report === "inventory") return `/reports/inventory.csv?days=${inventoryDays}`;
  const query = new URLSearchParams({ from, to, timeZone });
  if (reportsByInterval.has(report)) query.set("interval", chooseReportChartInterval(choices).toLowerCase());
  return `/reports/${report}.csv?${query.toString()}`;
}

export interface ReportPeriodPreset {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** Returns the periods of a report that staff can choose with one click, for example the last 7 days. */
export function listReportPeriodPresets(timeZone: string, now = new Date()): readonly ReportPeriodPreset[] {
  const today = getDateDaysAgo(0, isTimeZoneKnownToBrowser(timeZone) ? timeZone : "UTC", now);
  const monthStart = `${today.slice(0, 8)}01`;
  const lastMonthEnd = addDays(monthStart, -1);
  return [
    { name: "7 days", from: addDays(today, -6), to: today },
    { name: "30 days", from: addDays(today, -29), to: today },
    { name: "This month", from: monthStart, to: today },
    { name: "Last month", from: `${lastMonthEnd.slice(0, 8)}01`, to: lastMonthEnd },
    { name: "This year", from: `${today.slice(0, 4)}-01-01`, to: today },
  ];
}
