/**
 * The overview page: a card for each installation with its readiness, the health charts, and the newest
 * deliveries that failed.
 */
import type { JSX } from "preact";
import { connectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  type InstallationName,
  type InstallationWithReadiness,
  readinessDocument,
} from "#pages/console/browser/installations/installation-documents.ts";
import { ReadinessChecks } from "#pages/console/browser/installations/installations-page.tsx";
import { StatusBadge, TimeText } from "#pages/console/browser/parts/formats.tsx";
import {
  type TableColumn,
  EmptyNote,
  QueryResultView,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { PageHeading, ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { AttemptOutcomeText } from "#pages/console/browser/deliveries/delivery-list.tsx";
import { HealthCharts } from "./health-charts.tsx";
import { logDocument, type LoggedEvent } from "./overview-documents.ts";

const shownMax = 5;

export function OverviewPage(): JSX.Element {
  const query = useQuery(readinessDocument, { first: shownMax, after: null });
  return (
    <>
      <PageHeading title="Overview" />
      <section aria-labelledby="apps">
        <h2 id="apps">Installations</h2>
        <QueryResultView query={query} what="installations">
          {({ installations }) =>
            installations.edges.length === 0 ? (
              <EmptyNote>No app is installed yet.</EmptyNote>
            ) : (
              <>
                {connectionNodes(installations).map((installation) => (
                  <InstallationCard key={installation.id} installation={installation} />
                ))}
                {installations.pageInfo.hasNextPage ? (
                  <ConsoleLink to="/installations">All installations</ConsoleLink>
                ) : null}
              </>
            )
          }
        </QueryResultView>
      </section>
      <HealthCharts />
      <section aria-labelledby="failures">
        <h2 id="failures">Failed webhook deliveries</h2>
        {query.data === undefined ? null : (
          <RecentFailures installations={connectionNodes(query.data.installations)} />
        )}
      </section>
    </>
  );
}

function InstallationCard({
  installation,
}: {
  readonly installation: InstallationWithReadiness;
}): JSX.Element {
  const { id, app, status, readiness } = installation;
  return (
    <article class="card">
      <h3>
        <ConsoleLink to={`/installations/${id}`}>{app.name}</ConsoleLink>{" "}
        <StatusBadge value={readiness.status} /> {status === "ACTIVE" ? null : <StatusBadge value={status} />}
      </h3>
      <ReadinessChecks readiness={readiness} />
    </article>
  );
}

/** The maximum number of failed deliveries that the overview shows. */
const failuresShownMax = 5;

const RecentFailures = ({
  installations,
}: {
  readonly installations: readonly InstallationName[];
}): JSX.Element => (
  <>
    {installations.map((installation) => (
      <Failures key={installation.id} installation={installation} isNamed={installations.length > 1} />
    ))}
  </>
);

interface Failed {
  readonly event: LoggedEvent;
  readonly delivery: LoggedEvent["deliveries"][number];
}

const columns: TableColumn<Failed>[] = [
  {
    title: "Event",
    cell: ({ delivery, event }) => <ConsoleLink to={`/deliveries/${delivery.id}`}>{event.type}</ConsoleLink>,
  },
  { title: "Status", cell: ({ delivery }) => <StatusBadge value={delivery.status} /> },
  { title: "Happened", cell: ({ event }) => <TimeText at={event.occurredAt} /> },
  { title: "Last answer", cell: ({ delivery }) => <AttemptOutcomeText attempt={delivery.lastAttempt} /> },
  {
    title: "Next attempt",
    cell: ({ delivery }) => <TimeText at={delivery.nextAttemptAt} otherwise="no further attempt" />,
  },
];

function Failures({
  installation,
  isNamed,
}: {
  readonly installation: InstallationName;
  readonly isNamed: boolean;
}): JSX.Element {
  const query = useQuery(logDocument, { installationId: installation.id });
  return (
    <>
      {isNamed ? <h3>{installation.app.name}</h3> : null}
      <QueryResultView query={query} what="failures">
        {(data) => {
          const failed = failuresOf(data.installation?.webhookLog.events ?? []);
          return failed.length === 0 ? (
            <EmptyNote>All recent deliveries succeeded.</EmptyNote>
          ) : (
            <DataTable
              caption="Deliveries that did not arrive, the newest first"
              columns={columns}
              rows={failed}
              keyOf={({ delivery }) => delivery.id}
            />
          );
        }}
      </QueryResultView>
    </>
  );
}

const failuresOf = (events: readonly LoggedEvent[]): Failed[] =>
  events
    .flatMap((event) => event.deliveries.map((delivery) => ({ event, delivery })))
    .filter(({ delivery: { status } }) => status === "RETRYING" || status === "EXHAUSTED")
    .slice(0, failuresShownMax);
