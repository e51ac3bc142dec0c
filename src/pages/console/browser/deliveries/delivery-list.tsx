/** The table of a webhook endpoint's deliveries. A GraphQL subscription keeps the table up to date. */
import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import {
  getGraphqlConnectionNodesNewestFirst,
  getOlderPageCursor,
  listPageSize,
} from "#pages/console/browser/graph/documents.ts";
import {
  type GraphqlQueryState,
  type LiveSubscriptionConnectionState,
  useGraphqlSubscription,
  useCursorListPaging,
  useGraphqlQuery,
} from "#pages/console/browser/graph/hooks.ts";
import {
  type DataTableColumn,
  EmptyListNote,
  QueryResultOrLoadingNote,
  PaginationButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import {
  StatusBadge,
  formatMilliseconds,
  LiveSubscriptionStateBadge,
  FormattedTime,
  formatEnumValue,
} from "#pages/console/browser/parts/formats.tsx";
import { ConsoleLink, replaceConsoleUrlInHistory } from "#pages/console/browser/navigation.tsx";
import type { ConsoleWebhookEndpoint } from "#pages/console/browser/endpoints/endpoint-documents.ts";
import {
  deliveriesDocument,
  type ConsoleWebhookDelivery,
  deliveryChangedDocument,
  type DeliveryListQueryResult,
  type ConsoleDeliveryStatus,
  deliveryStatuses,
} from "./delivery-documents.ts";
import {
  mergeLoadedAndLiveDeliveries,
  findNewOrChangedListedDeliveries,
  type DeliveryListFilterAndPosition,
  type LiveWebhookDeliveriesById,
  getDeliveriesReportedSinceQuery,
  addReportedDeliveriesToLiveList,
} from "./merge-deliveries.ts";
import { BulkReplayDialog } from "./bulk-replay-dialog.tsx";
import { FirstTestDeliveryPanel } from "./first-delivery.tsx";
import { DeliveryAttemptOutcomeText, NextDeliveryAttemptTime } from "./delivery-texts.tsx";
import { ReplayDeliveryDialog } from "./replay-dialog.tsx";

interface DeliveryListProps {
  readonly endpointId: string;
  /** The webhook endpoint; undefined if it was deleted or has not been loaded yet. */
  readonly endpoint: ConsoleWebhookEndpoint | undefined;
  /**
   * The delivery status by which the list is filtered: in lower case, as in the page's URL; null if all
   * deliveries are shown.
   */
  readonly status: string | null;
  /**
   * The callback for a delivery that has succeeded or failed. The caller then loads the endpoint again,
   * because its health may have changed.
   */
  readonly onDelivered: () => void;
}

function setStatusInUrl(endpointId: string, status: ConsoleDeliveryStatus | null): void {
  const search = status === null ? "" : `?status=${status.toLowerCase()}`;
  replaceConsoleUrlInHistory(`/endpoints/${endpointId}${search}`);
}

interface NoDeliveriesNoteProps extends Pick<DeliveryListProps, "endpoint"> {
  /** The status by which the list is filtered; null if all deliveries are shown. */
  readonly status: ConsoleDeliveryStatus | null;
}

const NoDeliveriesNote = ({ endpoint, status }: NoDeliveriesNoteProps): JSX.Element =>
  status === null ? (
    <FirstTestDeliveryPanel endpoint={endpoint} />
  ) : (
    <EmptyListNote>No delivery has the status “{formatEnumValue(status)}”.</EmptyListNote>
  );

export function DeliveryList({
  endpointId,
  endpoint,
  status: statusText,
  onDelivered,
}: DeliveryListProps): JSX.Element {
  const status = deliveryStatuses.find((value) => value.toLowerCase() === statusText) ?? null;
  const [replaying, setReplaying] = useState<ConsoleWebhookDelivery>();
  const pages = useCursorListPaging(`${endpointId} ${status}`);
  const query = useGraphqlQuery(deliveriesDocument, {
    endpointId,
    status,
    last: listPageSize,
    before: pages.cursor,
  });
  const { live, announcement, changedIds, state } = useDeliveriesLive({
    endpointId,
    status,
    isNewest: pages.cursor === null,
    query,
    onDelivered,
  });
  return (
    <section aria-labelledby="deliveries">
      <div class="bar">
        <h2 id="deliveries">
          Deliveries <LiveSubscriptionStateBadge state={state} />
        </h2>
        <div class="actions">
          <StatusFilter status={status} onChange={(value) => setStatusInUrl(endpointId, value)} />
          {endpoint === undefined ? null : <BulkReplayButton endpoint={endpoint} />}
        </div>
      </div>
      <p class="hidden" role="status">
        {announcement}
      </p>
      <QueryResultOrLoadingNote query={live} what="deliveries">
        {({ webhookDeliveries }) => (
          <>
            {webhookDeliveries.edges.length === 0 ? (
              <NoDeliveriesNote endpoint={endpoint} status={status} />
            ) : (
              <DataTable
                caption="Deliveries, the newest first"
                columns={deliveryColumns(setReplaying)}
                rows={getGraphqlConnectionNodesNewestFirst(webhookDeliveries)}
                keyOf={({ id }) => id}
                isNew={({ id }) => changedIds.has(id)}
              />
            )}
            <PaginationButtons
              pages={pages}
              what="deliveries"
              older={getOlderPageCursor(webhookDeliveries)}
            />
          </>
        )}
      </QueryResultOrLoadingNote>
      {replaying === undefined ? null : (
        <ReplayDeliveryDialog
          delivery={replaying}
          onReplayed={() => undefined}
          onClose={() => setReplaying(undefined)}
        />
      )}
    </section>
  );
}

function BulkReplayButton({ endpoint }: { readonly endpoint: ConsoleWebhookEndpoint }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="second" onClick={() => setOpen(true)}>
        Replay several
      </button>
      {isOpen ? <BulkReplayDialog endpoints={[endpoint]} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

interface LiveDeliveriesProps
  extends Pick<DeliveryListProps, "endpointId" | "onDelivered">, DeliveryListFilterAndPosition {
  readonly query: GraphqlQueryState<DeliveryListQueryResult>;
}

interface LiveDeliveriesView {
  /**
   * The deliveries of the table: the loaded part of the list, merged with the later changes from the
   * subscription.
   */
  readonly live: GraphqlQueryState<DeliveryListQueryResult>;
  readonly announcement: string;
  readonly changedIds: ReadonlySet<string>;
  readonly state: LiveSubscriptionConnectionState;
}

const notifiedStatuses: ReadonlySet<ConsoleDeliveryStatus> = new Set(["SUCCEEDED", "EXHAUSTED", "RETRYING"]);
const settleMs = 300;

function useDeliveriesLive({
  endpointId,
  onDelivered,
  query,
  ...shown
}: LiveDeliveriesProps): LiveDeliveriesView {
  // The deliveries from the subscription. They are in a ref and not in the component's state. A second
  // message may arrive before the next rendering, and must be added to the first.
  const reported = useRef<LiveWebhookDeliveriesById>(new Map());
  const [shownReported, setShownReported] = useState(reported.current);
  const reportedBeforeQuery = useRef<LiveWebhookDeliveriesById | undefined>(undefined);
  const [announcement, announce] = useState("");
  const [changedIds, setChangedIds] = useState<ReadonlySet<string>>(new Set());
  const wasLive = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (query.data === undefined || reportedBeforeQuery.current === undefined) return;
    reported.current = getDeliveriesReportedSinceQuery(reported.current, reportedBeforeQuery.current);
    reportedBeforeQuery.current = undefined;
    setShownReported(reported.current);
  }, [query.data]);
  const state = useGraphqlSubscription(
    deliveryChangedDocument,
    { endpointId },
    ({ deliveryChanged }, isFirst) => {
      if (deliveryChanged === null) return;
      // Loads the list again if it may lack changes: after the subscription has connected again, or after a
      // message that does not contain all changes.
      if (isFirst ? wasLive.current : deliveryChanged.readAnew) {
        reportedBeforeQuery.current = reported.current;
        query.refresh();
      }
      wasLive.current = true;
      const before = reported.current;
      reported.current = addReportedDeliveriesToLiveList(before, deliveryChanged.deliveries);
      setShownReported(reported.current);
      if (query.data === undefined) return;
      const changed = findNewOrChangedListedDeliveries(
        mergeLoadedAndLiveDeliveries(query.data, before, shown),
        mergeLoadedAndLiveDeliveries(query.data, reported.current, shown),
      );
      if (changed.length === 0) return;
      setChangedIds((others) => new Set([...others, ...changed.map(({ id }) => id)]));
      announce(announcementOf(changed));
      if (!changed.some((delivery) => notifiedStatuses.has(delivery.status))) return;
      clearTimeout(timer.current);
      timer.current = setTimeout(onDelivered, settleMs);
    },
  );
  const data =
    query.data === undefined ? undefined : mergeLoadedAndLiveDeliveries(query.data, shownReported, shown);
  return { live: { ...query, data }, announcement, changedIds, state };
}

function announcementOf(changed: readonly ConsoleWebhookDelivery[]): string {
  const [first] = changed;
  if (changed.length === 1 && first !== undefined)
    return `${first.event.type}: ${formatEnumValue(first.status)}.`;
  return `${changed.length} deliveries have changed.`;
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
            {formatEnumValue(value)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Returns the columns of the table of webhook deliveries. */
const deliveryColumns = (
  replay: (delivery: ConsoleWebhookDelivery) => void,
): DataTableColumn<ConsoleWebhookDelivery>[] => [
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
  { title: "Made", cell: ({ createdAt }) => <FormattedTime at={createdAt} /> },
  { title: "Attempts", isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { title: "Last answer", cell: ({ lastAttempt }) => <DeliveryAttemptOutcomeText attempt={lastAttempt} /> },
  {
    title: "Took",
    isNumber: true,
    cell: ({ lastAttempt }) => (lastAttempt === null ? "–" : formatMilliseconds(lastAttempt.durationMs)),
  },
  { title: "Next attempt", cell: ({ nextAttemptAt }) => <NextDeliveryAttemptTime at={nextAttemptAt} /> },
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
