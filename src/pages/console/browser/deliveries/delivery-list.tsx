/** The deliveries of an endpoint as a table, which a subscription keeps up to date. */
import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { nodesNewestFirst, olderPageCursor, listPageSize } from "#pages/console/browser/graph/documents.ts";
import {
  type QueryState,
  type LiveState,
  useSubscription,
  useListPaging,
  useQuery,
} from "#pages/console/browser/graph/hooks.ts";
import {
  type TableColumn,
  EmptyNote,
  QueryResultView,
  PageButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import {
  StatusBadge,
  formatMilliseconds,
  deliveryFailureLabel,
  LiveStateMark,
  TimeText,
  enumLabel,
} from "#pages/console/browser/parts/formats.tsx";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import {
  type Attempt,
  deliveriesDocument,
  type Delivery,
  deliveryChangedDocument,
  type DeliveriesResult,
  type ConsoleDeliveryStatus,
  deliveryStatuses,
} from "./delivery-documents.ts";
import {
  mergeDeliveries,
  changedDeliveries,
  type ShownDeliveries,
  type LiveDeliveries,
  liveDeliveriesSince,
  addLiveDeliveries,
} from "./merge-deliveries.ts";
import { ReplayDialog } from "./replay-dialog.tsx";

interface DeliveryListProps {
  readonly endpointId: string;
  /** Called when a delivery succeeded or failed, because the endpoint's health may have changed. */
  readonly onDelivered: () => void;
}

export function DeliveryList({ endpointId, onDelivered }: DeliveryListProps): JSX.Element {
  const [status, setStatus] = useState<ConsoleDeliveryStatus | null>(null);
  const [replaying, setReplaying] = useState<Delivery>();
  const pages = useListPaging(`${endpointId} ${status}`);
  const asked = useQuery(deliveriesDocument, {
    endpointId,
    status,
    last: listPageSize,
    before: pages.cursor,
  });
  const { live, said, fresh, state } = useDeliveriesLive({
    endpointId,
    status,
    isNewest: pages.cursor === null,
    asked,
    onDelivered,
  });
  return (
    <section aria-labelledby="deliveries">
      <div class="bar">
        <h2 id="deliveries">
          Deliveries <LiveStateMark state={state} />
        </h2>
        <StatusFilter status={status} onChange={setStatus} />
      </div>
      <p class="hidden" role="status">
        {said}
      </p>
      <QueryResultView asked={live} what="deliveries">
        {({ webhookDeliveries }) => (
          <>
            {webhookDeliveries.edges.length === 0 ? (
              <EmptyNote>
                {status === null
                  ? "Nothing has been sent yet."
                  : `No delivery is in this status: ${enumLabel(status)}.`}
              </EmptyNote>
            ) : (
              <DataTable
                caption="Deliveries, the newest first"
                columns={deliveryColumns(setReplaying)}
                rows={nodesNewestFirst(webhookDeliveries)}
                keyOf={({ id }) => id}
                isNew={({ id }) => fresh.has(id)}
              />
            )}
            <PageButtons pages={pages} what="deliveries" older={olderPageCursor(webhookDeliveries)} />
          </>
        )}
      </QueryResultView>
      {replaying === undefined ? null : (
        <ReplayDialog
          delivery={replaying}
          onReplayed={() => undefined}
          onClose={() => setReplaying(undefined)}
        />
      )}
    </section>
  );
}

interface Followed extends DeliveryListProps, ShownDeliveries {
  readonly asked: QueryState<DeliveriesResult>;
}

interface Live {
  /** The deliveries to show: the loaded page, merged with changes received since. */
  readonly live: QueryState<DeliveriesResult>;
  readonly said: string;
  readonly fresh: ReadonlySet<string>;
  readonly state: LiveState;
}

const ends: ReadonlySet<ConsoleDeliveryStatus> = new Set(["SUCCEEDED", "EXHAUSTED", "RETRYING"]);
const settleMs = 300;

function useDeliveriesLive({ endpointId, onDelivered, asked, ...shown }: Followed): Live {
  // Two events may arrive before the next render.
  const held = useRef<LiveDeliveries>(new Map());
  const [told, setTold] = useState(held.current);
  const whenAsked = useRef<LiveDeliveries | undefined>(undefined);
  const [said, say] = useState("");
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const wasLive = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (asked.data === undefined || whenAsked.current === undefined) return;
    held.current = liveDeliveriesSince(held.current, whenAsked.current);
    whenAsked.current = undefined;
    setTold(held.current);
  }, [asked.data]);
  const state = useSubscription(deliveryChangedDocument, { endpointId }, ({ deliveryChanged }, isFirst) => {
    if (deliveryChanged === null) return;
    // The event does not contain all changes, so the list is loaded again.
    if (isFirst ? wasLive.current : deliveryChanged.readAnew) {
      whenAsked.current = held.current;
      asked.refresh();
    }
    wasLive.current = true;
    const before = held.current;
    held.current = addLiveDeliveries(before, deliveryChanged.deliveries);
    setTold(held.current);
    if (asked.data === undefined) return;
    const news = changedDeliveries(
      mergeDeliveries(asked.data, before, shown),
      mergeDeliveries(asked.data, held.current, shown),
    );
    if (news.length === 0) return;
    setFresh((others) => new Set([...others, ...news.map(({ id }) => id)]));
    say(sentenceOf(news));
    if (!news.some((delivery) => ends.has(delivery.status))) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(onDelivered, settleMs);
  });
  const data = asked.data === undefined ? undefined : mergeDeliveries(asked.data, told, shown);
  return { live: { ...asked, data }, said, fresh, state };
}

function sentenceOf(news: readonly Delivery[]): string {
  const [first] = news;
  if (news.length === 1 && first !== undefined) return `${first.event.type}: ${enumLabel(first.status)}.`;
  return `${news.length} deliveries have changed.`;
}

interface StatusFilterProps {
  readonly status: ConsoleDeliveryStatus | null;
  readonly onChange: (status: ConsoleDeliveryStatus | null) => void;
}

function StatusFilter({ status, onChange }: StatusFilterProps): JSX.Element {
  const id = useId();
  return (
    <div class="pick">
      <label for={id}>Status</label>
      <select
        id={id}
        value={status ?? ""}
        onChange={({ currentTarget }) =>
          onChange(deliveryStatuses.find((value) => value === currentTarget.value) ?? null)
        }
      >
        <option value="">All</option>
        {deliveryStatuses.map((value) => (
          <option key={value} value={value}>
            {enumLabel(value)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Columns of the deliveries table. */
const deliveryColumns = (replay: (delivery: Delivery) => void): TableColumn<Delivery>[] => [
  {
    title: "Event",
    cell: ({ id, event, replayOf }) => (
      <>
        <ConsoleLink to={`/deliveries/${id}`}>{event.type}</ConsoleLink>{" "}
        {replayOf === null ? null : <StatusBadge value="REPLAY" />}
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  { title: "Made", cell: ({ createdAt }) => <TimeText at={createdAt} /> },
  { title: "Attempts", isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { title: "Last answer", cell: ({ lastAttempt }) => <AttemptOutcomeText attempt={lastAttempt} /> },
  {
    title: "Took",
    isNumber: true,
    cell: ({ lastAttempt }) => (lastAttempt === null ? "–" : formatMilliseconds(lastAttempt.durationMs)),
  },
  { title: "Next attempt", cell: ({ nextAttemptAt }) => <TimeText at={nextAttemptAt} /> },
  {
    title: "Actions",
    cell: (delivery) =>
      delivery.replayable ? (
        <button
          type="button"
          class="plain"
          aria-label={`Replay ${delivery.event.type}`}
          onClick={() => replay(delivery)}
        >
          Replay
        </button>
      ) : (
        <span class="soft">–</span>
      ),
  },
];

/** Shows the result of an attempt. */
export function AttemptOutcomeText({ attempt }: { readonly attempt: Attempt | null }): JSX.Element {
  if (attempt === null) return <span class="soft">–</span>;
  const { errorCode, httpStatus } = attempt;
  if (errorCode === null) return <>Answered {httpStatus}</>;
  return <span class="fault">{deliveryFailureLabel(errorCode, httpStatus)}</span>;
}
