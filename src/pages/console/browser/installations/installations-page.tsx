/**
 * The page that lists the merchant's installations. Also exports the choice of an installation and the
 * readiness checks, for other pages.
 */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { connectionNodes, nextPageCursor, listPageSize } from "#pages/console/browser/graph/documents.ts";
import { useListPaging, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { StatusBadge, formatCount, TimeText, enumLabel } from "#pages/console/browser/parts/formats.tsx";
import {
  type TableColumn,
  EmptyNote,
  QueryResultView,
  PageButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { ScopeList } from "#pages/console/browser/parts/credentials.tsx";
import { PageHeading, ConsoleLink, replaceLocation } from "#pages/console/browser/navigation.tsx";
import {
  type InstallationName,
  type InstallationWithReadiness,
  type ConsoleInstallationReadiness,
  type ConsoleReadinessCheck,
  readinessDocument,
} from "./installation-documents.ts";

const columns: TableColumn<InstallationWithReadiness>[] = [
  {
    title: "App",
    cell: ({ id, app }) => (
      <>
        <ConsoleLink to={`/installations/${id}`}>{app.name}</ConsoleLink>
        <br />
        <span class="soft">{app.publisher}</span>
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  {
    title: "Readiness",
    cell: ({ readiness: { status, checks } }) => {
      const open = checks.filter((check) => check.status === "FAIL" || check.status === "WARN").length;
      return (
        <>
          <StatusBadge value={status} />{" "}
          {open === 0 ? null : <span class="soft">{formatCount(open, "open check")}</span>}
        </>
      );
    },
  },
  { title: "Scopes", cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
  { title: "Installed", cell: ({ installedAt }) => <TimeText at={installedAt} isDay /> },
];

function InstallationList(): JSX.Element {
  const pages = useListPaging();
  const query = useQuery(readinessDocument, { first: listPageSize, after: pages.cursor });
  return (
    <QueryResultView query={query} what="installations">
      {({ installations }) => (
        <>
          {installations.edges.length === 0 ? (
            <EmptyNote>No app is installed yet.</EmptyNote>
          ) : (
            <DataTable
              caption="Installations"
              columns={columns}
              rows={connectionNodes(installations)}
              keyOf={({ id }) => id}
            />
          )}
          <PageButtons
            pages={pages}
            what="installations"
            older={nextPageCursor(installations)}
            isOldestFirst
          />
        </>
      )}
    </QueryResultView>
  );
}

export function InstallationsPage(): JSX.Element {
  return (
    <>
      <PageHeading title="Installations" />
      <p class="lead">Each installed app has its own keys, endpoints and scopes.</p>
      <InstallationList />
    </>
  );
}

/** The choice of the installation whose keys or endpoints a page shows. */
interface InstallationChoiceProps {
  readonly all: readonly InstallationName[];
  readonly chosen: InstallationName;
  /** The path, below /console, of the page that opens for the chosen installation. */
  readonly path: string;
}

export function InstallationSelect({ all, chosen, path }: InstallationChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div class="pick">
      <label for={id}>Installation</label>
      <select
        id={id}
        value={chosen.id}
        onChange={({ currentTarget }) => replaceLocation(`${path}?installation=${currentTarget.value}`)}
      >
        {all.map((installation) => (
          <option key={installation.id} value={installation.id}>
            {installation.app.name}
            {installation.status === "ACTIVE" ? "" : ` (${installation.status.toLowerCase()})`}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Shows an installation's readiness checks: failed checks first, passed checks in a closed section. */
const isOpen = ({ status }: ConsoleReadinessCheck): boolean => status === "FAIL" || status === "WARN";

export function ReadinessChecks({
  readiness,
}: {
  readonly readiness: ConsoleInstallationReadiness;
}): JSX.Element {
  const open = readiness.checks.filter(isOpen);
  const well = readiness.checks.filter((check) => !isOpen(check));
  const skipped = well.filter(({ status }) => status === "SKIPPED").length;
  return (
    <div class="readiness">
      {open.length === 0 ? (
        <p>All checks passed: no action is needed.</p>
      ) : (
        <ul class="checks">
          {open.map((check) => (
            <Check key={check.code} check={check} />
          ))}
        </ul>
      )}
      <details>
        <summary>
          {formatCount(well.length - skipped, open.length === 0 ? "check" : "more check")} passed
          {skipped === 0 ? "" : `, ${skipped} skipped`}
        </summary>
        <ul class="checks">
          {well.map((check) => (
            <Check key={check.code} check={check} />
          ))}
        </ul>
      </details>
    </div>
  );
}

const labels: Readonly<Record<ConsoleReadinessCheck["status"], string>> = {
  PASS: "Passed",
  WARN: "Look at this",
  FAIL: "To be done",
  SKIPPED: "Skipped",
};

function Check({ check }: { readonly check: ConsoleReadinessCheck }): JSX.Element {
  const { code, status, severity, message, remedy, since } = check;
  // A failed advisory check is shown as a warning, because it does not block the installation.
  const tone = status === "FAIL" && severity === "ADVISORY" ? { tone: "warn" as const } : {};
  return (
    <li>
      <StatusBadge value={status} text={labels[status]} {...tone} />
      <div>
        <strong>{enumLabel(code)}</strong>
        <p>
          {message}
          {since === null ? null : (
            <>
              {" "}
              Since <TimeText at={since} />.
            </>
          )}
        </p>
        {remedy === null ? null : <p class="remedy">{remedy}</p>}
      </div>
    </li>
  );
}
