/**
 * One delivery: each attempt with what it came to, and the other deliveries of the same event, as they
 * happen.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useLive, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { Badge, duration, LiveMark, Time, wordOf } from "#pages/console/browser/parts/formats.tsx";
import { type Column, Empty, Fact, Loaded, Table } from "#pages/console/browser/parts/tables.tsx";
import { Heading, Link } from "#pages/console/browser/navigation.tsx";
import { Outcome } from "./delivery-list.tsx";
import {
  type Attempt,
  type Delivery,
  deliveryChangedDocument,
  type DeliveryDetail,
  deliveryDocument,
} from "./delivery-documents.ts";
import { ReplayDialog } from "./replay-dialog.tsx";

export function DeliveryPage({ id }: { readonly id: string }): JSX.Element {
  const asked = useQuery(deliveryDocument, { id });
  const [isReplaying, setReplaying] = useState(false);
  const delivery = asked.data?.webhookDelivery;
  const state = useLive(
    deliveryChangedDocument,
    delivery ? { endpointId: delivery.endpointId } : undefined,
    ({ deliveryChanged }) => {
      if (delivery && (deliveryChanged?.deliveries ?? []).some((changed) => isNews(changed, delivery)))
        asked.refresh();
    },
  );
  return (
    <>
      <p class="trail">
        <Link to="/endpoints">Webhooks</Link>
        {delivery ? (
          <>
            {" / "}
            <Link to={`/endpoints/${delivery.endpointId}`}>Endpoint</Link>
          </>
        ) : null}
      </p>
      <Heading title={delivery ? delivery.event.type : "Delivery"}>
        {delivery ? (
          <>
            <LiveMark state={state} />
            <button type="button" disabled={!delivery.replayable} onClick={() => setReplaying(true)}>
              Replay
            </button>
          </>
        ) : undefined}
      </Heading>
      <Loaded asked={asked} what="the delivery">
        {({ webhookDelivery }) =>
          webhookDelivery === null ? (
            <Empty>There is no such delivery.</Empty>
          ) : (
            <Parts delivery={webhookDelivery} />
          )
        }
      </Loaded>
      {isReplaying && delivery ? (
        <ReplayDialog delivery={delivery} onReplayed={asked.reload} onClose={() => setReplaying(false)} />
      ) : null}
    </>
  );
}

/** Whether it says something of the same event that is not shown yet. */
function isNews(changed: Delivery, shown: DeliveryDetail): boolean {
  if (changed.event.id !== shown.event.id || changed.endpointId !== shown.endpointId) return false;
  if (changed.id === shown.id)
    return changed.status !== shown.status || changed.attemptCount !== shown.attemptCount;
  return shown.event.deliveries.find(({ id }) => id === changed.id)?.status !== changed.status;
}

const attemptColumns: Column<Attempt>[] = [
  { title: "Attempt", cell: ({ number }) => number },
  { title: "Time", cell: ({ at }) => <Time at={at} /> },
  { title: "Answer", cell: (attempt) => <Outcome attempt={attempt} /> },
  { title: "Took", isNumber: true, cell: ({ durationMs }) => duration(durationMs) },
];

function Parts({ delivery }: { readonly delivery: DeliveryDetail }): JSX.Element {
  const others = delivery.event.deliveries
    .filter(({ endpointId }) => endpointId === delivery.endpointId)
    .toReversed();
  return (
    <>
      <p class="hidden" role="status">
        {wordOf(delivery.status)}
      </p>
      <Facts delivery={delivery} />
      <section aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        {delivery.attempts.length === 0 ? (
          <Empty>It has not been sent yet.</Empty>
        ) : (
          <Table
            caption="Attempts, the first one first"
            columns={attemptColumns}
            rows={delivery.attempts}
            keyOf={({ id }) => id}
          />
        )}
      </section>
      <section aria-labelledby="again">
        <h2 id="again">All deliveries of this event to this endpoint</h2>
        <Table
          caption="Deliveries of the event, the newest first"
          columns={othersColumns(delivery.id)}
          rows={others}
          keyOf={({ id }) => id}
        />
      </section>
    </>
  );
}

const othersColumns = (id: string): Column<DeliveryDetail["event"]["deliveries"][number]>[] => [
  {
    title: "Delivery",
    cell: (other) =>
      other.id === id ? (
        <>
          <code>{other.id}</code> <span class="soft">(this one)</span>
        </>
      ) : (
        <Link to={`/deliveries/${other.id}`}>{other.id}</Link>
      ),
  },
  { title: "Status", cell: ({ status }) => <Badge value={status} /> },
  { title: "Kind", cell: ({ replayOf }) => (replayOf === null ? "First" : "Replay") },
  { title: "Made", cell: ({ createdAt }) => <Time at={createdAt} /> },
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
      <Fact name="Status">
        <Badge value={status} />{" "}
        <span class="soft">{attemptCount === 1 ? "1 attempt" : `${attemptCount} attempts`}</span>
      </Fact>
      <Fact name="Next attempt">
        <Time at={nextAttemptAt} otherwise="none" />
      </Fact>
      <Fact name="Happened">
        <Time at={event.occurredAt} />
      </Fact>
      <Fact name="Made">
        <Time at={createdAt} />
      </Fact>
      <Fact name="Finished">
        <Time at={finishedAt} otherwise="not yet" />
      </Fact>
      <Fact name="About">
        {event.subject.type} <code>{event.subject.id}</code>, version {event.subject.version}
      </Fact>
      {replayReason === null ? null : (
        <Fact name="Replayed because">
          {wordOf(replayReason)}
          {replayNote === null ? "" : `: ${replayNote}`}
        </Fact>
      )}
      <Fact name="Body kept until">
        <Time at={payloadExpiresAt} isDay />
      </Fact>
      <Fact name="Ids">
        <code>{id}</code>
        <br />
        <code>{event.id}</code>
      </Fact>
    </dl>
  );
}
