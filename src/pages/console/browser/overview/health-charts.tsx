/**
 * Charts of webhook deliveries: attempts and durations of the last 24 hours by hour, or of the last 30 days
 * by day.
 */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { BarChart, LineChart } from "#pages/console/browser/charts.tsx";
import { EmptyListNote, QueryResultOrLoadingNote } from "#pages/console/browser/parts/tables.tsx";
import { formatMilliseconds, timeZone } from "#pages/console/browser/parts/formats.tsx";
import { summarizeDeliveryAttempts } from "./attempt-summary.ts";
import {
  type DeliveryHealthReportVariables,
  type DeliveryHealthBucket,
  healthDocument,
} from "./overview-documents.ts";

type Span = "day" | "month";

const hoursShown = 24;
const daysShown = 30;
const hour = new Intl.DateTimeFormat("en", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const localDay = new Intl.DateTimeFormat("sv", { year: "numeric", month: "2-digit", day: "2-digit" });

function dayBack(days: number): string {
  const date = new Date();
  // Subtracts days from noon, because a calculation from midnight could give the wrong day when the clocks
  // change.
  date.setHours(12, 0, 0, 0);
  date.setDate(date.getDate() - days);
  return localDay.format(date);
}

const reportVariables = (span: Span): DeliveryHealthReportVariables =>
  span === "day"
    ? { from: dayBack(1), to: dayBack(0), timeZone, interval: "HOUR" }
    : { from: dayBack(daysShown - 1), to: dayBack(0), timeZone, interval: "DAY" };

export function DeliveryHealthCharts(): JSX.Element {
  const [span, setSpan] = useState<Span>("day");
  const query = useGraphqlQuery(healthDocument, reportVariables(span));
  const id = useId();
  return (
    <section aria-labelledby="health">
      <div class="bar">
        <h2 id="health">Webhook deliveries</h2>
        <div class="pick">
          <label for={id}>Time</label>
          <select
            id={id}
            value={span}
            onChange={({ currentTarget }) => setSpan(currentTarget.value === "month" ? "month" : "day")}
          >
            <option value="day">Last 24 hours</option>
            <option value="month">Last 30 days</option>
          </select>
        </div>
      </div>
      <QueryResultOrLoadingNote query={query} what="the charts">
        {({ webhookHealthReport }) => (
          <Charts span={span} buckets={shownOf(webhookHealthReport.buckets, span)} />
        )}
      </QueryResultOrLoadingNote>
    </section>
  );
}

function shownOf(buckets: readonly DeliveryHealthBucket[], span: Span): readonly DeliveryHealthBucket[] {
  const now = Date.now();
  return span === "month"
    ? buckets
    : buckets.filter(({ startsAt }) => Date.parse(startsAt) <= now).slice(-hoursShown);
}

function Charts({
  span,
  buckets,
}: {
  readonly span: Span;
  readonly buckets: readonly DeliveryHealthBucket[];
}): JSX.Element {
  const format = span === "day" ? hour : day;
  const labels = buckets.map(({ startsAt }) => format.format(new Date(startsAt)));
  const keys = buckets.map(({ startsAt }) => startsAt);
  const successes = buckets.reduce((sum, bucket) => sum + bucket.successes, 0);
  const failures = buckets.reduce((sum, bucket) => sum + bucket.failures, 0);
  const of = span === "day" ? "the last 24 hours" : "the last 30 days";
  if (successes + failures === 0) return <EmptyListNote>Nothing was sent in {of}.</EmptyListNote>;
  return (
    <div class="charts">
      <BarChart
        title="Successful and failed attempts"
        description={summarizeDeliveryAttempts({ successes, failures }, of)}
        labels={labels}
        keys={keys}
        series={[
          { name: "Succeeded", tone: "good", values: buckets.map((bucket) => bucket.successes) },
          { name: "Failed", tone: "fault", values: buckets.map((bucket) => bucket.failures) },
        ]}
      />
      <LineChart
        title="Duration of attempts"
        description={`Half of the attempts (p50) and nineteen of twenty (p95) took no longer, in ${of}.`}
        labels={labels}
        keys={keys}
        format={formatMilliseconds}
        series={[
          { name: "p50", tone: "mark", values: buckets.map(({ p50DurationMs }) => p50DurationMs) },
          { name: "p95", tone: "warn", values: buckets.map(({ p95DurationMs }) => p95DurationMs) },
        ]}
      />
    </div>
  );
}
