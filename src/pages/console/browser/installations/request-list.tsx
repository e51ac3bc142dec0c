/** The recent requests of an installation, with their errors. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { connectionNodes, nextPageCursor, listPageSize } from "#pages/console/browser/graph/documents.ts";
import { useListPaging, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { StatusBadge, formatMilliseconds, TimeText } from "#pages/console/browser/parts/formats.tsx";
import {
  type TableColumn,
  EmptyNote,
  QueryResultView,
  PageButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { type ApiRequest, requestsDocument } from "./installation-documents.ts";

const columns: TableColumn<ApiRequest>[] = [
  { title: "Time", cell: ({ at }) => <TimeText at={at} /> },
  {
    title: "Operation",
    cell: ({ method, operation }) => (
      <>
        <code>{method}</code> {operation ?? <span class="soft">unknown</span>}
      </>
    ),
  },
  {
    title: "Status",
    cell: ({ status }) => (
      <StatusBadge value={String(status)} tone={status < 400 ? "good" : status < 500 ? "warn" : "fault"} />
    ),
  },
  {
    title: "Error",
    cell: ({ errorCode, docUrl }) =>
      errorCode === null ? (
        <span class="soft">–</span>
      ) : docUrl === null ? (
        <code>{errorCode}</code>
      ) : (
        <a href={docUrl}>{errorCode}</a>
      ),
  },
  { title: "Took", isNumber: true, cell: ({ durationMs }) => formatMilliseconds(durationMs) },
  { title: "Request id", cell: ({ requestId }) => <code>{requestId}</code> },
];

export function RequestList({ installationId }: { readonly installationId: string }): JSX.Element {
  const [onlyFailed, setOnlyFailed] = useState(false);
  const pages = useListPaging(String(onlyFailed));
  const query = useQuery(requestsDocument, {
    installationId,
    first: listPageSize,
    after: pages.cursor,
    onlyFailed,
  });
  const id = useId();
  return (
    <>
      <div class="bar">
        <div class="choice">
          <input
            type="checkbox"
            id={id}
            checked={onlyFailed}
            onChange={({ currentTarget }) => setOnlyFailed(currentTarget.checked)}
          />
          <label for={id}>Only failed requests</label>
        </div>
        <button type="button" class="second" onClick={query.reload}>
          Refresh
        </button>
      </div>
      <QueryResultView query={query} what="requests">
        {({ installation }) =>
          installation === null || installation.recentRequests.edges.length === 0 ? (
            <EmptyNote>
              {onlyFailed ? "No request has failed of late." : "No request was sent of late."}
            </EmptyNote>
          ) : (
            <>
              <DataTable
                caption="Recent requests, the newest first"
                columns={columns}
                rows={connectionNodes(installation.recentRequests)}
                keyOf={({ requestId }) => requestId}
              />
              <PageButtons
                pages={pages}
                what="requests"
                older={nextPageCursor(installation.recentRequests)}
              />
            </>
          )
        }
      </QueryResultView>
    </>
  );
}
