/**
 * The page of one delivery: its attempts with their results, and the other deliveries of the same event,
 * updated live.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useSubscription, useQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  StatusBadge,
  formatMilliseconds,
  LiveStateBadge,
  TimeText,
  enumLabel,
} from "#pages/console/browser/parts/formats.tsx";
import {
  type TableColumn,
  EmptyNote,
  DescriptionRow,
  QueryResultView,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { PageHeading, ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { AttemptOutcomeText } from "./delivery-list.tsx";
import {
  type Attempt,
  type Delivery,
  deliveryChangedDocument,
  type DeliveryDetail,
  deliveryDocument,
} from "./delivery-documents.ts";
import { ReplayDialog } from "./replay-dialog.tsx";

export function DeliveryPage({ id }: { readonly id: string }): JSX.Element {
  const query = useQuery(deliveryDocument, { id });
  const [isReplaying, setReplaying] = useState(false);
  const delivery = query.data?.webhookDelivery;
  const state = useSubscription(
    deliveryChangedDocument,
    delivery ? { endpointId: delivery.endpointId } : undefined,
    ({ deliveryChanged }) => {
      if (delivery && (deliveryChanged?.deliveries ?? []).some((changed) => isNews(changed, delivery)))
        query.refresh();
    },
  );
  return (
    <>
      <p class="trail">
        <ConsoleLink to="/endpoints">Webhooks</ConsoleLink>
        {delivery ? (
          <>
            {" / "}
            <ConsoleLink to={`/endpoints/${delivery.endpointId}`}>Endpoint</ConsoleLink>
          </>
        ) : null}
      </p>
      <PageHeading title={delivery ? delivery.event.type : "Delivery"}>
        {delivery ? (
          <>
            <LiveStateBadge state={state} />
            <button type="button" disabled={!delivery.replayable} onClick={() => setReplaying(true)}>
              Replay
            </button>
          </>
        ) : undefined}
      </PageHeading>
      <QueryResultView query={query} what="the delivery">
        {({ webhookDelivery }) =>
          webhookDelivery === null ? (
            <EmptyNote>This delivery does not exist.</EmptyNote>
          ) : (
            <Parts delivery={webhookDelivery} />
          )
        }
      </QueryResultView>
      {isReplaying && delivery ? (
        <ReplayDialog delivery={delivery} onReplayed={query.reload} onClose={() => setReplaying(false)} />
      ) : null}
    </>
  );
}

/** True if the changed delivery belongs to the same event and endpoint, and its change is not shown yet. */
function isNews(changed: Delivery, shown: DeliveryDetail): boolean {
  if (changed.event.id !== shown.event.id || changed.endpointId !== shown.endpointId) return false;
  if (changed.id === shown.id)
    return changed.status !== shown.status || changed.attemptCount !== shown.attemptCount;
  return shown.event.deliveries.find(({ id }) => id === changed.id)?.status !== changed.status;
}

const attemptColumns: TableColumn<Attempt>[] = [
  { title: "Attempt", cell: ({ number }) => number },
  { title: "Time", cell: ({ at }) => <TimeText at={at} /> },
  { title: "Answer", cell: (attempt) => <AttemptOutcomeText attempt={attempt} /> },
  { title: "Took", isNumber: true, cell: ({ durationMs }) => formatMilliseconds(durationMs) },
];

function Parts({ delivery }: { readonly delivery: DeliveryDetail }): JSX.Element {
  const others = delivery.event.deliveries
    .filter(({ endpointId }) => endpointId === delivery.endpointId)
    .toReversed();
  return (
    <>
      <p class="hidden" role="status">
        {enumLabel(delivery.status)}
      </p>
      <Facts delivery={delivery} />
      <section aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        {delivery.attempts.length === 0 ? (
          <EmptyNote>The delivery has not been attempted yet.</EmptyNote>
        ) : (
          <DataTable
            caption="Attempts, the first one first"
            columns={attemptColumns}
            rows={delivery.attempts}
            keyOf={({ id }) => id}
          />
        )}
      </section>
      <section aria-labelledby="again">
        <h2 id="again">All deliveries of this event to this endpoint</h2>
        <DataTable
          caption="Deliveries of the event, the newest first"
          columns={othersColumns(delivery.id)}
          rows={others}
          keyOf={({ id }) => id}
        />
      </section>
    </>
  );
}

const othersColumns = (id: string): TableColumn<DeliveryDetail["event"]["deliveries"][number]>[] => [
  {
    title: "Delivery",
    cell: (other) =>
      other.id === id ? (
        <>
          <code>{other.id}</code> <span class="soft">(this one)</span>
        </>
      ) : (
        <ConsoleLink to={`/deliveries/${other.id}`}>{other.id}</ConsoleLink>
      ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  { title: "Kind", cell: ({ replayOf }) => (replayOf === null ? "First" : "Replay") },
  { title: "Made", cell: ({ createdAt }) => <TimeText at={createdAt} /> },
];

function Facts({ delivery }: { readonly delivery: DeliveryDetail }): JSX.Element {
  const {
    id,
    status,
    attemptCount,
    nextAttemptAt,
    createdAt,
    finishedAt,
    event,
    replayReason,
    replayNote,
    payloadExpiresAt,
  } = delivery;
  return (
    <dl class="facts">
      <DescriptionRow name="Status">
        <StatusBadge value={status} />{" "}
        <span class="soft">{attemptCount === 1 ? "1 attempt" : `${attemptCount} attempts`}</span>
      </DescriptionRow>
      <DescriptionRow name="Next attempt">
        <TimeText at={nextAttemptAt} otherwise="none" />
      </DescriptionRow>
      <DescriptionRow name="Happened">
        <TimeText at={event.occurredAt} />
      </DescriptionRow>
      <DescriptionRow name="Made">
        <TimeText at={createdAt} />
      </DescriptionRow>
      <DescriptionRow name="Finished">
        <TimeText at={finishedAt} otherwise="not yet" />
      </DescriptionRow>
      <DescriptionRow name="About">
        {event.subject.type} <code>{event.subject.id}</code>, version {event.subject.version}
      </DescriptionRow>
      {replayReason === null ? null : (
        <DescriptionRow name="Replayed because">
          {enumLabel(replayReason)}
          {replayNote === null ? "" : `: ${replayNote}`}
        </DescriptionRow>
      )}
      <DescriptionRow name="Body kept until">
        <TimeText at={payloadExpiresAt} isDay />
      </DescriptionRow>
      <DescriptionRow name="Ids">
        <code>{id}</code>
        <br />
        <code>{event.id}</code>
      </DescriptionRow>
    </dl>
  );
}
