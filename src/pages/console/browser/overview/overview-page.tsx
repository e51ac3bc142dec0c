/** The state of things: can the apps do their work, do their webhooks arrive, and what did not. */
import type { JSX } from "preact";
import { nodesOf } from "#pages/console/browser/graph/documents.ts";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import { type InstallationWithReadiness, readinessDocument } from "#pages/console/browser/installation/installation-documents.ts";
import { ReadinessChecks } from "#pages/console/browser/installation/readiness.tsx";
import { Badge } from "#pages/console/browser/parts/formats.tsx";
import { Empty, Loaded } from "#pages/console/browser/parts/tables.tsx";
import { Heading, Link } from "#pages/console/browser/navigation.tsx";
import { HealthCharts } from "./health-charts.tsx";
import { RecentFailures } from "./recent-failures.tsx";

const shownMax = 5;

export function OverviewPage(): JSX.Element {
  const asked = useQuery(readinessDocument, { first: shownMax, after: null });
  return (
    <>
      <Heading title="Overview" />
      <section aria-labelledby="apps">
        <h2 id="apps">Installations</h2>
        <Loaded asked={asked} what="installations">
          {({ installations }) =>
            installations.edges.length === 0 ? (
              <Empty>No app is installed yet.</Empty>
            ) : (
              <>
                {nodesOf(installations).map((installation) => (
                  <InstallationCard key={installation.id} installation={installation} />
                ))}
                {installations.pageInfo.hasNextPage ? <Link to="/installations">All installations</Link> : null}
              </>
            )
          }
        </Loaded>
      </section>
      <HealthCharts />
      <section aria-labelledby="failures">
        <h2 id="failures">Webhooks that did not arrive</h2>
        {asked.data === undefined ? null : <RecentFailures installations={nodesOf(asked.data.installations)} />}
      </section>
    </>
  );
}

function InstallationCard({ installation }: { readonly installation: InstallationWithReadiness }): JSX.Element {
  const { id, app, status, readiness } = installation;
  return (
    <article class="card">
      <h3>
        <Link to={`/installations/${id}`}>{app.name}</Link> <Badge value={readiness.status} /> {status === "ACTIVE" ? null : <Badge value={status} />}
      </h3>
      <ReadinessChecks readiness={readiness} />
    </article>
  );
}
