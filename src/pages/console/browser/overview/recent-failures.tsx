/** The newest deliveries that did not arrive, of all installations that are shown. */
import type { JSX } from "preact";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import { Outcome } from "#pages/console/browser/deliveries/delivery-columns.tsx";
import type { InstallationName } from "#pages/console/browser/installation/installation-documents.ts";
import { Badge, Time } from "#pages/console/browser/parts/formats.tsx";
import { type Column, Empty, Loaded, Table } from "#pages/console/browser/parts/tables.tsx";
import { Link } from "#pages/console/browser/navigation.tsx";
import { type LoggedEvent, logDocument } from "./overview-documents.ts";

const shownMax = 5;

export const RecentFailures = ({ installations }: { readonly installations: readonly InstallationName[] }): JSX.Element => (
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

const columns: Column<Failed>[] = [
  { title: "Event", cell: ({ delivery, event }) => <Link to={`/deliveries/${delivery.id}`}>{event.type}</Link> },
  { title: "Status", cell: ({ delivery }) => <Badge value={delivery.status} /> },
  { title: "Happened", cell: ({ event }) => <Time at={event.occurredAt} /> },
  { title: "Last answer", cell: ({ delivery }) => <Outcome attempt={delivery.lastAttempt} /> },
  { title: "Next attempt", cell: ({ delivery }) => <Time at={delivery.nextAttemptAt} otherwise="not by itself" /> },
];

function Failures({ installation, isNamed }: { readonly installation: InstallationName; readonly isNamed: boolean }): JSX.Element {
  const asked = useQuery(logDocument, { installationId: installation.id });
  return (
    <>
      {isNamed ? <h3>{installation.app.name}</h3> : null}
      <Loaded asked={asked} what="failures">
        {(data) => {
          const failed = failuresOf(data.installation?.webhookLog.events ?? []);
          return failed.length === 0 ? (
            <Empty>All that was sent of late has arrived.</Empty>
          ) : (
            <Table caption="Deliveries that did not arrive, the newest first" columns={columns} rows={failed} keyOf={({ delivery }) => delivery.id} />
          );
        }}
      </Loaded>
    </>
  );
}

const failuresOf = (events: readonly LoggedEvent[]): Failed[] =>
  events
    .flatMap((event) => event.deliveries.map((delivery) => ({ event, delivery })))
    .filter(({ delivery: { status } }) => status === "RETRYING" || status === "EXHAUSTED")
    .slice(0, shownMax);
