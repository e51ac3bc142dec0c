/**
 * The page that lists the merchant's app installations. Also exports the field with which other pages let
 * staff choose an installation.
 */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import {
  getGraphqlConnectionNodes,
  getNextPageCursor,
  listPageSize,
} from "#pages/console/browser/graph/documents.ts";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { useCursorListPaging, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  StatusBadge,
  formatLocalizedCountWithNoun,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import {
  type DataTableColumn,
  QueryResultOrLoadingNote,
  PaginationButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { PermissionList } from "#pages/console/browser/parts/credentials.tsx";
import { PageHeading, ConsoleLink, replaceConsoleUrlInHistory } from "#pages/console/browser/navigation.tsx";
import {
  type InstallationSummary,
  type InstallationWithReadiness,
  readinessDocument,
} from "./installation-documents.ts";
import { InstallAppDialog } from "./install-dialog.tsx";

const columns: DataTableColumn<InstallationWithReadiness>[] = [
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
          {open === 0 ? null : <span class="soft">{formatLocalizedCountWithNoun(open, "open check")}</span>}
        </>
      );
    },
  },
  { title: "Permissions", cell: ({ scopes }) => <PermissionList scopes={scopes} isShort /> },
  { title: "Installed", cell: ({ installedAt }) => <FormattedTime at={installedAt} isDay /> },
];

/**
 * The note that the page shows if the merchant has installed no app. It says how apps are installed, and has
 * the button that installs the first app.
 */
const FirstInstallation = ({ onInstall }: { readonly onInstall: () => void }): JSX.Element => (
  <div class="empty">
    <p>
      No app is installed yet. Install one of the platform’s apps here. Other apps are installed when you
      allow them on the page that they open.
    </p>
    <div class="actions">
      <button type="button" class="second" onClick={onInstall}>
        Install the first app
      </button>
      <a href={`${basePath}/docs/guides/oauth`}>How apps ask for access</a>
    </div>
  </div>
);

function InstallationList({ onInstall }: { readonly onInstall: () => void }): JSX.Element {
  const pages = useCursorListPaging();
  const query = useGraphqlQuery(readinessDocument, { first: listPageSize, after: pages.cursor });
  return (
    <QueryResultOrLoadingNote query={query} what="installations">
      {({ installations }) => (
        <>
          {installations.edges.length === 0 ? (
            <FirstInstallation onInstall={onInstall} />
          ) : (
            <DataTable
              caption="Installations"
              columns={columns}
              rows={getGraphqlConnectionNodes(installations)}
              keyOf={({ id }) => id}
            />
          )}
          <PaginationButtons
            pages={pages}
            what="installations"
            older={getNextPageCursor(installations)}
            isOldestFirst
          />
        </>
      )}
    </QueryResultOrLoadingNote>
  );
}

export function InstallationsPage(): JSX.Element {
  const [isInstalling, setInstalling] = useState(false);
  return (
    <>
      <PageHeading title="Installations">
        <button type="button" onClick={() => setInstalling(true)}>
          Install an app
        </button>
      </PageHeading>
      <p class="lead">
        The apps that work with your shop. Each has its own permissions, API keys and webhook endpoints.
      </p>
      <InstallationList onInstall={() => setInstalling(true)} />
      {isInstalling ? <InstallAppDialog onClose={() => setInstalling(false)} /> : null}
    </>
  );
}

/** The field in which staff choose the app installation whose API keys or webhook endpoints the page shows. */
interface InstallationChoiceProps {
  readonly all: readonly InstallationSummary[];
  readonly chosen: InstallationSummary;
  /** The path, below /console, of the page that the field opens when staff choose an installation. */
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
        onChange={({ currentTarget }) =>
          replaceConsoleUrlInHistory(`${path}?installation=${currentTarget.value}`)
        }
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
