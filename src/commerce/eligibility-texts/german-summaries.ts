/** Describes policies in German, from the rules of each policy. */
import type { CancellationRules, ReturnRules } from "#commerce/markets/policy-rules.ts";
import type { PolicySummaryWritersByType } from "./english-summaries.ts";

export const germanSummaries: PolicySummaryWritersByType = {
  cancellation: (rules) => cancellationSummary(rules),
  return: (rules) => returnSummary(rules),
  withdrawal: ({ windowDays }) =>
    windowDays === 0
      ? "Es besteht kein Widerrufsrecht."
      : `Sie können den Kauf innerhalb von ${days(windowDays)} nach der Lieferung ohne Angabe von Gründen ` +
        "widerrufen; wird nichts geliefert, zählt der Tag der Bestellung.",
  warranty: ({ months }) =>
    months === 0
      ? "Es gibt keine Garantie über die gesetzliche hinaus."
      : `Auf Ihren Kauf besteht ab der Lieferung ${counted(months, ["Monat", "Monate"])} Garantie.`,
};

function cancellationSummary({ mode, windowMinutes, afterWindow }: CancellationRules): string {
  if (mode === "none") return "Eine Bestellung kann nicht vom Käufer storniert werden.";
  const [start, end] =
    mode === "request"
      ? ["Sie können die Stornierung einer Bestellung", "anfragen"]
      : ["Sie können eine Bestellung", "stornieren"];
  if (windowMinutes === null)
    return mode === "request"
      ? `${start} bis zum Versand ${end}.`
      : `${start} bis zum Verpacken ${end}; danach können Sie die Stornierung anfragen.`;
  const within = `${start} innerhalb von ${counted(windowMinutes, ["Minute", "Minuten"])} ${end}`;
  if (afterWindow === "deny") return `${within}, danach nicht mehr.`;
  return mode === "request"
    ? `${start} bis zum Versand ${end}.`
    : `${within}; danach können Sie die Stornierung bis zum Versand anfragen.`;
}

function returnSummary({ mode, windowDays, exchangeWindowDays, extendUntil }: ReturnRules): string {
  if (mode === "none") return "Der Händler nimmt nur zurück, was er nach dem Gesetz zurücknehmen muss.";
  const returned =
    mode === "request"
      ? `Sie können die Rückgabe Ihres Kaufs ${within(windowDays)} anfragen`
      : `Sie können Ihren Kauf ${within(windowDays)} zurückgeben`;
  const exchanged =
    exchangeWindowDays === null
      ? "; einen Umtausch gibt es nicht"
      : `, und ${mode === "request" ? "den Umtausch " : ""}${within(exchangeWindowDays)} ` +
        (mode === "request" ? "anfragen" : "umtauschen");
  const extended = extendUntil === null ? "" : `; die Fristen enden frühestens mit dem ${extendUntil}`;
  return `${returned}${exchanged}${extended}.`;
}

const within = (windowDays: number | null): string =>
  windowDays === null ? "jederzeit" : `innerhalb von ${days(windowDays)} nach der Lieferung`;
// In these German summaries, a number of days occurs only after "innerhalb von", which requires the dative
// case.
const days = (count: number): string => counted(count, ["Tag", "Tagen"]);
const counted = (count: number, [one, many]: readonly [one: string, many: string]): string =>
  `${count} ${count === 1 ? one : many}`;
