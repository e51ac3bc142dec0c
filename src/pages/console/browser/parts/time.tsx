/** Times, in the zone of the browser. */
import type { JSX } from "preact";

const short = new Intl.DateTimeFormat("en", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const long = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long" });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

interface TimeProps {
  /** RFC 3339; null: never. */
  readonly at: string | null;
  readonly otherwise?: string;
  readonly isDay?: boolean;
}

export function Time({ at, otherwise = "–", isDay = false }: TimeProps): JSX.Element {
  if (at === null) return <span class="soft">{otherwise}</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${long.format(date)} (${at})`}>
      {(isDay ? day : short).format(date)}
    </time>
  );
}

/** “350 ms”, “1.2 s”. */
export const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`);
