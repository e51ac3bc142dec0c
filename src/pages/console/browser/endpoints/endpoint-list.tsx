/** The webhook endpoints of an installation as a table. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import { Badge, count, Time } from "#pages/console/browser/parts/formats.tsx";
import { type Column, Empty, Loaded, Table } from "#pages/console/browser/parts/tables.tsx";
import { Link } from "#pages/console/browser/navigation.tsx";
import { type Endpoint, endpointsDocument } from "./endpoint-documents.ts";

interface EndpointListProps {
  readonly installationId: string;
  /** Rises with what is done elsewhere on the page. */
  readonly changes: number;
}

const eventsShown = 3;

const columns: Column<Endpoint>[] = [
  {
    title: "Endpoint",
    cell: ({ id, url, description }) => (
      <>
        <Link to={`/endpoints/${id}`}>{url}</Link>
        {description === null ? null : (
          <>
            <br />
            <span class="soft">{description}</span>
          </>
        )}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Badge value={status} /> },
  {
    title: "Health",
    cell: ({ health: { state, consecutiveFailures } }) => (
      <>
        <Badge value={state} /> {consecutiveFailures === 0 ? null : <span class="soft">{count(consecutiveFailures, "failure")} in a row</span>}
      </>
    ),
  },
  {
    title: "Listens to",
    cell: ({ eventTypes }) => (
      <span class="scopes">
        {eventTypes.slice(0, eventsShown).map((type) => (
          <code key={type}>{type === "*" ? "everything" : type}</code>
        ))}
        {eventTypes.length > eventsShown ? <span class="soft">and {eventTypes.length - eventsShown} more</span> : null}
      </span>
    ),
  },
  { title: "Last arrived", cell: ({ health }) => <Time at={health.lastSuccessAt} otherwise="nothing yet" /> },
];

export function EndpointList({ installationId, changes }: EndpointListProps): JSX.Element {
  const asked = useQuery(endpointsDocument, { installationId });
  const seen = useRef(changes);
  useEffect(() => {
    if (changes !== seen.current) asked.reload();
    seen.current = changes;
  }, [changes]);
  return (
    <Loaded asked={asked} what="webhook endpoints">
      {({ installation }) => {
        const list = installation?.webhookEndpointList;
        if (list === undefined || list.endpoints.length === 0)
          return <Empty>There is no endpoint yet. Register an address of yours, and it is told what happens.</Empty>;
        return (
          <>
            <Table caption="Webhook endpoints, the oldest first" columns={columns} rows={list.endpoints} keyOf={({ id }) => id} />
            <p class="soft small">
              {list.total} of {list.limit} endpoints.
            </p>
          </>
        );
      }}
    </Loaded>
  );
}
