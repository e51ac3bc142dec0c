/**
 * The overview page: problems that staff should look at, charts of webhook deliveries, and the app
 * installations with their readiness.
 */
import type { JSX } from "preact";
import { getGraphqlConnectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  type InstallationWithReadiness,
  readinessDocument,
} from "#pages/console/browser/installations/installation-documents.ts";
import { formatLocalizedCountWithNoun, StatusBadge } from "#pages/console/browser/parts/formats.tsx";
import {
  type DataTableColumn,
  EmptyListNote,
  QueryResultOrLoadingNote,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { PageHeading, ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { NeedsAttentionList } from "./attention.tsx";
import { DeliveryHealthCharts } from "./health-charts.tsx";

const shownMax = 5;

const columns: DataTableColumn<InstallationWithReadiness>[] = [
  { title: "App", cell: ({ id, app }) => <ConsoleLink to={`/installations/${id}`}>{app.name}</ConsoleLink> },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  {
    title: "Readiness",
    cell: ({ readiness: { status, checks } }) => {
      const passed = checks.filter((check) => check.status === "PASS").length;
      return (
        <>
          <StatusBadge value={status} />{" "}
          <span class="soft">
            {passed} of {formatLocalizedCountWithNoun(checks.length, "check")} passed
          </span>
        </>
      );
    },
  },
];

export function OverviewPage(): JSX.Element {
  const query = useGraphqlQuery(readinessDocument, { first: shownMax, after: null });
  return (
    <>
      <PageHeading title="Overview" />
      {query.data === undefined || query.data.installations.edges.length === 0 ? null : (
        <NeedsAttentionList installations={getGraphqlConnectionNodes(query.data.installations)} />
      )}
      <DeliveryHealthCharts />
      <section aria-labelledby="apps">
        <h2 id="apps">Installations</h2>
        <QueryResultOrLoadingNote query={query} what="installations">
          {({ installations }) =>
            installations.edges.length === 0 ? (
              <EmptyListNote>
                No app is installed yet. <ConsoleLink to="/installations">Install the first app</ConsoleLink>
              </EmptyListNote>
            ) : (
              <>
                <DataTable
                  caption="Installations"
                  columns={columns}
                  rows={getGraphqlConnectionNodes(installations)}
                  keyOf={({ id }) => id}
                />
                {installations.pageInfo.hasNextPage ? (
                  <p>
                    Problems of the first {shownMax} installations are shown.{" "}
                    <ConsoleLink to="/installations">All installations</ConsoleLink>
                  </p>
                ) : null}
              </>
            )
          }
        </QueryResultOrLoadingNote>
      </section>
    </>
  );
}
