/**
 * The table of the request log. The newest requests are loaded again every few seconds, unless the reader
 * pauses the automatic loading.
 */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  getGraphqlConnectionNodes,
  getNextPageCursor,
  listPageSize,
} from "#pages/console/browser/graph/documents.ts";
import {
  type GraphqlQueryState,
  useCursorListPaging,
  useGraphqlQuery,
} from "#pages/console/browser/graph/hooks.ts";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import {
  formatLocalizedCountWithNoun,
  StatusBadge,
  formatMilliseconds,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import {
  type DataTableColumn,
  EmptyListNote,
  QueryResultOrLoadingNote,
  PaginationButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { getApiOperationPath } from "./api-operations.ts";
import {
  type ConsoleApiRequest,
  type ApiRequestLogFilter,
  requestsDocument,
  type ApiRequestListQueryResult,
} from "./request-documents.ts";
import "./requests.css";

export const ApiRequestStatusBadge = ({ status }: { readonly status: number }): JSX.Element => (
  <StatusBadge value={String(status)} tone={status < 400 ? "good" : status < 500 ? "warn" : "fault"} />
);

export const ApiRequestErrorLink = ({
  errorCode,
  docUrl,
}: Pick<ConsoleApiRequest, "errorCode" | "docUrl">): JSX.Element =>
  errorCode === null ? (
    <span class="soft">–</span>
  ) : docUrl === null ? (
    <code>{errorCode}</code>
  ) : (
    <a href={docUrl}>{errorCode}</a>
  );

/** The name of the API key with which the request was sent, or “OAuth” for an OAuth access token. */
export const formatRequestCredential = ({ apiKey }: Pick<ConsoleApiRequest, "apiKey">): string =>
  apiKey === null ? "OAuth access token" : `${apiKey.name} (…${apiKey.lastFour})`;

const columns: DataTableColumn<ConsoleApiRequest>[] = [
  { title: "Status", cell: ({ status }) => <ApiRequestStatusBadge status={status} /> },
  {
    title: "Request",
    cell: ({ id, method, operation }) => (
      <>
        <ConsoleLink to={`/requests/${id}`}>
          <code>{method}</code> {getApiOperationPath(operation) ?? operation}
        </ConsoleLink>
        <br />
        <span class="soft small">{operation}</span>
      </>
    ),
  },
  { title: "Error", cell: (request) => <ApiRequestErrorLink {...request} /> },
  {
    title: "App and key",
    cell: ({ installation, ...request }) => (
      <>
        {installation.app.name}
        <br />
        <span class="soft small">{formatRequestCredential(request)}</span>
      </>
    ),
  },
  { title: "Took", isNumber: true, cell: ({ durationMs }) => formatMilliseconds(durationMs) },
  { title: "Time", cell: ({ at }) => <FormattedTime at={at} /> },
];

interface RequestTableProps {
  readonly filter: ApiRequestLogFilter;
  /** The text that is shown if no request matches the filter. */
  readonly empty: ComponentChildren;
}

export function ApiRequestList({ filter, empty }: RequestTableProps): JSX.Element {
  const key = JSON.stringify(filter);
  const pages = useCursorListPaging(key);
  const [isPaused, setPaused] = useState(false);
  const query = useGraphqlQuery(requestsDocument, { ...filter, first: listPageSize, after: pages.cursor });
  const isNewest = pages.cursor === null;
  const isLive = isNewest && !isPaused && query.failure === undefined;
  usePolling(query, isLive);
  const arrived = useArrived(isNewest ? query.data : undefined, key);
  return (
    <>
      <div class="bar live-bar">
        <LiveText isNewest={isNewest} isPaused={isPaused} isFailing={query.failure !== undefined} />
        <button type="button" class="second" disabled={!isNewest} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Show new requests" : "Pause"}
        </button>
      </div>
      <p class="hidden" role="status">
        {arrived.size === 0 ? "" : `${formatLocalizedCountWithNoun(arrived.size, "new request")}.`}
      </p>
      <QueryResultOrLoadingNote query={query} what="requests">
        {({ apiRequests }) => (
          <>
            {apiRequests.edges.length === 0 ? (
              <EmptyListNote>{empty}</EmptyListNote>
            ) : (
              <DataTable
                caption="Requests, the newest first"
                columns={columns}
                rows={getGraphqlConnectionNodes(apiRequests)}
                keyOf={({ id }) => id}
                isNew={({ id }) => arrived.has(id)}
              />
            )}
            <PaginationButtons pages={pages} what="requests" older={getNextPageCursor(apiRequests)} />
          </>
        )}
      </QueryResultOrLoadingNote>
    </>
  );
}

interface LiveTextProps {
  readonly isNewest: boolean;
  readonly isPaused: boolean;
  readonly isFailing: boolean;
}

function LiveText({ isNewest, isPaused, isFailing }: LiveTextProps): JSX.Element {
  if (!isNewest) return <span class="live ended">Older requests. New ones appear on page 1.</span>;
  if (isPaused) return <span class="live ended">Paused</span>;
  if (isFailing) return <span class="live waiting">Not live</span>;
  return <span class="live">Live: new requests appear within a few seconds</span>;
}

const pollEveryMs = 3_000;

/** Loads the request log again every few seconds, and at once when the window becomes visible again. */
function usePolling({ refresh }: GraphqlQueryState<ApiRequestListQueryResult>, isLive: boolean): void {
  useEffect(() => {
    if (!isLive) return undefined;
    const poll = (): void => {
      if (document.visibilityState === "visible") refresh();
    };
    const timer = setInterval(poll, pollEveryMs);
    document.addEventListener("visibilitychange", poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", poll);
    };
  }, [isLive, refresh]);
}

const nothing: ReadonlySet<string> = new Set();

/**
 * Returns the ids of the requests that have arrived since the log was last loaded. Returns none after the
 * first load, and none after a change of the filter.
 */
function useArrived(data: ApiRequestListQueryResult | undefined, key: string): ReadonlySet<string> {
  const before = useRef<{ readonly key: string; readonly ids: ReadonlySet<string> } | undefined>(undefined);
  const [arrived, setArrived] = useState(nothing);
  useEffect(() => {
    if (data === undefined) return;
    const ids = new Set(getGraphqlConnectionNodes(data.apiRequests).map(({ id }) => id));
    const known = before.current?.key === key ? before.current.ids : ids;
    before.current = { key, ids };
    const newIds = new Set([...ids].filter((id) => !known.has(id)));
    // The highlighting of new requests stays until the next new requests arrive, so that its animation is not
    // cut off.
    if (newIds.size > 0 || known === ids) setArrived(newIds);
  }, [data, key]);
  return arrived;
}
