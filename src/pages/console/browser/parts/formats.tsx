/**
 * Formats values of GraphQL answers for the console: enum values as words and coloured labels, failures of
 * deliveries, amounts of money, times, durations, and the state of a subscription's connection. Numbers,
 * amounts and times are formatted for the reader's locale.
 */
import type { JSX } from "preact";
import type { LiveSubscriptionConnectionState } from "#pages/console/browser/graph/hooks.ts";

/** Converts an enum value to readable words: `AUTO_DISABLED` becomes “Auto disabled”. */
export const formatEnumValue = (value: string): string => {
  const words = value
    .toLowerCase()
    .replaceAll("_", " ")
    .replace(/\bapi\b/, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Formats a number with its noun in the singular or plural: “1 key”, “2 keys”. */
export const formatLocalizedCountWithNoun = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString()} ${number === 1 ? one : many}`;

type Tone = "good" | "warn" | "fault" | "plain";

const tones: Readonly<Record<string, Tone>> = {
  ACTIVE: "good",
  READY: "good",
  ENABLED: "good",
  HEALTHY: "good",
  SUCCEEDED: "good",
  PASS: "good",
  COMPLETED: "good",
  APPLIED: "good",
  PAID: "good",
  CAPTURED: "good",
  DELIVERED: "good",
  ALLOWED: "good",
  ON_HOLD: "warn",
  PARTIALLY_PAID: "warn",
  REQUEST_REQUIRED: "warn",
  DISPUTED: "fault",
  FAILED: "fault",
  LOCKED: "warn",
  DEGRADED: "warn",
  SOME_FAILURES: "warn",
  WARN: "warn",
  RETRYING: "warn",
  SUSPENDED: "warn",
  EXPIRING: "warn",
  AUTO_DISABLED: "fault",
  ACTION_REQUIRED: "fault",
  BLOCKED: "fault",
  FAILING: "fault",
  FAIL: "fault",
  EXHAUSTED: "fault",
  REVOKED: "fault",
};

const toneOf = (value: string): Tone => tones[value] ?? "plain";

const failures: Readonly<Record<string, string>> = {
  TIMEOUT: "No answer in time",
  DNS: "The host name was not found",
  TLS: "The TLS certificate is not valid",
  CONNECTION: "No connection",
  HTTP_STATUS: "The answer was not 2xx",
  BLOCKED_ADDRESS: "The address is blocked, for example a private network",
  REDIRECT: "The answer was a redirect",
};

/** Returns a short text that says why a webhook delivery attempt failed. */
export function getDeliveryFailureLabel(errorCode: string, httpStatus: number | null): string {
  if (errorCode.toUpperCase() === "HTTP_STATUS" && httpStatus !== null) return `Answered ${httpStatus}`;
  return failures[errorCode.toUpperCase()] ?? formatEnumValue(errorCode);
}

/**
 * Shows a status as a word on a coloured background. The word alone is sufficient; the colour adds no
 * information.
 */
interface BadgeProps {
  readonly value: string;
  readonly tone?: Tone;
  readonly text?: string;
}

export const StatusBadge = ({
  value,
  tone = toneOf(value),
  text = formatEnumValue(value),
}: BadgeProps): JSX.Element => <span class={`badge ${tone}`}>{text}</span>;

/** An amount of money in the form in which GraphQL returns it. */
export interface MoneyAmount {
  readonly amountMinor: number;
  readonly currency: string;
  /** The number of decimal digits of the currency: 2 for EUR, 0 for JPY. */
  readonly exponent: number;
}

/** Formats an amount of money in the form of the reader's locale, for example “€1,234.50”. */
export function formatMoney({ amountMinor, currency, exponent }: MoneyAmount): string {
  const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency, ...digits });
  return format.format(amountMinor / 10 ** exponent);
}

/** Formats times in the browser's time zone, in the usual form of the reader's locale. */
const minuteParts = { hour: "2-digit", minute: "2-digit" } as const;
const timeParts = { ...minuteParts, second: "2-digit" } as const;
const dayParts = { day: "numeric", month: "short" } as const;
const short = new Intl.DateTimeFormat(undefined, { ...dayParts, ...timeParts });
const shortWithYear = new Intl.DateTimeFormat(undefined, { ...dayParts, year: "numeric", ...timeParts });
const minute = new Intl.DateTimeFormat(undefined, { ...dayParts, ...minuteParts });
const minuteWithYear = new Intl.DateTimeFormat(undefined, { ...dayParts, year: "numeric", ...minuteParts });
const long = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const day = new Intl.DateTimeFormat(undefined, { ...dayParts, year: "numeric" });
const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * Returns the short name of the reader's time zone at the given time, for example “CET” in winter and “CEST”
 * in summer.
 */
const zoneNameAt = (date: Date): string =>
  zone.formatToParts(date).find(({ type }) => type === "timeZoneName")?.value ?? timeZone;

interface TimeProps {
  /** The shown time in RFC 3339; null if the event has not happened yet. */
  readonly at: string | null;
  readonly otherwise?: string;
  readonly isDay?: boolean;
  /** True if the time is shown without seconds. The full time then appears while the mouse pointer is on it. */
  readonly isMinute?: boolean;
}

export function FormattedTime({
  at,
  otherwise = "–",
  isDay = false,
  isMinute = false,
}: TimeProps): JSX.Element {
  if (at === null) return <span class="soft">{otherwise}</span>;
  const date = new Date(at);
  const [thisYear, otherYear] = isMinute ? [minute, minuteWithYear] : [short, shortWithYear];
  const format = date.getFullYear() === new Date().getFullYear() ? thisYear : otherYear;
  const time = (
    <time dateTime={at} title={`${long.format(date)} (${at})`}>
      {(isDay ? day : format).format(date)}
    </time>
  );
  return isDay ? (
    time
  ) : (
    <>
      {time} <span class="zone">{zoneNameAt(date)}</span>
    </>
  );
}

/** Formats a duration in milliseconds as text, for example “350 ms” or “1.2 s”. */
export const formatMilliseconds = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;

/** The texts for the states of a subscription's connection. */
const words: Readonly<Record<LiveSubscriptionConnectionState, string>> = {
  connecting: "Connecting …",
  live: "Live",
  waiting: "Not live, trying again …",
  ended: "Not live",
};

export const LiveSubscriptionStateBadge = ({
  state,
}: {
  readonly state: LiveSubscriptionConnectionState;
}): JSX.Element => <span class={`live ${state}`}>{words[state]}</span>;
