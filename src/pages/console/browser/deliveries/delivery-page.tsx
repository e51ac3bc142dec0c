/**
 * The page of one webhook delivery: its attempts with their results, and the other deliveries of the same
 * event. The page is updated while it is open.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlSubscription, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  StatusBadge,
  formatMilliseconds,
  LiveSubscriptionStateBadge,
  FormattedTime,
  formatEnumValue,
} from "#pages/console/browser/parts/formats.tsx";
import {
  type DataTableColumn,
  EmptyListNote,
  DescriptionListRow,
  QueryResultOrLoadingNote,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { PageHeading, ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { endpointDocument } from "#pages/console/browser/endpoints/endpoint-documents.ts";
import { DeliveryAttemptDetails } from "./attempt-detail.tsx";
import {
  DeliveryAttemptOutcomeText,
  describeDeliveryStatus,
  NextDeliveryAttemptTime,
} from "./delivery-texts.tsx";
import {
  type ConsoleDeliveryAttempt,
  type ConsoleWebhookDelivery,
  deliveryChangedDocument,
  type ConsoleWebhookDeliveryDetails,
  deliveryDocument,
} from "./delivery-documents.ts";
import { ReplayDeliveryDialog } from "./replay-dialog.tsx";
import { RetryDeliveryBar } from "./retry-bar.tsx";

export function DeliveryPage({ id }: { readonly id: string }): JSX.Element {
  const query = useGraphqlQuery(deliveryDocument, { id });
  const [isReplaying, setReplaying] = useState(false);
  const [replayId, setReplayId] = useState<string>();
  const delivery = query.data?.webhookDelivery;
  const state = useGraphqlSubscription(
    deliveryChangedDocument,
    delivery ? { endpointId: delivery.endpointId } : undefined,
    ({ deliveryChanged }) => {
      if (delivery && (deliveryChanged?.deliveries ?? []).some((changed) => isNews(changed, delivery)))
        query.refresh();
    },
  );
  const replayed = (newId: string): void => {
    setReplayId(newId);
    query.reload();
  };
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
            <LiveSubscriptionStateBadge state={state} />
            {delivery.nextAttemptAt === null ? (
              <button type="button" disabled={!delivery.replayable} onClick={() => setReplaying(true)}>
                Replay
              </button>
            ) : null}
          </>
        ) : undefined}
      </PageHeading>
      <QueryResultOrLoadingNote query={query} what="the delivery">
        {({ webhookDelivery }) =>
          webhookDelivery === null ? (
            <EmptyListNote>
              This delivery does not exist. Deliveries are deleted 30 days after their event.{" "}
              <ConsoleLink to="/endpoints">Open the webhook endpoints</ConsoleLink>
            </EmptyListNote>
          ) : (
            <Parts delivery={webhookDelivery} replayId={replayId} onRetried={query.reload} />
          )
        }
      </QueryResultOrLoadingNote>
      {isReplaying && delivery ? (
        <ReplayDeliveryDialog delivery={delivery} onReplayed={replayed} onClose={() => setReplaying(false)} />
      ) : null}
    </>
  );
}

/**
 * Returns true if a reported delivery makes the shown page outdated. It must belong to the same event and
 * endpoint as the shown delivery, and must have changed since the page was loaded.
 */
function isNews(changed: ConsoleWebhookDelivery, shown: ConsoleWebhookDeliveryDetails): boolean {
  if (changed.event.id !== shown.event.id || changed.endpointId !== shown.endpointId) return false;
  if (changed.id === shown.id)
    return changed.status !== shown.status || changed.attemptCount !== shown.attemptCount;
  return shown.event.deliveries.find(({ id }) => id === changed.id)?.status !== changed.status;
}

const attemptColumns = (
  shown: ConsoleDeliveryAttempt | undefined,
  show: (attempt: ConsoleDeliveryAttempt) => void,
): DataTableColumn<ConsoleDeliveryAttempt>[] => [
  { title: "Attempt", cell: ({ number }) => number },
  { title: "Time", cell: ({ at }) => <FormattedTime at={at} /> },
  { title: "Answer", cell: (attempt) => <DeliveryAttemptOutcomeText attempt={attempt} /> },
  { title: "Took", isNumber: true, cell: ({ durationMs }) => formatMilliseconds(durationMs) },
  {
    title: "Request and response",
    cell: (attempt) => (
      <button
        type="button"
        class="plain"
        aria-pressed={attempt.id === shown?.id}
        aria-label={`Show attempt ${attempt.number}`}
        onClick={() => show(attempt)}
      >
        Show
      </button>
    ),
  },
];

interface PartsProps {
  readonly delivery: ConsoleWebhookDeliveryDetails;
  /** The id of the new delivery after the staff member has sent the shown delivery again; undefined before. */
  readonly replayId: string | undefined;
  readonly onRetried: () => void;
}

function Parts({ delivery, replayId, onRetried }: PartsProps): JSX.Element {
  const endpoint = useGraphqlQuery(endpointDocument, { id: delivery.endpointId });
  const [shownId, setShownId] = useState<string>();
  const { attempts } = delivery;
  // The page shows the details of the last attempt until the reader selects another attempt.
  const shown = attempts.find(({ id }) => id === shownId) ?? attempts.at(-1);
  const others = delivery.event.deliveries
    .filter(({ endpointId }) => endpointId === delivery.endpointId)
    .toReversed();
  const replayed = others.find(({ id }) => id === replayId);
  return (
    <>
      <RetryDeliveryBar
        delivery={delivery}
        endpoint={endpoint.data?.webhookEndpoint ?? null}
        onRetried={onRetried}
      />
      {replayed === undefined ? null : (
        <p role="status">
          <ConsoleLink to={`/deliveries/${replayed.id}`}>The replay</ConsoleLink>:{" "}
          <StatusBadge value={replayed.status} /> {describeDeliveryStatus(replayed.status)}
        </p>
      )}
      <Facts delivery={delivery} />
      <section aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        {attempts.length === 0 ? (
          <EmptyListNote>The delivery has not been attempted yet.</EmptyListNote>
        ) : (
          <DataTable
            caption="Attempts, the first one first"
            columns={attemptColumns(shown, ({ id }) => setShownId(id))}
            rows={attempts}
            keyOf={({ id }) => id}
          />
        )}
        {shown === undefined || endpoint.data === undefined ? null : (
          <DeliveryAttemptDetails
            key={shown.id}
            delivery={delivery}
            attempt={shown}
            url={endpoint.data.webhookEndpoint?.url ?? null}
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

const othersColumns = (
  id: string,
): DataTableColumn<ConsoleWebhookDeliveryDetails["event"]["deliveries"][number]>[] => [
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
  { title: "Made", cell: ({ createdAt }) => <FormattedTime at={createdAt} /> },
];

function Facts({ delivery }: { readonly delivery: ConsoleWebhookDeliveryDetails }): JSX.Element {
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
      <DescriptionListRow name="Status">
        <StatusBadge value={status} />{" "}
        <span class="soft">{attemptCount === 1 ? "1 attempt" : `${attemptCount} attempts`}</span>
      </DescriptionListRow>
      <DescriptionListRow name="Next attempt">
        <NextDeliveryAttemptTime at={nextAttemptAt} otherwise="none" />
      </DescriptionListRow>
      <DescriptionListRow name="Happened">
        <FormattedTime at={event.occurredAt} />
      </DescriptionListRow>
      <DescriptionListRow name="Made">
        <FormattedTime at={createdAt} />
      </DescriptionListRow>
      <DescriptionListRow name="Finished">
        <FormattedTime at={finishedAt} otherwise="not yet" />
      </DescriptionListRow>
      <DescriptionListRow name="About">
        {event.subject.type} <code>{event.subject.id}</code>, version {event.subject.version}
      </DescriptionListRow>
      {replayReason === null ? null : (
        <DescriptionListRow name="Replayed because">
          {formatEnumValue(replayReason)}
          {replayNote === null ? "" : `: ${replayNote}`}
        </DescriptionListRow>
      )}
      <DescriptionListRow name="Body kept until">
        <FormattedTime at={payloadExpiresAt} isDay />
      </DescriptionListRow>
      <DescriptionListRow name="Ids">
        <code>{id}</code>
        <br />
        <code>{event.id}</code>
      </DescriptionListRow>
    </dl>
  );
}
