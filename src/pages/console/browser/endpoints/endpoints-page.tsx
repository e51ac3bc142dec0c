/**
 * The page that lists the webhook endpoints of an app installation. Also exports the table of endpoints,
 * which the page of the installation shows too.
 */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { getGraphqlConnectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { InstallationSelect } from "#pages/console/browser/installations/installations-page.tsx";
import {
  type InstallationSummary,
  installationsDocument,
} from "#pages/console/browser/installations/installation-documents.ts";
import {
  type DataTableColumn,
  EmptyListNote,
  QueryResultOrLoadingNote,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import {
  navigateToConsolePath,
  PageHeading,
  ConsoleLink,
  type ConsoleLocation,
} from "#pages/console/browser/navigation.tsx";
import { StatusBadge, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import { BulkReplayDialog } from "#pages/console/browser/deliveries/bulk-replay-dialog.tsx";
import { CreateEndpointDialog } from "./endpoint-dialogs.tsx";
import { ShowWebhookSecretDialog } from "./secret-dialogs.tsx";
import { assessEndpointHealth } from "./judge-health.ts";
import {
  type ConsoleWebhookEndpoint,
  endpointsDocument,
  type EndpointSecretMutationResult,
} from "./endpoint-documents.ts";

export function EndpointsPage({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const installations = useGraphqlQuery(installationsDocument, {});
  return (
    <>
      <PageHeading title="Webhooks" />
      <p class="lead">
        What happens in the shop is sent to the addresses that an app registers, signed with a secret of each.
      </p>
      <QueryResultOrLoadingNote query={installations} what="installations">
        {({ installations: connection }) => {
          const all = getGraphqlConnectionNodes(connection);
          const chosen = all.find(({ id }) => id === place.query.get("installation")) ?? all[0];
          if (chosen === undefined)
            return (
              <EmptyListNote>
                No app is installed yet. Endpoints belong to the installation of an app.
              </EmptyListNote>
            );
          return <InstallationEndpoints key={chosen.id} installation={chosen} all={all} />;
        }}
      </QueryResultOrLoadingNote>
    </>
  );
}

interface InstallationEndpointsProps {
  readonly installation: InstallationSummary;
  readonly all: readonly InstallationSummary[];
}

function InstallationEndpoints({ installation, all }: InstallationEndpointsProps): JSX.Element {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<EndpointSecretMutationResult>();
  const [changes, setChanges] = useState(0);
  return (
    <section aria-labelledby="endpoints-heading">
      <div class="bar">
        <InstallationSelect all={all} chosen={installation} path="/endpoints" />
        <button
          type="button"
          onClick={() => setMaking(true)}
          disabled={installation.status === "UNINSTALLED"}
        >
          Register an endpoint
        </button>
      </div>
      <h2 id="endpoints-heading" class="hidden">
        Endpoints of {installation.app.name}
      </h2>
      <EndpointList installationId={installation.id} changes={changes} />
      {isMaking ? (
        <CreateEndpointDialog
          installationId={installation.id}
          onClose={() => setMaking(false)}
          onMade={(answer) => {
            setMaking(false);
            setMade(answer);
            setChanges(changes + 1);
          }}
        />
      ) : null}
      {made === undefined ? null : (
        <ShowWebhookSecretDialog
          title="The endpoint is registered"
          note="A test ping is being sent to the endpoint."
          secret={made.secret.value}
          onClose={() => {
            setMade(undefined);
            navigateToConsolePath(`/endpoints/${made.endpoint.id}`);
          }}
        />
      )}
    </section>
  );
}

/** The webhook endpoints of an installation as a table. */
interface EndpointListProps {
  readonly installationId: string;
  /**
   * A number that another part of the page increases after a change of an endpoint. The table then loads its
   * endpoints again.
   */
  readonly changes: number;
}

const eventsShown = 3;

const columns: DataTableColumn<ConsoleWebhookEndpoint>[] = [
  {
    title: "Endpoint",
    cell: ({ id, url, description }) => (
      <>
        <ConsoleLink to={`/endpoints/${id}`}>{url}</ConsoleLink>
        {description === null ? null : (
          <>
            <br />
            <span class="soft">{description}</span>
          </>
        )}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  {
    title: "Health",
    cell: (endpoint) => <EndpointHealthText endpoint={endpoint} />,
  },
  {
    title: "Listens to",
    cell: ({ eventTypes }) => (
      <span class="scopes">
        {eventTypes.slice(0, eventsShown).map((type) => (
          <code key={type}>{type === "*" ? "all events" : type}</code>
        ))}
        {eventTypes.length > eventsShown ? (
          <span class="soft">and {eventTypes.length - eventsShown} more</span>
        ) : null}
      </span>
    ),
  },
  {
    title: "Last success",
    cell: ({ health }) => <FormattedTime at={health.lastSuccessAt} otherwise="nothing yet" />,
  },
];

/** Shows the health of a webhook endpoint and the reason for it, for example the endpoint's success rate. */
export function EndpointHealthText({ endpoint }: { readonly endpoint: ConsoleWebhookEndpoint }): JSX.Element {
  const { state, reason, pausedUntil } = assessEndpointHealth(endpoint);
  return (
    <>
      <StatusBadge value={state} />{" "}
      <span class="soft">
        {pausedUntil === null ? null : (
          <>
            Paused until <FormattedTime at={pausedUntil} isMinute />,{" "}
          </>
        )}
        {reason}
      </span>
    </>
  );
}

export function EndpointList({ installationId, changes }: EndpointListProps): JSX.Element {
  const query = useGraphqlQuery(endpointsDocument, { installationId });
  const [isReplaying, setReplaying] = useState(false);
  const seen = useRef(changes);
  useEffect(() => {
    if (changes !== seen.current) query.reload();
    seen.current = changes;
  }, [changes]);
  return (
    <QueryResultOrLoadingNote query={query} what="webhook endpoints">
      {({ installation }) => {
        const list = installation?.webhookEndpointList;
        if (list === undefined || list.endpoints.length === 0)
          return (
            <EmptyListNote>
              There is no endpoint yet. Register the address that should receive events.
            </EmptyListNote>
          );
        return (
          <>
            <DataTable
              caption="Webhook endpoints, the oldest first"
              columns={columns}
              rows={list.endpoints}
              keyOf={({ id }) => id}
            />
            <p class="soft small">
              {list.total} of {list.limit} endpoints.{" "}
              <button type="button" class="plain" onClick={() => setReplaying(true)}>
                Replay several deliveries
              </button>
            </p>
            {isReplaying ? (
              <BulkReplayDialog endpoints={list.endpoints} onClose={() => setReplaying(false)} />
            ) : null}
          </>
        );
      }}
    </QueryResultOrLoadingNote>
  );
}
