/**
 * The page of exports. Staff create exports here, see the progress of running exports, and download the files
 * of completed exports. Browsers can continue an interrupted download, because the service supports range
 * requests for the files.
 */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";
import {
  getGraphqlConnectionNodes,
  listPageSize,
  getNextPageCursor,
} from "#pages/console/browser/graph/documents.ts";
import { useCursorListPaging, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { PageHeading } from "#pages/console/browser/navigation.tsx";
import {
  formatEnumValue,
  formatLocalizedCountWithNoun,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import {
  DataTable,
  EmptyListNote,
  PaginationButtons,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import { CancelExportDialog, CreateExportDialog } from "./export-dialogs.tsx";
import { type ConsoleExportJob, exportsDocument } from "./export-documents.ts";
import { formatExportPeriod, formatFileSize } from "./export-period.ts";
import "./exports.css";

/** Milliseconds between two requests for the list of exports while an export is not finished. */
const refreshMs = 2_000;

const isUnfinished = ({ status }: ConsoleExportJob): boolean => status === "QUEUED" || status === "RUNNING";

export function ExportsPage(): JSX.Element {
  const pages = useCursorListPaging();
  const query = useGraphqlQuery(exportsDocument, { after: pages.cursor, first: listPageSize });
  const [isCreating, setCreating] = useState(false);
  const [canceled, setCanceled] = useState<ConsoleExportJob>();
  const jobs = query.data === undefined ? [] : getGraphqlConnectionNodes(query.data.exports);
  const isWaiting = jobs.some(isUnfinished);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(query.refresh, refreshMs);
    return () => clearInterval(timer);
  }, [isWaiting, query.refresh]);
  return (
    <>
      <PageHeading title="Exports">
        <button type="button" onClick={() => setCreating(true)}>
          Create an export
        </button>
      </PageHeading>
      <p class="lead">
        An export writes all rows of a period to one file, each row as a JSON object on a line of its own. A
        file is kept for 24 hours. If a download breaks, resume it in the list of downloads of your browser.
      </p>
      <QueryResultOrLoadingNote query={query} what="exports">
        {({ exports }) =>
          jobs.length === 0 ? (
            <EmptyListNote>There is no export. Create one to download all rows of a period.</EmptyListNote>
          ) : (
            <>
              <DataTable
                caption="Exports, the newest first"
                columns={columnsFor(setCanceled)}
                rows={jobs}
                keyOf={({ id }) => id}
              />
              <PaginationButtons pages={pages} what="exports" older={getNextPageCursor(exports)} />
            </>
          )
        }
      </QueryResultOrLoadingNote>
      {isCreating ? (
        <CreateExportDialog
          onCreated={() => {
            setCreating(false);
            query.reload();
          }}
          onClose={() => setCreating(false)}
        />
      ) : null}
      {canceled === undefined ? null : (
        <CancelExportDialog
          job={canceled}
          onCanceled={() => {
            setCanceled(undefined);
            query.reload();
          }}
          onClose={() => setCanceled(undefined)}
        />
      )}
    </>
  );
}

const columnsFor = (onCancel: (job: ConsoleExportJob) => void): DataTableColumn<ConsoleExportJob>[] => [
  {
    title: "Rows",
    cell: ({ kind, from, to }) => (
      <>
        {formatEnumValue(kind)}
        <br />
        <span class="soft small">{formatExportPeriod(from, to)}</span>
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  { title: "Progress", cell: (job) => <ProgressText job={job} /> },
  { title: "Created", cell: ({ createdAt }) => <FormattedTime at={createdAt} isMinute /> },
  { title: "File", cell: (job) => <FileActions job={job} onCancel={onCancel} /> },
];

const failureTexts = {
  TOO_MANY_ROWS: "The period has more than 1,000,000 rows. Choose a shorter period.",
  READ_FAILED: "The rows could not be read in several attempts. Create the export again later.",
} as const;

function ProgressText({ job }: { readonly job: ConsoleExportJob }): JSX.Element {
  const { status, exportedRows, totalRows, percent, sizeBytes, failure } = job;
  if (failure !== null) return <>{failureTexts[failure]}</>;
  if (status === "CANCELED") return <span class="soft">–</span>;
  const rows = formatLocalizedCountWithNoun(exportedRows, "row");
  if (status === "COMPLETED")
    return (
      <>
        {rows}
        <br />
        <span class="soft small">{formatFileSize(sizeBytes)}</span>
      </>
    );
  return (
    <div class="export-progress">
      <progress
        max={100}
        value={percent}
        aria-label={`Progress of the export of ${formatEnumValue(job.kind)}`}
      />
      <span class="soft small">
        {totalRows === null ? "Waiting to begin" : `${percent} %: ${rows} of ${totalRows.toLocaleString()}`}
      </span>
    </div>
  );
}

interface FileActionsProps {
  readonly job: ConsoleExportJob;
  readonly onCancel: (job: ConsoleExportJob) => void;
}

function FileActions({ job, onCancel }: FileActionsProps): JSX.Element {
  const name = formatEnumValue(job.kind).toLowerCase();
  if (isUnfinished(job))
    return (
      <button
        type="button"
        class="plain"
        onClick={() => onCancel(job)}
        aria-label={`Cancel the export of ${name}`}
      >
        Cancel
      </button>
    );
  if (job.status !== "COMPLETED") return <span class="soft">No file</span>;
  return (
    <div class="export-file">
      <a href={`${basePath}/exports/${job.id}.ndjson`} download aria-label={`Download the file of ${name}`}>
        Download
      </a>
      <button
        type="button"
        class="plain"
        onClick={() => onCancel(job)}
        aria-label={`Delete the file of ${name}`}
      >
        Delete
      </button>
      <span class="soft small">
        Until <FormattedTime at={job.expiresAt} isMinute />
      </span>
    </div>
  );
}
