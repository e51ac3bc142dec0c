/** Everything about one installation: what it may do, whether it can, its keys, endpoints and grants, and what it asked of late. */
import type { JSX } from "preact";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import { EndpointList } from "#pages/console/browser/endpoints/endpoint-list.tsx";
import { KeyList } from "#pages/console/browser/keys/key-list.tsx";
import { ScopeList } from "#pages/console/browser/parts/scopes.tsx";
import { Badge, Time } from "#pages/console/browser/parts/formats.tsx";
import { Empty, Fact, Loaded } from "#pages/console/browser/parts/tables.tsx";
import { RequestList } from "#pages/console/browser/requests/request-list.tsx";
import { Heading, Link } from "#pages/console/browser/navigation.tsx";
import { GrantList } from "./grant-list.tsx";
import { InstallationActions } from "./installation-actions.tsx";
import { installationDocument, type InstallationWithReadiness } from "./installation-documents.ts";
import { ReadinessChecks } from "./readiness.tsx";

export function InstallationPage({ id }: { readonly id: string }): JSX.Element {
  const asked = useQuery(installationDocument, { id });
  const installation = asked.data?.installation;
  return (
    <>
      <p class="trail">
        <Link to="/installations">Installations</Link>
      </p>
      <Heading title={installation?.app.name ?? "Installation"}>
        {installation ? <InstallationActions installation={installation} onChanged={asked.reload} /> : undefined}
      </Heading>
      <Loaded asked={asked} what="the installation">
        {(data) => (data.installation === null ? <Empty>There is no such installation.</Empty> : <Parts installation={data.installation} />)}
      </Loaded>
    </>
  );
}

function Parts({ installation }: { readonly installation: InstallationWithReadiness }): JSX.Element {
  const { id, status, scopes, installedAt, app, readiness } = installation;
  return (
    <>
      <dl class="facts">
        <Fact name="Status">
          <Badge value={status} />
        </Fact>
        <Fact name="Publisher">{app.publisher ?? "–"}</Fact>
        <Fact name="Installed">
          <Time at={installedAt} isDay />
        </Fact>
        <Fact name="May do">
          <ScopeList scopes={scopes} />
        </Fact>
        <Fact name="Id">
          <code>{id}</code>
        </Fact>
      </dl>
      <section aria-labelledby="readiness">
        <h2 id="readiness">
          Readiness <Badge value={readiness.status} />
        </h2>
        <ReadinessChecks readiness={readiness} />
      </section>
      <section aria-labelledby="requests">
        <h2 id="requests">Recent requests</h2>
        <RequestList installationId={id} />
      </section>
      <section aria-labelledby="keys">
        <div class="bar">
          <h2 id="keys">API keys</h2>
          <Link to={`/keys?installation=${id}`}>Create and manage keys</Link>
        </div>
        <KeyList installationId={id} changes={0} />
      </section>
      <section aria-labelledby="endpoints">
        <div class="bar">
          <h2 id="endpoints">Webhook endpoints</h2>
          <Link to={`/endpoints?installation=${id}`}>Register and manage endpoints</Link>
        </div>
        <EndpointList installationId={id} changes={0} />
      </section>
      <section aria-labelledby="grants">
        <h2 id="grants">OAuth grants</h2>
        <GrantList installationId={id} />
      </section>
    </>
  );
}
